/** What feedback does to a run: decisions only. The first write of a sample, or of a group's advantages, wins. */
import type { ReportedGroup } from "./events.ts";
import { epochAt, epochOf, groupAt, type Group, type GroupSamples, type RunState, type SampleResult } from "./state.ts";

/** Names a group: its cursor, and the epoch that its task was drawn in. */
export interface GroupRef {
  readonly epoch: number;
  readonly cursor: number;
}

/** The result of scoring one completion. */
export interface FeedbackItem extends GroupRef {
  /** sample_index. */
  readonly sample: number;
  /** Of the completion's text: short, and another one for another text. */
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
  if (epoch !== epochAt(state.epochs, cursor)) return stale;
  return groupAt(state, cursor) ?? "forgotten";
}

function isStatus(found: Group | FeedbackStatus): found is FeedbackStatus {
  return found.kind !== "open" && found.kind !== "closed";
}

/** Results of one group that are to be recorded. */
interface Pending {
  readonly cursor: number;
  readonly samples: GroupSamples["samples"][number][];
  /** By sample_index. */
  readonly digests: Map<number, string>;
}

/** What a result does to its group, of which `pending` is to be recorded already. */
function statusIn(state: RunState, group: Group, pending: Pending, item: FeedbackItem): FeedbackStatus {
  const { sample, digest, result, hash } = item;
  if (!(Number.isInteger(sample) && sample >= 0 && sample < state.config.numGenerations)) {
    return notRecorded(`sample_index must be below num_generations, ${state.config.numGenerations}`);
  }
  if (hash !== undefined && hash !== group.task.key.hash) {
    return notRecorded("the task at this position of the run is another one");
  }
  if (result.kind === "reward" && !Number.isFinite(result.reward)) return notRecorded("the reward is not finite");
  const first = group.samples[sample]?.digest ?? pending.digests.get(sample);
  if (first !== undefined) return first === digest ? duplicate : conflicting;
  return group.kind === "open" ? recorded : notRecorded("the group was closed");
}

/** Finds the group of a result, or says why the result cannot count. */
function groupOf(state: RunState, item: FeedbackItem): Group | FeedbackStatus {
  if (state.config.feedbackSource !== "step") return notRecorded("the run takes reported advantages");
  const found = findGroup(state, item);
  return found === "forgotten" ? notRecorded("the group was closed long ago") : found;
}

/** What each item does, in order, and the results to record. */
export function decideFeedback(
  state: RunState,
  items: readonly FeedbackItem[],
): { readonly statuses: readonly FeedbackStatus[]; readonly groups: readonly GroupSamples[] } {
  const pending = new Map<number, Pending>();
  const pendingAt = (cursor: number): Pending => {
    const known = pending.get(cursor) ?? { cursor, samples: [], digests: new Map<number, string>() };
    pending.set(cursor, known);
    return known;
  };
  // Items of a group come one after the other: it is looked up once.
  let before: FeedbackItem | undefined;
  let found: Group | FeedbackStatus = stale;
  let taken = pendingAt(-1);
  const statuses = items.map((item) => {
    const { epoch, cursor, sample, digest, result } = item;
    if (before?.cursor !== cursor || before.epoch !== epoch) {
      found = groupOf(state, item);
      taken = pendingAt(cursor);
      before = item;
    }
    if (isStatus(found)) return found;
    const status = statusIn(state, found, taken, item);
    if (status.kind === "recorded") {
      taken.samples.push({ index: sample, digest, result });
      taken.digests.set(sample, digest);
    }
    return status;
  });
  return { statuses, groups: [...pending.values()].filter(({ samples }) => samples.length > 0) };
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
  return state.batches.flatMap(({ open, groups }) =>
    open === 0
      ? []
      : groups.flatMap(({ kind, task, handedOutAtMs: since }) =>
          kind === "open" && since !== null && since + timeoutMs <= nowMs ? [task.cursor] : [],
        ),
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
