/** What feedback does to a run: decisions only. The first write of a sample, or of a group's advantages, wins. */
import type { FeedbackEntry, ReportedGroup, SampleResult } from "./events.ts";
import { epochAt, epochOf, groupAt, type ClosedGroup, type Group, type OpenGroup, type RunState } from "./state.ts";

/** Names a group: its cursor, and the epoch that its task was drawn in. */
export interface GroupRef {
  readonly epoch: number;
  readonly cursor: number;
}

/** The result of scoring one completion. */
export interface FeedbackItem extends GroupRef {
  /** sample_index. */
  readonly sample: number;
  /** Short and collision-free, of the completion's text. */
  readonly digest: string;
  readonly result: SampleResult;
  /** Of the instance that was scored, if known: one other than the group's is not recorded. */
  readonly hash?: string;
}

export interface ReportedAdvantages extends GroupRef {
  /** One for each sample that counted; none: the group gives no signal. */
  readonly advantages: readonly number[];
  readonly rewardMean: number | undefined;
}

export type FeedbackStatus =
  | { readonly kind: "recorded" }
  | { readonly kind: "duplicate" }
  | { readonly kind: "conflicting_completion" }
  | { readonly kind: "stale_epoch" }
  | { readonly kind: "not_recorded"; readonly detail: string };

const recorded: FeedbackStatus = Object.freeze({ kind: "recorded" });
const duplicate: FeedbackStatus = Object.freeze({ kind: "duplicate" });
const conflicting: FeedbackStatus = Object.freeze({ kind: "conflicting_completion" });
const stale: FeedbackStatus = Object.freeze({ kind: "stale_epoch" });

function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}

/** Finds a group, or says why feedback for it cannot count. "forgotten": closed so long ago that it is not kept. */
function findGroup(state: RunState, { epoch, cursor }: GroupRef): Group | FeedbackStatus | "forgotten" {
  if (epoch > epochOf(state))
    return notRecorded(`the run is in epoch ${epochOf(state)}, the task is of epoch ${epoch}`);
  if (!Number.isSafeInteger(cursor) || cursor < 0) return notRecorded("the cursor is not a position");
  if (cursor >= state.cursor) {
    return epoch < epochOf(state) ? stale : notRecorded("the run has not issued this task");
  }
  if (epoch !== epochAt(state, cursor)) return stale;
  return groupAt(state, cursor) ?? "forgotten";
}

function isStatus(found: Group | FeedbackStatus): found is FeedbackStatus {
  return found.kind !== "open" && found.kind !== "closed";
}

function sameOrConflicting(first: string, digest: string): FeedbackStatus {
  return first === digest ? duplicate : conflicting;
}

function digestAt(group: OpenGroup | ClosedGroup, sample: number): string | undefined {
  const digest = group.kind === "open" ? group.samples[sample]?.digest : group.digests[sample];
  return digest ?? undefined;
}

function statusOf(state: RunState, item: FeedbackItem, pending: ReadonlyMap<string, string>): FeedbackStatus {
  if (state.config.feedbackSource !== "step") return notRecorded("the run takes reported advantages");
  const group = findGroup(state, item);
  if (group === "forgotten") return notRecorded("the group was closed long ago");
  if (isStatus(group)) return group;
  if (!(Number.isInteger(item.sample) && item.sample >= 0 && item.sample < state.config.numGenerations)) {
    return notRecorded(`sample_index must be below num_generations, ${state.config.numGenerations}`);
  }
  if (item.hash !== undefined && item.hash !== group.hash) {
    return notRecorded("the task at this position of the run is another one");
  }
  if (item.result.kind === "reward" && !Number.isFinite(item.result.reward))
    return notRecorded("the reward is not finite");
  const first = digestAt(group, item.sample) ?? pending.get(`${item.cursor}:${item.sample}`);
  if (first !== undefined) return sameOrConflicting(first, item.digest);
  return group.kind === "open" ? recorded : notRecorded("the group was closed");
}

/** What each item does, in order, and the entries to record. */
export function decideFeedback(
  state: RunState,
  items: readonly FeedbackItem[],
): { readonly statuses: readonly FeedbackStatus[]; readonly entries: readonly FeedbackEntry[] } {
  const pending = new Map<string, string>();
  const entries: FeedbackEntry[] = [];
  const statuses = items.map((item) => {
    const status = statusOf(state, item, pending);
    if (status.kind === "recorded") {
      const { cursor, sample, digest, result } = item;
      pending.set(`${cursor}:${sample}`, digest);
      entries.push({ cursor, sample, digest, result });
    }
    return status;
  });
  return { statuses, entries };
}

/** Whether a group can be closed; duplicate: it was, and nothing changes. */
function closable(state: RunState, ref: GroupRef, taken: ReadonlySet<number>): FeedbackStatus {
  const group = findGroup(state, ref);
  if (group === "forgotten") return duplicate;
  if (isStatus(group)) return group;
  return group.kind === "closed" || taken.has(ref.cursor) ? duplicate : recorded;
}

/** What each report does, in order, and the groups to record. */
export function decideAdvantages(
  state: RunState,
  reports: readonly ReportedAdvantages[],
): { readonly statuses: readonly FeedbackStatus[]; readonly groups: readonly ReportedGroup[] } {
  const taken = new Set<number>();
  const groups: ReportedGroup[] = [];
  const limit = state.config.numGenerations;
  const statuses = reports.map((report) => {
    const { cursor, advantages, rewardMean } = report;
    const finite = advantages.every(Number.isFinite) && Number.isFinite(rewardMean ?? 0);
    if (!finite) return notRecorded("an advantage or the mean is not finite");
    if (advantages.length > limit) return notRecorded(`more advantages than num_generations, ${limit}`);
    const status = closable(state, report, taken);
    if (status.kind !== "recorded") return status;
    taken.add(cursor);
    groups.push({ cursor, advantages, rewardMean: rewardMean ?? null });
    return status;
  });
  return { statuses, groups };
}

/** What closing each group does, in order, and the cursors to close. */
export function decideClose(
  state: RunState,
  refs: readonly GroupRef[],
): { readonly statuses: readonly FeedbackStatus[]; readonly cursors: readonly number[] } {
  const taken = new Set<number>();
  const statuses = refs.map((ref) => {
    const status = closable(state, ref, taken);
    if (status.kind === "recorded") taken.add(ref.cursor);
    return status;
  });
  return { statuses, cursors: [...taken] };
}

/** Groups that were given out so long ago that they are closed now. */
export function timedOut(state: RunState, nowMs: number): readonly number[] {
  const timeoutMs = state.config.groupTimeoutMs;
  if (timeoutMs === undefined) return [];
  return state.batches.flatMap((batch) =>
    batch.open === 0
      ? []
      : batch.groups.flatMap((group, i) => {
          const since = group.kind === "open" ? group.handedOutAtMs : null;
          return since !== null && since + timeoutMs <= nowMs ? [batch.cursor + i] : [];
        }),
  );
}

/** When the next group times out; undefined: none will. */
export function nextTimeoutAtMs(state: RunState): number | undefined {
  const timeoutMs = state.config.groupTimeoutMs;
  if (timeoutMs === undefined) return undefined;
  for (const batch of state.batches) {
    if (batch.open === 0) continue;
    // Positions are given out in order, so the first open one was given out first.
    for (const group of batch.groups) {
      if (group.kind === "open") return group.handedOutAtMs === null ? undefined : group.handedOutAtMs + timeoutMs;
    }
  }
  return undefined;
}
