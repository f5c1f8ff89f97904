/** A run's history as charts want it: in a few hundred steps however long it is, and only what changed asked for again. */
import { CurriculumService } from "../../../clients/ts/src/gen/gradus/v1/curriculum_pb.js";
import type { HistoryRecord } from "../../../clients/ts/src/public.ts";
import type { Gradus } from "../session.ts";

/** As many steps as can be told apart. A run that has grown to twice as many is read in longer ones. */
export const STEPS = 200;

export interface History {
  readonly records: readonly HistoryRecord[];
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
  /** Whether what update batches have by arm is left out: of many arms that is most of it. */
  readonly withoutArms?: boolean;
}

/** The whole of it, or what changed since `before`. */
export async function readHistory(gradus: Gradus, before: History | undefined, reading: Reading): Promise<History> {
  const { runId, steps, batchesDrawn, signal, withoutArms = false } = reading;
  const wanted = Math.max(1, Math.ceil(batchesDrawn / steps));
  const goesOn = before !== undefined && before.resumeToken !== "" && wanted < 2 * before.merged + 1;
  const merged = goesOn ? before.merged : wanted;
  const kept = goesOn ? before.records.slice(0, before.records.length - before.resumeRecords) : [];
  const records = [...kept];
  let pageToken = goesOn ? before.resumeToken : "";
  for (;;) {
    const page = await gradus.unary(
      CurriculumService.method.getHistory,
      { runId, pageToken, mergeBatches: merged, withoutArms },
      { signal },
    );
    records.push(...page.records);
    if (page.nextPageToken === "")
      return { records, merged, resumeToken: page.resumeToken, resumeRecords: page.resumeRecords };
    pageToken = page.nextPageToken;
  }
}
