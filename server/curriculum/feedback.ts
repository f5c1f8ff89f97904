/**
 * Decides which feedback is recorded, without changing the run. For each sample only its first result is recorded, and
 * for each group only the first report of its advantages.
 */
import { REWARD_MAX } from "./check-config.ts";
import { evaluatedAt, findRound } from "./evaluation-rounds.ts";
import type { ReportedGroup } from "./events.ts";
import { addLengths, type Lengths } from "./lengths.ts";
import { type MalformedRecord, recordedKind } from "./malformed-samples.ts";
import { readsOf } from "./policies/registry.ts";
import { blankSamples, type Group, type GroupResults, isKeyed, keyedDigest, type SampleResult } from "./batches.ts";
import { batchAt, type EvaluationResults, groupAt, incarnationOf, type RunState } from "./state.ts";

/**
 * Identifies a group: the cursor of its task, and the run's incarnation when a client got the task. The incarnation is
 * a name of the run that each import replaces.
 */
export interface GroupRef {
  readonly incarnation: string;
  readonly cursor: number;
}

/** The result of scoring one completion. */
export interface FeedbackItem extends GroupRef {
  /** Index of the sample within its group, from 0. Ignored if `sampleKey` is set. */
  readonly sample: number;
  /**
   * Digest of the key by which the client identifies the sample, 12 hex digits. The run gives each key an index. Unset:
   * `sample` identifies the sample.
   */
  readonly sampleKey?: string;
  /**
   * Short hash of the completion's text. If a sample already has a result, an equal digest means a repetition, and
   * another digest another completion.
   */
  readonly digest: string;
  readonly result: SampleResult;
  /** Length of the completion. Unset: not known. */
  readonly lengths?: Lengths;
  /** Hash of the scored instance, if known. The result is refused if the group's instance has another hash. */
  readonly hash?: string;
  /** Computes extra values of the score, by name. Called only if the run's policy reads some of them. */
  readonly facts?: () => Readonly<Record<string, number>>;
  /**
   * Evaluation arm and round of the task. `cursor` is then the task's number in the arm. Unset: the task is one of
   * training.
   */
  readonly evaluation?: EvaluationPlace;
}

/** Index of an evaluation arm, and number of one of its rounds. */
type EvaluationPlace = Pick<EvaluationResults, "arm" | "round">;

export interface ReportedAdvantages extends GroupRef {
  /** One advantage for each sample that the trainer used. Empty: the group gives no signal. */
  readonly advantages: readonly number[];
  readonly rewardMean: number | undefined;
}

/**
 * Index that the run gave to the sample with the client's key. Unset: the client identified the sample by its index.
 */
interface KeyedIndex {
  readonly index?: number;
}

export type FeedbackStatus =
  | ({ readonly kind: "recorded" } & KeyedIndex)
  | ({ readonly kind: "duplicate" } & KeyedIndex)
  | ({ readonly kind: "conflicting_completion" } & KeyedIndex)
  | { readonly kind: "stale_epoch" }
  | { readonly kind: "not_recorded"; readonly detail: string };

const recorded: FeedbackStatus = Object.freeze({ kind: "recorded" });
const duplicate: FeedbackStatus = Object.freeze({ kind: "duplicate" });
const conflicting: FeedbackStatus = Object.freeze({ kind: "conflicting_completion" });
const stale: FeedbackStatus = Object.freeze({ kind: "stale_epoch" });

export function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}

/**
 * Returns a group, or the reason why feedback for it is refused. "forgotten": the group was closed long ago, and the
 * run has dropped it.
 */
export function findGroup(state: RunState, { incarnation, cursor }: GroupRef): Group | FeedbackStatus | "forgotten" {
  if (incarnation !== incarnationOf(state)) return stale;
  if (!Number.isSafeInteger(cursor) || cursor < 0) return notRecorded("the cursor is not the position of a task");
  if (cursor >= state.cursor) return notRecorded("the run has not issued this task");
  const batch = batchAt(state, cursor);
  const group = batch?.groups[cursor - batch.cursor];
  if (batch !== undefined && group === undefined)
    return notRecorded("the task is a spare one (reserve) that was not handed out");
  return group ?? "forgotten";
}

