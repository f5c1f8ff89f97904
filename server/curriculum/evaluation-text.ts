/** How rounds of evaluation are written in a run's state: see state-text.ts. */
import { decodeResults, encodeResults } from "./codec.ts";
import { blankTask, withSamples } from "./evaluation-rounds.ts";
import { FormatError, type Json, readList, readNumber } from "./json.ts";
import { recordedOf } from "./samples.ts";
import type { EvaluatedTask, EvaluationRound } from "./state.ts";
import type { RunConfig } from "./types.ts";

/** `perLine`: tasks of a line at most. */
export function* roundLines(round: EvaluationRound, perLine: number): Generator<readonly Json[]> {
  const tasks = round.tasks.flatMap((task, ordinal) =>
    task === null ? [] : [[ordinal, ...encodeResults(recordedOf(task))]],
  );
  const { arm, seq, epoch, openedAtMs, cursor } = round;
  yield ["evaluation", arm, round.round, seq, epoch, openedAtMs, cursor, tasks.length];
  for (let from = 0; from < tasks.length; from += perLine) yield ["evaluated", ...tasks.slice(from, from + perLine)];
}

/** A round as it is being read. */
export interface ReadingRound {
  readonly round: Omit<EvaluationRound, "missing">;
  readonly tasks: (EvaluatedTask | null)[];
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
  const tasks = new Array<EvaluatedTask | null>(of.tasks).fill(null);
  const times = { seq: readNumber(seq), epoch: readNumber(epoch), openedAtMs: readNumber(openedAtMs) };
  return {
    round: { arm: index, round: readNumber(round), ...times, cursor: readNumber(cursor), tasks },
    ...{ tasks, numGenerations, left: readNumber(left), missing: of.tasks * numGenerations },
  };
}

export function takeTask(reading: ReadingRound, json: Json): void {
  const [ordinal, ...samples] = readList(json);
  const cursor = readNumber(ordinal);
  if (reading.tasks[cursor] === undefined) throw new FormatError(`the set of an evaluation arm has no task ${cursor}`);
  const results = { cursor, ...decodeResults(samples) };
  reading.tasks[cursor] = withSamples(blankTask(reading.numGenerations), results);
  reading.missing -= results.indices.length;
  reading.left--;
}

export function roundOf({ round, missing }: ReadingRound): EvaluationRound {
  return { ...round, missing };
}
