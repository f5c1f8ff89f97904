/** A run's history as charts want it: in a few hundred steps however long it is, and only what changed asked for again. */
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { HistoryRecord, RunState } from "../../../clients/ts/src/public.ts";
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
  /** Whose it is, and as of which import: another undoes what was settled. */
  readonly incarnation: string;
  /** Records that stay as they are, from the first on, and where to read on behind them. */
  readonly settled: number;
  readonly resumeToken: string;
}

interface Reading {
  readonly runId: string;
  /** The run's, as far as it is known. */
  readonly state: Pick<RunState, "batchesDrawn" | "incarnation">;
  readonly steps: number;
  readonly signal: AbortSignal;
  /** Lines that arms are joined to; left out: update batches have nothing by arm, which of many arms is most of it. */
  readonly byLine?: { readonly lines: readonly Line[]; readonly armCount: number };
}

const none: readonly Line[] = [];

/** The whole of it, or what changed since `before`. */
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
    // The first page that has an unsettled record: all behind that one is given again with it.
    if (resumeRecords > 0 || nextPageToken === "") resume ??= { settled: records.length - resumeRecords, resumeToken };
    if (resume !== undefined && nextPageToken === "") return { records, lines, merged, incarnation, ...resume };
    pageToken = nextPageToken;
  }
}