function isStatus(found: Group | FeedbackStatus): found is FeedbackStatus {
  return found.kind !== "open" && found.kind !== "closed";
}

/** Task to which results belong: a task of training, or a task of an evaluation arm. */
interface Target {
  /** Digests of the completions that have results, by sample index. */
  readonly digests: readonly (string | null)[];
  /** Hash of the task's instance. Undefined: hashes are not compared. */
  readonly hash: string | undefined;
  readonly closed: boolean;
}

/** Task and the new results to record for it. */
interface Pending {
  readonly target: Target;
  readonly of: FeedbackItem;
  readonly indices: number[];
  readonly digests: string[];
  readonly results: SampleResult[];
  lengths: Lengths | undefined;
  /** Digests by sample index, both earlier ones and those of the new results. */
  readonly known: (string | null)[];
}

/**
 * Returns the result in the form in which the run records it. In training, the format error of an answer that could not
 * be parsed becomes a short text or an index. In evaluation rounds it is left out.
 */
function recordedResult(item: FeedbackItem, { reads, record }: Recording): SampleResult {
  const result = withFacts(item, reads);
  if (result.kind !== "reward" || result.malformed === undefined) return result;
  const { malformed, ...plain } = result;
  if (item.evaluation !== undefined) return plain;
  return { ...plain, malformed: recordedKind(record, `${malformed}`) };
}

/** Parts of a run's state that decide how a result is recorded. */
interface Recording {
  /**
   * Names of extra score values that the run's policy needs beside reward and success, e.g. a component of the reward.
   */
  readonly reads: readonly string[];
  readonly record: MalformedRecord;
}

/** Returns the result with the extra score values that the run's policy reads. */
function withFacts({ result, facts, evaluation }: FeedbackItem, reads: readonly string[]): SampleResult {
  if (reads.length === 0 || result.kind !== "reward" || facts === undefined || evaluation !== undefined) return result;
  const known = facts();
  const read = reads.filter((name) => Object.hasOwn(known, name) && isReward(known[name] ?? NaN));
  if (read.length === 0) return result;
  return { ...result, facts: Object.fromEntries(read.map((name) => [name, known[name] ?? 0])) };
}

/**
 * Returns the index of the sample with this key: the index that the key has, or else the first index without a result.
 * Undefined: all indices belong to other keys.
 */
function sampleOfKey(known: readonly (string | null)[], key: string): number | undefined {
  const given = known.findIndex((digest) => digest !== null && isKeyed(digest, key));
  const sample = given >= 0 ? given : known.indexOf(null);
  return sample < 0 ? undefined : sample;
}

/**
 * Returns the status of a result whose sample is identified by a key instead of an index. A result to record is added
 * to `pending`.
 */
function takeKeyed(pending: Pending, item: FeedbackItem, key: string, recording: Recording): FeedbackStatus {
  const { known, target } = pending;
  const sample = sampleOfKey(known, key);
  if (sample === undefined)
    return notRecorded(`sample_key: the group already has results of ${known.length} other samples, and takes no more`);
  if (known[sample] === null && target.closed) return notRecorded("the group was closed");
  const status = take(pending, { ...item, sample, digest: keyedDigest(key, item.digest) }, recording);
  return "detail" in status || status.kind === "stale_epoch" ? status : { ...status, index: sample };
}

/**
 * Returns the status of a result: recorded, a repetition, or the reason why it is refused. A result to record is added
 * to `pending`.
 */
