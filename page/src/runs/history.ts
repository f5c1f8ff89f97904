/** Reads a run's history for charts, in at most a few hundred steps. Reads only the changed part again. */
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { HistoryRecord, RunState } from "../../../clients/ts/src/public.ts";
import type { Gradus } from "../connection.ts";
import { groupsOf, type Line } from "./lines.ts";

/** Number of steps that a chart can show. Longer histories are read in steps of several update batches. */
export const STEPS = 200;

export interface History {
  readonly records: readonly HistoryRecord[];
  /**
   * Lines of the charts. The per-arm numbers in records of update batches have this order. Numbers of arms without a
   * line follow.
   */
  readonly lines: readonly Line[];
  /** Number of update batches that are merged into one step. */
  readonly merged: number;
  /**
   * Random name of the run since its creation or last import. An import changes the name. Records that were read under
   * another name are invalid.
   */
  readonly incarnation: string;
  /**
   * Number of records, from the first on, that will not change any more. A request with `resumeToken` returns the
   * records after them.
   */
  readonly settled: number;
  readonly resumeToken: string;
}

interface Reading {
  readonly runId: string;
  /**
   * Newest state of the run. It decides how many update batches are merged into a step, and whether an earlier history
   * can be continued.
   */
  readonly state: Pick<RunState, "batchesDrawn" | "incarnation">;
  readonly steps: number;
  readonly signal: AbortSignal;
  /**
   * Lines into which the numbers of arms are merged. If left out, update batches are read without numbers by arm, which
   * are most of the data of a run with many arms.
   */
  readonly byLine?: { readonly lines: readonly Line[]; readonly armCount: number };
}

const none: readonly Line[] = [];

/** Reads the whole history, or the part that changed since `before`. */
export async function readHistory(gradus: Gradus, before: History | undefined, reading: Reading): Promise<History> {
  const { runId, steps, signal, byLine } = reading;
  const { batchesDrawn, incarnation } = reading.state;
  const lines = byLine?.lines ?? none;
  const armGroups = byLine === undefined ? [] : [...groupsOf(byLine.lines, byLine.armCount)];
  const wanted = Math.max(1, Math.ceil(Number(batchesDrawn) / steps));
  const goesOn = before?.lines === lines && before.incarnation === incarnation && wanted < 2 * before.merged + 1;
  const merged = goesOn ? before.merged : wanted;
  const records = goesOn ? before.records.slice(0, before.settled) : [];
  let pageToken = goesOn ? before.resumeToken : "";
  let resume: Pick<History, "settled" | "resumeToken"> | undefined;
  for (;;) {
    const page = await gradus.unary(
      CurriculumService.method.getHistory,
      { runId, pageToken, mergeBatches: merged, armGroups, withoutArms: byLine === undefined },
      { signal },
    );
    records.push(...page.records);
    const { resumeToken, resumeRecords, nextPageToken } = page;
    // Continue from the first page with a record that may still change. The server sends that record and all later ones
    // again.
    if (resumeRecords > 0 || nextPageToken === "") resume ??= { settled: records.length - resumeRecords, resumeToken };
    if (resume !== undefined && nextPageToken === "") return { records, lines, merged, incarnation, ...resume };
    pageToken = nextPageToken;
  }
}
