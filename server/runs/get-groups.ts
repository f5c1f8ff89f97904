/** Implements GetGroups: returns groups at once, or waits until they are closed. */
import { cursorsOf, groupViews, type GroupView, type GroupSelection } from "../curriculum/groups.ts";
import { groupAt, type RunState } from "../curriculum/state.ts";
import { type InstanceKey, ok, type Refusal, type Result, type RunConfig } from "../curriculum/types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import { whenever } from "./watch.ts";

export interface GroupsRequest {
  readonly wanted: GroupSelection;
  /** Index of the page's first group among the selected groups. */
  readonly from: number;
  /** Maximum number of groups in a page. */
  readonly limit: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface Groups<Spec, Key extends InstanceKey> {
  /** Current configuration of the run, with the arms of the tasks. */
  readonly config: RunConfig<Spec>;
  readonly groups: readonly GroupView<Key>[];
  /** Index at which the next page begins. Undefined: this is the last page. */
  readonly next: number | undefined;
}

/** Maximum number of samples in a page, unless its first group alone has more. They take about two megabytes. */
const SAMPLES_MAX = 2 ** 15;

function refused(state: RunState, wanted: GroupSelection): Refusal | undefined {
  if (wanted.kind !== "batch") return undefined;
  const { batch } = wanted;
  if (batch >= state.batchesDrawn)
    return {
      kind: "out_of_range",
      message: `update batch ${batch} is not drawn: the run has drawn ${state.batchesDrawn}, counted from 0`,
    };
  if (state.batches.some(({ index }) => index === batch)) return undefined;
  return {
    kind: "out_of_range",
    message: `update batch ${batch} was closed long ago, and the run no longer keeps its groups`,
  };
}

/** Returns the cursors of a page's groups, and the index at which the next page begins. */
function pageOf(state: RunState, { wanted, from, limit }: GroupsRequest) {
  const all = cursorsOf(state, wanted);
  const cursors: number[] = [];
  let samples = 0;
  for (const cursor of all.slice(from, from + limit)) {
    // The number of completions per prompt may have changed, so groups differ in their numbers of samples.
    samples += groupAt(state, cursor)?.results.length ?? 0;
    if (cursors.length > 0 && samples > SAMPLES_MAX) break;
    cursors.push(cursor);
  }
  const next = from + cursors.length;
  return { cursors, next: next < all.length ? next : undefined };
}

/**
 * Returns whether the page can be returned without waiting: the request selects open groups or is refused, or none of
 * the page's groups is open.
 */
function isSettled(state: RunState, request: GroupsRequest): boolean {
  const { wanted } = request;
  if (wanted.kind === "open" || refused(state, wanted) !== undefined) return true;
  return pageOf(state, request).cursors.every((cursor) => groupAt(state, cursor)?.kind !== "open");
}

export async function getGroups<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  clock: Clock,
  request: GroupsRequest,
): Promise<Result<Groups<Spec, Key>> | Gone> {
  const { wanted, waitMs, signal } = request;
  const deadlineMs = clock.now() + waitMs;
  for (;;) {
    const here = await run.refresh();
    if (here !== "fresh") return here;
    const state = run.state();
    const refusal = refused(state, wanted);
    if (refusal !== undefined) return refusal;
    const leftMs = deadlineMs - clock.now();
    if (leftMs <= 0 || signal.aborted || isSettled(state, request)) {
      const { cursors, next } = pageOf(state, request);
      return ok({ config: state.config, groups: groupViews(state, cursors), next });
    }
    const looked = await whenever(run, (now) => isSettled(now, request), clock, leftMs, signal);
    if (looked !== "fresh") return looked;
  }
}