function take(pending: Pending, item: FeedbackItem, recording: Recording): FeedbackStatus {
  const { sample, digest, result, hash } = item;
  const { target, known } = pending;
  const count = known.length;
  if (!(Number.isInteger(sample) && sample >= 0 && sample < count)) {
    return notRecorded(`sample_index must be below num_generations, ${count}`);
  }
  if (hash !== undefined && target.hash !== undefined && hash !== target.hash) {
    return notRecorded("the run has another task at this position: send the task's own group_id");
  }
  if (result.kind === "reward" && !isReward(result.reward))
    return notRecorded(`the reward must be in [${-REWARD_MAX}, ${REWARD_MAX}], not ${result.reward}`);
  const first = known[sample] ?? null;
  if (first !== null) return first === digest ? duplicate : conflicting;
  if (target.closed) return notRecorded("the group was closed");
  known[sample] = digest;
  pending.indices.push(sample);
  pending.digests.push(digest);
  pending.results.push(recordedResult(item, recording));
  if (item.evaluation === undefined) pending.lengths = addLengths(pending.lengths, item.lengths);
  return recorded;
}

/** Returns the task to which a result belongs, or the reason why the result is refused. */
function targetOf(state: RunState, item: FeedbackItem): Target | FeedbackStatus {
  if (item.evaluation !== undefined) return evaluatedTask(state, item, item.evaluation);
  if (state.config.feedbackSource !== "step")
    return notRecorded("the run takes reported advantages, not results: call ReportAdvantages");
  const found = findGroup(state, item);
  if (found === "forgotten") return notRecorded("the group was closed long ago");
  if (isStatus(found)) return found;
  return { digests: found.digests, hash: found.task.key.hash, closed: found.kind === "closed" };
}

function evaluatedTask(state: RunState, { incarnation, cursor }: GroupRef, place: EvaluationPlace) {
  if (incarnation !== incarnationOf(state)) return stale;
  const round = findRound(state, place);
  if (round === undefined) return notRecorded(`round ${place.round} of the evaluation arm is no longer kept`);
  if (!(cursor < round.size)) return notRecorded("the evaluation arm's set has no such task");
  const { digests } =
    evaluatedAt(round, cursor) ?? blankSamples(state.config.evaluationArms[place.arm]?.numGenerations ?? 0);
  return { digests, hash: undefined, closed: false };
}

/** Returns a map key for the item's task. It is unique within one incarnation of the run. */
function keyOf({ cursor, evaluation }: FeedbackItem): number | string {
  return evaluation === undefined ? cursor : `${evaluation.arm}/${evaluation.round}/${cursor}`;
}

export interface DecidedFeedback {
  /** Status of each item, in the items' order. */
  readonly statuses: readonly FeedbackStatus[];
  /** Results to record: `groups` has those of training, and `evaluated` those of evaluation rounds. */
  readonly groups: readonly GroupResults[];
  readonly evaluated: readonly EvaluationResults[];
}

/** Separates results of training from results of evaluation rounds. */
function sorted(pending: readonly Pending[]): Omit<DecidedFeedback, "statuses"> {
  const groups: GroupResults[] = [];
  const rounds = new Map<string, EvaluationResults & { readonly tasks: GroupResults[] }>();
  for (const { of, indices, digests, results, lengths } of pending) {
    if (indices.length === 0) continue;
    const { evaluation, cursor } = of;
    const recorded = { cursor, indices, digests, results, ...(lengths && { lengths }) };
    if (evaluation === undefined) {
      groups.push(recorded);
      continue;
    }
    const key = `${evaluation.arm}/${evaluation.round}`;
    const round = rounds.get(key) ?? { kind: "evaluated", ...evaluation, tasks: [] };
    rounds.set(key, round);
    round.tasks.push(recorded);
  }
  return { groups, evaluated: [...rounds.values()] };
}

