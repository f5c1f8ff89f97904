/** What NextBatch can answer now, given where the run stands. */
import { batchAt, type Group, type RunState } from "./state.ts";
import { drawReadiness } from "./draw.ts";
import type { Refusal } from "./results.ts";

/** How far past the tasks drawn a caller may ask, so that ranks can run ahead of each other but a slip is found. */
export const AHEAD_MAX = 4096;

export type IssueStep =
  /** Tasks [from, to) can be given. */
  | { readonly kind: "serve"; readonly from: number; readonly to: number; readonly done: boolean }
  /** The next update batch is wanted, and can be drawn. */
  | { readonly kind: "draw" }
  /** The next update batch is wanted, and waits for feedback of this batch. */
  | { readonly kind: "wait"; readonly batch: number }
  | Refusal;

function isKept(state: RunState, from: number, to: number): boolean {
  const size = state.config.promptsPerUpdate;
  for (let cursor = from; cursor < to; cursor += size) if (batchAt(state, cursor) === undefined) return false;
  return to <= from || batchAt(state, to - 1) !== undefined;
}

/** `cursor` undefined: from the first task that was not given out. `mayDraw`: whether what is drawn must do. */
export function issueStep(state: RunState, cursor: number | undefined, count: number, mayDraw: boolean): IssueStep {
  const end = state.config.length === 0 ? Infinity : state.config.length;
  const from = cursor ?? state.handedOut;
  if (from >= end) return { kind: "serve", from: end, to: end, done: true };
  if (from > state.cursor + AHEAD_MAX) {
    return { kind: "out_of_range", message: `cursor ${from} is far beyond ${state.cursor}, the tasks drawn so far` };
  }
  const to = Math.min(from + count, end);
  if (to > state.cursor) {
    const readiness = drawReadiness(state);
    if (readiness.kind === "ready" && (mayDraw || state.cursor <= from)) return { kind: "draw" };
    if (state.cursor <= from) {
      if (readiness.kind === "waiting") return { kind: "wait", batch: readiness.batch };
      return { kind: "failed_precondition", message: "the run is paused" };
    }
  }
  const available = Math.min(to, state.cursor);
  if (isKept(state, from, available)) return { kind: "serve", from, to: available, done: available >= end };
  return { kind: "out_of_range", message: `the tasks from cursor ${from} on were closed long ago` };
}

/** The groups of tasks [from, to), which must be kept. */
export function groupsBetween(state: RunState, from: number, to: number): readonly { cursor: number; group: Group }[] {
  return Array.from({ length: to - from }, (_, i) => {
    const cursor = from + i;
    const batch = batchAt(state, cursor);
    return { cursor, group: batch?.groups[cursor - batch.cursor] as Group };
  });
}
