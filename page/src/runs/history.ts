/** A run's history as charts want it: in a few hundred steps however long it is, and only what changed asked for again. */
import { CurriculumService } from "../../../clients/ts/src/gen/gradus/v1/curriculum_pb.js";
import type { HistoryRecord } from "../../../clients/ts/src/public.ts";
import type { Gradus } from "../session.ts";
import { groupsOf, type Line } from "./lines.ts";

/** As many steps as can be told apart. A run that has grown to twice as many is read in longer ones. */
export const STEPS = 200;

export interface History {
  readonly records: readonly HistoryRecord[];
  /** In whose order update batches have their numbers by arm, and behind them those of all other arms. */
  readonly lines: readonly Line[];
  /** Update batches in a step. */
  readonly merged: number;
  readonly resumeToken: string;
  readonly resumeRecords: number;
}

interface Reading {
  readonly runId: string;
  readonly steps: number;
  readonly batchesDrawn: number;
  readonly signal: AbortSignal;
  /** Lines that arms are joined to; left out: update batches have nothing by arm, which of many arms is most of it. */
  readonly byLine?: { readonly lines: readonly Line[]; readonly armCount: number };
}

const none: readonly Line[] = [];

/** The whole of it, or what changed since `before`. */
export async function readHistory(gradus: Gradus, before: History | undefined, reading: Reading): Promise<History> {
  const { runId, steps, batchesDrawn, signal, byLine } = reading;
  const lines = byLine?.lines ?? none;
  const armGroups = byLine === undefined ? [] : [...groupsOf(byLine.lines, byLine.armCount)];
  const wanted = Math.max(1, Math.ceil(batchesDrawn / steps));
  const goesOn =
    before !== undefined && before.lines === lines && before.resumeToken !== "" && wanted < 2 * before.merged + 1;
  const merged = goesOn ? before.merged : wanted;
  const kept = goesOn ? before.records.slice(0, before.records.length - before.resumeRecords) : [];
  const records = [...kept];
  let pageToken = goesOn ? before.resumeToken : "";
  for (;;) {
    const page = await gradus.unary(
      CurriculumService.method.getHistory,
      { runId, pageToken, mergeBatches: merged, armGroups, withoutArms: byLine === undefined },
      { signal },
    );
    records.push(...page.records);
    if (page.nextPageToken === "")
      return { records, lines, merged, resumeToken: page.resumeToken, resumeRecords: page.resumeRecords };
    pageToken = page.nextPageToken;
  }
}