export function decideFeedback(state: RunState, items: readonly FeedbackItem[]): DecidedFeedback {
  const byPlace = new Map<number | string, Pending>();
  const find = (item: FeedbackItem): Pending | FeedbackStatus => {
    const key = keyOf(item);
    const known = byPlace.get(key);
    // Items of one group usually follow each other, so the group is looked up once.
    if (known?.of.incarnation === item.incarnation) return known;
    const target = targetOf(state, item);
    if ("kind" in target) return target;
    const nothing = { indices: [], digests: [], results: [], lengths: undefined };
    const pending: Pending = { target, of: item, ...nothing, known: [...target.digests] };
    byPlace.set(key, pending);
    return pending;
  };
  const recording = { reads: readsOf(state.policy), record: state.malformed };
  const statuses = items.map((item): FeedbackStatus => {
    const found = find(item);
    if ("kind" in found) return found;
    const { sampleKey } = item;
    return sampleKey === undefined ? take(found, item, recording) : takeKeyed(found, item, sampleKey, recording);
  });
  return { statuses, ...sorted([...byPlace.values()]) };
}

/**
 * Returns the status of a request to close a group. "recorded": it can be closed. "duplicate": it is closed already.
 */
function closable(state: RunState, ref: GroupRef, taken: ReadonlySet<number>): FeedbackStatus {
  const group = findGroup(state, ref);
  if (group === "forgotten") return duplicate;
  if (isStatus(group)) return group;
  return group.kind === "closed" || taken.has(ref.cursor) ? duplicate : recorded;
}

function isReward(value: number): boolean {
  return Math.abs(value) <= REWARD_MAX;
}

/**
 * Returns a message about the first number in a report that is too large. Such numbers would make a policy's estimates
 * infinite.
 */
function firstOutOfRange({ advantages, rewardMean }: ReportedAdvantages): string | undefined {
  const limits = `must be in [${-REWARD_MAX}, ${REWARD_MAX}]`;
  const i = advantages.findIndex((advantage) => !isReward(advantage));
  if (i >= 0) return `advantages[${i}] ${limits}, not ${advantages[i]}`;
  return isReward(rewardMean ?? 0) ? undefined : `reward_mean ${limits}, not ${rewardMean}`;
}

/** Returns the status of each report of advantages, in the reports' order, and the groups to record. */
export function decideAdvantages(
  state: RunState,
  reports: readonly ReportedAdvantages[],
): { readonly statuses: readonly FeedbackStatus[]; readonly groups: readonly ReportedGroup[] } {
  const taken = new Set<number>();
  const groups: ReportedGroup[] = [];
  const statuses = reports.map((report) => {
    const { cursor, advantages, rewardMean } = report;
    const wrong = firstOutOfRange(report);
    if (wrong !== undefined) return notRecorded(wrong);
    const status = closable(state, report, taken);
    if (status.kind !== "recorded") return status;
    // The group may have as many advantages as samples. The run's num_generations may have changed since the draw.
    const limit = groupAt(state, cursor)?.results.length ?? 0;
    if (advantages.length > limit) return notRecorded(`more advantages than num_generations, ${limit}`);
    taken.add(cursor);
    groups.push({ cursor, advantages, rewardMean: rewardMean ?? null });
    return status;
  });
  return { statuses, groups };
}

/**
 * Returns the status of each request to close a group, in the requests' order, and the cursors of the groups to close.
 */
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

/** Returns the cursors of open groups whose timeout has passed. */
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

/** Returns the time at which the next open group times out. Undefined: none will. */
export function nextTimeoutAtMs(state: RunState): number | undefined {
  const timeoutMs = state.config.groupTimeoutMs;
  if (timeoutMs === undefined) return undefined;
  // The times at which tasks were handed out do not follow their cursors. Spare (reserve) tasks are handed out late,
  // and reopened groups get a new time.
  let first = Infinity;
  for (const batch of state.batches) {
    if (batch.open === 0) continue;
    for (const { kind, handedOutAtMs } of batch.groups)
      if (kind === "open" && handedOutAtMs !== null) first = Math.min(first, handedOutAtMs);
  }
  return first === Infinity ? undefined : first + timeoutMs;
}
