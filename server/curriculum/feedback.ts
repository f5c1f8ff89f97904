/**
 * Decides what feedback does to a run, without changing the run. The first write of a sample, or of a group's
 * advantages, wins.
 */
import { REWARD_MAX } from "./check-config.ts";
import { evaluatedAt, findRound } from "./evaluation-rounds.ts";
import type { ReportedGroup } from "./events.ts";
import { type MalformedRecord, recordedKind } from "./malformed-samples.ts";
import { readsOf } from "./policies/registry.ts";
import { blankSamples, type Group, type GroupResults, type SampleResult } from "./batches.ts";
import { batchAt, type EvaluationResults, groupAt, incarnationOf, type RunState } from "./state.ts";

/** Name of a group: its cursor, and the run's incarnation at the time when its task was handed out. */
export interface GroupRef {
  readonly incarnation: string;
  readonly cursor: number;
}

/** The result of scoring one completion. */
export interface FeedbackItem extends GroupRef {
  /** Sample index. */
  readonly sample: number;
  /** Short digest of the completion's text. Another text has another digest. */
  readonly digest: string;
  readonly result: SampleResult;
  /** Hash of the instance that was scored, if known. A result for another instance than the group's is not recorded. */
  readonly hash?: string;
  /** Returns further values of the score by name. Called only if the run's policy reads any of them. */
  readonly facts?: () => Readonly<Record<string, number>>;
  /** Set for a task of an evaluation arm, whose cursor is then its ordinal. */
  readonly evaluation?: EvaluationPlace;
}

/** Index of an evaluation arm, and number of its round. */
type EvaluationPlace = Pick<EvaluationResults, "arm" | "round">;

