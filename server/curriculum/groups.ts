/** Views of a run's groups for the trainer, with samples and advantages. Also decides which groups can be reopened. */
import { advantagesOf, type RewardRange } from "./advantages.ts";
import { findGroup, type FeedbackStatus, type GroupRef, notRecorded } from "./feedback.ts";
import {
  type Batch,
  type ClosedGroup,
  type Group,
  type IssuedTask,
  isUseless,
  placesInOrder,
  type SampleResult,
  type TaskSamples,
} from "./batches.ts";
import { batchAt, issuedTask, type RunState } from "./state.ts";
import type { Arm, DynamicSampling, InstanceKey } from "./types.ts";

/**
 * Recorded sample of a group. The advantages are undefined while the group is open, and for a sample without a reward.
 */
interface SampleView {
  readonly index: number;
  readonly result: SampleResult;
  readonly rloo: number | undefined;
  readonly grpo: number | undefined;
}

export interface GroupView<Key extends InstanceKey> {
  readonly task: IssuedTask<Key>;
  readonly closed: boolean;
  /** Indices of the samples whose results have not arrived. */
  readonly missing: readonly number[];
  readonly samples: readonly SampleView[];
  /** Statistics of the rewards of a closed group. Undefined: the group is open or has no rewards. */
  readonly statistics: { readonly count: number; readonly mean: number; readonly std: number } | undefined;
  readonly useful: boolean;
  /** Whether the trainer should train on the group. */
  readonly selected: boolean;
  /**
   * Time from which the group's timeout counts: when a client got the task, or when the group was reopened or imported.
   * Null: no client has got the task yet.
   */
  readonly handedOutAtMs: number | null;
}

export type GroupSelection =
  | { readonly kind: "open" }
  | { readonly kind: "batch"; readonly batch: number }
  | { readonly kind: "groups"; readonly refs: readonly GroupRef[] };

/** Returns the advantages by sample index. Undefined: the sample has no reward. */
function placedAdvantages(group: TaskSamples, range: RewardRange) {
  const { results } = group;
  const places = (placesInOrder(group) ?? [...results.keys()]).filter((place) => results[place]?.kind === "reward");
  const known = places.map((place) => (results[place] as Extract<SampleResult, { kind: "reward" }>).reward);
  const spread = (values: readonly number[]): readonly (number | undefined)[] => {
    const placed = new Array<number | undefined>(results.length).fill(undefined);
    for (const [i, place] of places.entries()) placed[place] = values[i];
    return placed;
  };
  const { rloo, grpo, mean, std } = advantagesOf(known, range);
  const statistics = known.length > 0 ? { count: known.length, mean, std } : undefined;
  return { statistics, rloo: spread(rloo), grpo: spread(grpo) };
}

function groupView<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  batch: Batch<Key>,
  group: Group<Key>,
  selected: ReadonlySet<Group>,
): GroupView<Key> {
  const { results } = group;
  const closed = group.kind === "closed";
  const { rewardRange } = state.config.arms[group.task.arm] as Arm;
  const found = closed ? placedAdvantages(group, rewardRange) : undefined;
  return {
    task: issuedTask(state, batch, group.task),
    closed,
    missing: results.flatMap((result, index) => (result === null ? [index] : [])),
    samples: results.flatMap((result, index) =>
      result === null ? [] : [{ index, result, rloo: found?.rloo[index], grpo: found?.grpo[index] }],
    ),
    statistics: found?.statistics,
    useful: closed && !isUseless(group, alikeOf(state)),
    selected: selected.has(group),
    handedOutAtMs: group.handedOutAtMs,
  };
}

function alikeOf({ config }: RunState): DynamicSampling["alike"] {
  return config.dynamicSampling?.alike ?? "rewards";
}

/**
 * Returns the groups of a batch that are certain to be trained on. Under dynamic sampling these are the first useful
 * groups by cursor, up to the first group that is still open.
 */
function selectedOf({ config }: RunState, { groups, prompts }: Batch): ReadonlySet<Group> {
  const { dynamicSampling } = config;
  if (dynamicSampling === undefined) return new Set(groups.filter(({ kind }) => kind === "closed"));
  const selected = new Set<Group>();
  for (const group of groups) {
    if (group.kind === "open" || selected.size === prompts) break;
    if (!isUseless(group, dynamicSampling.alike)) selected.add(group);
  }
  return selected;
}

/**
 * Returns the cursors of the groups that a client asked for, in order. Groups that the run has dropped are left out.
 */
export function cursorsOf(state: RunState, wanted: GroupSelection): readonly number[] {
  const of = (groups: readonly Group[]): readonly number[] => groups.map(({ task }) => task.cursor);
  switch (wanted.kind) {
    case "open":
      return state.batches.flatMap(({ open, groups }) =>
        open === 0 ? [] : of(groups.filter(({ kind, handedOutAtMs }) => kind === "open" && handedOutAtMs !== null)),
      );
    case "batch":
      return of(state.batches.find(({ index }) => index === wanted.batch)?.groups ?? []);
    case "groups":
      return wanted.refs.flatMap((ref) => {
        const found = findGroup(state, ref);
        return found !== "forgotten" && (found.kind === "open" || found.kind === "closed") ? [ref.cursor] : [];
      });
  }
}

/** Returns views of the groups at these cursors. Groups that the run has dropped are left out. */
export function groupViews<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursors: readonly number[],
): readonly GroupView<Key>[] {
  const selected = new Map<Batch, ReadonlySet<Group>>();
  return cursors.flatMap((cursor) => {
    const batch = batchAt(state, cursor);
    const group = batch?.groups[cursor - batch.cursor];
    if (batch === undefined || group === undefined) return [];
    const chosen = selected.get(batch) ?? selectedOf(state, batch);
    selected.set(batch, chosen);
    return [groupView(state, batch, group, chosen)];
  });
}

/** Returns the reason why a closed group cannot be reopened. Undefined: it can. */
export function whyClosed(state: RunState, batch: number, group: ClosedGroup): string | undefined {
  if (state.config.feedbackSource === "reported") return "the group's advantages were reported";
  if (!group.results.includes(null)) return "the group already has all its results";
  const isFolded = state.config.lag.kind === "batches" ? batch < state.batchesFolded : group.folded;
  return isFolded ? "a later draw has already used the group" : undefined;
}

/**
 * Returns the status of a request to reopen a group. "recorded": it can be reopened. "duplicate": it is open already.
 */
function reopenable(state: RunState, ref: GroupRef): FeedbackStatus {
  const found = findGroup(state, ref);
  if (found === "forgotten") return notRecorded("the group was closed long ago");
  if (found.kind === "open") return { kind: "duplicate" };
  if (found.kind !== "closed") return found;
  const why = whyClosed(state, batchAt(state, ref.cursor)?.index ?? 0, found);
  return why === undefined ? { kind: "recorded" } : notRecorded(why);
}

/**
 * Returns the status of each request to reopen a group, in the requests' order, and the cursors of the groups to
 * reopen.
 */
export function decideReopen(
  state: RunState,
  refs: readonly GroupRef[],
): { readonly statuses: readonly FeedbackStatus[]; readonly cursors: readonly number[] } {
  const taken = new Set<number>();
  const statuses = refs.map((ref): FeedbackStatus => {
    if (taken.has(ref.cursor)) return { kind: "duplicate" };
    const status = reopenable(state, ref);
    if (status.kind === "recorded") taken.add(ref.cursor);
    return status;
  });
  return { statuses, cursors: [...taken].sort((a, b) => a - b) };
}
