/** How rounds of evaluation are written in a run's state: see state-text.ts. */
import { decodeResults, encodeResults } from "./codec.ts";
import { pagesOf } from "./evaluation-rounds.ts";
import { FormatError, type Json, readList, readNumber } from "./json.ts";
import { blankSamples, recordedOf, withSamples } from "./samples.ts";
import type { EvaluatedTask, EvaluationRound } from "./state.ts";
import type { RunConfig } from "./types.ts";

/** `perLine`: tasks of a line at most. A line is made when it is asked for, so that others have their turn. */
export function* roundLines(round: EvaluationRound, perLine: number): Generator<readonly Json[]> {
  const { arm, seq, epoch, openedAtMs, cursor, pages } = round;
  const count = pages.reduce((sum, page) => sum + page.filter((task) => task !== null).length, 0);
  yield ["evaluation", arm, round.round, seq, epoch, openedAtMs, cursor, count];
  let line: Json[] = [];
  for (const [ordinal, task] of pages.flat().entries()) {
    if (task === null) continue;
    line.push([ordinal, ...encodeResults(recordedOf(task))]);
    if (line.length < perLine) continue;
    yield ["evaluated", ...line];
    line = [];
  }
  if (line.length > 0) yield ["evaluated", ...line];
}

/** A round as it is being read. */
export interface ReadingRound {
  readonly round: Omit<EvaluationRound, "pages" | "missing">;
  readonly tasks: Map<number, EvaluatedTask>;
  readonly numGenerations: number;
  /** Tasks with samples that are still to come. */
  left: number;
  missing: number;
}

export function decodeRound(json: readonly Json[], { evaluationArms }: RunConfig): ReadingRound {
  const [, arm, round, seq, epoch, openedAtMs, cursor, left] = json;
  const index = readNumber(arm);
  const of = evaluationArms[index];
  if (of === undefined)
    throw new FormatError(`a round is of evaluation arm ${index}, and the run has ${evaluationArms.length}`);
  const { numGenerations } = of;
  const times = { seq: readNumber(seq), epoch: readNumber(epoch), openedAtMs: readNumber(openedAtMs) };
  return {
    round: { arm: index, round: readNumber(round), ...times, cursor: readNumber(cursor), size: of.tasks },
    tasks: new Map(),
    numGenerations,
    left: readNumber(left),
    missing: of.tasks * numGenerations,
  };
}

export function takeTask(reading: ReadingRound, json: Json): void {
  const [ordinal, ...samples] = readList(json);
  const cursor = readNumber(ordinal);
  if (!(cursor < reading.round.size)) throw new FormatError(`the set of an evaluation arm has no task ${cursor}`);
  const results = { cursor, ...decodeResults(samples) };
  reading.tasks.set(cursor, withSamples(blankSamples(reading.numGenerations), results));
  reading.missing -= results.indices.length;
  reading.left--;
}

export function roundOf({ round, tasks, missing }: ReadingRound): EvaluationRound {
  return { ...round, pages: pagesOf(round.size, tasks), missing };
}