export interface ReportedAdvantages extends GroupRef {
  /** One advantage for each sample that counted. Empty: the group gives no signal. */
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

export function notRecorded(detail: string): FeedbackStatus {
  return { kind: "not_recorded", detail };
}

/**
 * Returns a group, or the reason why feedback for it is not recorded. "forgotten": it was closed so long ago that it is
 * no longer kept.
 */
export function findGroup(state: RunState, { incarnation, cursor }: GroupRef): Group | FeedbackStatus | "forgotten" {
  if (incarnation !== incarnationOf(state)) return stale;
  if (!Number.isSafeInteger(cursor) || cursor < 0) return notRecorded("the cursor is not a position");
  if (cursor >= state.cursor) return notRecorded("the run has not issued this task");
  const batch = batchAt(state, cursor);
  const group = batch?.groups[cursor - batch.cursor];
  if (batch !== undefined && group === undefined) return notRecorded("the task is in reserve and was not given out");
  return group ?? "forgotten";
}

function isStatus(found: Group | FeedbackStatus): found is FeedbackStatus {
  return found.kind !== "open" && found.kind !== "closed";
}

/** Place where results are recorded: a group, or a task of an evaluation arm. */
interface Target {
  /** Digests by sample index. */
  readonly digests: readonly (string | null)[];
  /** Hash of its instance. Undefined: the instance is not compared. */
  readonly hash: string | undefined;
  readonly closed: boolean;
}

/** A target, with those of its results that are to be recorded. */
interface Pending {
  readonly target: Target;
  readonly of: FeedbackItem;
  readonly indices: number[];
  readonly digests: string[];
  readonly results: SampleResult[];
  /** Digests by sample index, both recorded and to be recorded. */
  readonly known: (string | null)[];
}

/**
 * Returns the result as it is recorded: a malformed answer with the kind of its violation. Rounds of evaluation do not
 * count malformed answers.
 */
function recordedResult(item: FeedbackItem, { reads, record }: Recording): SampleResult {
  const result = withFacts(item, reads);
  if (result.kind !== "reward" || result.malformed === undefined) return result;
  const { malformed, ...plain } = result;
  if (item.evaluation !== undefined) return plain;
  return { ...plain, malformed: recordedKind(record, `${malformed}`) };
}

/** The parts of a run that decide how a result is recorded. */
interface Recording {
  /** Names of the facts that the run's policy reads. */
  readonly reads: readonly string[];
  readonly record: MalformedRecord;
}

/** Returns the result with the facts that the run's policy reads. */
function withFacts({ result, facts, evaluation }: FeedbackItem, reads: readonly string[]): SampleResult {
  if (reads.length === 0 || result.kind !== "reward" || facts === undefined || evaluation !== undefined) return result;
  const known = facts();
  const read = reads.filter((name) => Object.hasOwn(known, name) && isReward(known[name] ?? NaN));
  if (read.length === 0) return result;
  return { ...result, facts: Object.fromEntries(read.map((name) => [name, known[name] ?? 0])) };
}

/** Returns the status of a result, and adds the result to `pending` if it is to be recorded. */
function take(pending: Pending, item: FeedbackItem, recording: Recording): FeedbackStatus {
  const { sample, digest, result, hash } = item;
  const { target, known } = pending;
  const count = known.length;
  if (!(Number.isInteger(sample) && sample >= 0 && sample < count)) {
    return notRecorded(`sample_index must be below num_generations, ${count}`);
  }
  if (hash !== undefined && target.hash !== undefined && hash !== target.hash) {
    return notRecorded("the task at this position of the run is another one");
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
  return recorded;
}

/** Returns the place where a result is recorded, or the reason why it is not recorded. */
function targetOf(state: RunState, item: FeedbackItem): Target | FeedbackStatus {
  if (item.evaluation !== undefined) return evaluatedTask(state, item, item.evaluation);
  if (state.config.feedbackSource !== "step") return notRecorded("the run takes reported advantages");
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

/** Returns a key for each target of an incarnation. */
function keyOf({ cursor, evaluation }: FeedbackItem): number | string {
  return evaluation === undefined ? cursor : `${evaluation.arm}/${evaluation.round}/${cursor}`;
}

export interface DecidedFeedback {
  /** Status of each item, in order. */
  readonly statuses: readonly FeedbackStatus[];
  /** Results to record, of training and of each round of evaluation. */
  readonly groups: readonly GroupResults[];
  readonly evaluated: readonly EvaluationResults[];
}

/** Separates the results of training from those of each round of evaluation. */
function sorted(pending: readonly Pending[]): Omit<DecidedFeedback, "statuses"> {
  const groups: GroupResults[] = [];
  const rounds = new Map<string, EvaluationResults & { readonly tasks: GroupResults[] }>();
  for (const { of, indices, digests, results } of pending) {
    if (indices.length === 0) continue;
    const { evaluation, cursor } = of;
    const recorded = { cursor, indices, digests, results };
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
    // Items of a group follow each other, so the group is looked up once.
    if (known?.of.incarnation === item.incarnation) return known;
    const target = targetOf(state, item);
    if ("kind" in target) return target;
    const pending = { target, of: item, indices: [], digests: [], results: [], known: [...target.digests] };
    byPlace.set(key, pending);
    return pending;
  };
  const recording = { reads: readsOf(state.policy), record: state.malformed };
  const statuses = items.map((item): FeedbackStatus => {
    const found = find(item);
    return "kind" in found ? found : take(found, item, recording);
  });
  return { statuses, ...sorted([...byPlace.values()]) };
}

/** Returns whether a group can be closed. `duplicate`: it is closed already, and nothing changes. */
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
 * Returns the problem of the first number in a report that is too large. Such numbers would make a policy's values
 * infinite.
 */
function firstOutOfRange({ advantages, rewardMean }: ReportedAdvantages): string | undefined {
  const limits = `must be in [${-REWARD_MAX}, ${REWARD_MAX}]`;
  const i = advantages.findIndex((advantage) => !isReward(advantage));
  if (i >= 0) return `advantages[${i}] ${limits}, not ${advantages[i]}`;
  return isReward(rewardMean ?? 0) ? undefined : `reward_mean ${limits}, not ${rewardMean}`;
}

/** Returns the status of each report, in order, and the groups to record. */
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
    // The limit is that of the task's update batch, because the run's shape may have changed since.
    const limit = groupAt(state, cursor)?.results.length ?? 0;
    if (advantages.length > limit) return notRecorded(`more advantages than num_generations, ${limit}`);
    taken.add(cursor);
    groups.push({ cursor, advantages, rewardMean: rewardMean ?? null });
    return status;
  });
  return { statuses, groups };
}

/** Returns the status of each request to close a group, in order, and the cursors to close. */
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

/** Returns when the next group times out. Undefined: no group will. */
export function nextTimeoutAtMs(state: RunState): number | undefined {
  const timeoutMs = state.config.groupTimeoutMs;
  if (timeoutMs === undefined) return undefined;
  // Groups are in no order of time: a reserve task is handed out after tasks behind it, and groups are reopened.
  let first = Infinity;
  for (const batch of state.batches) {
    if (batch.open === 0) continue;
    for (const { kind, handedOutAtMs } of batch.groups)
      if (kind === "open" && handedOutAtMs !== null) first = Math.min(first, handedOutAtMs);
  }
  return first === Infinity ? undefined : first + timeoutMs;
}
