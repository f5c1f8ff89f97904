/**
 * An independent reader of a run's saved state. It is written from proto/gradus/internal/v1/run.proto, and shares no code
 * with the server's own (server/curriculum/event-codec.ts) but what is generated from that.
 */
import { fromBinary } from "@bufbuild/protobuf";
import {
  type ArmCounters,
  type Batch,
  type ByArm,
  type DrawnTask,
  type Group,
  type Lengths,
  type Range,
  type RewardSums,
  type RunConfig,
  type Sample,
  SavedRunSchema,
  type StateHead,
} from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { readMalformed, type ReadMalformed } from "./reader-malformed.ts";
import { readList, type ReadList } from "./reader-rows.ts";

// The reader only compares and counts these values, so it checks no shapes beyond what that needs.
export type Data = null | boolean | number | string | readonly Data[] | { readonly [name: string]: Data };
export type Row = readonly Data[];

/** A value that no event says, such as the state that a changed policy keeps. It is not compared. */
export const UNSAID = "(unsaid)";

/** Sums of some rewards. */
export interface Sums {
  readonly count: number;
  readonly sum: number;
  readonly solved: number | null;
}

/** Outcome of a closed group. */
export interface ReadOutcome extends Sums {
  /** Standard deviation of the rewards; null: not known. */
  readonly deviation: number | null;
  /** Mean absolute advantage; null: the group has none. */
  readonly advantage: number | null;
}

/** Smallest and largest reward of an arm. */
export type RewardRange = { readonly min: number; readonly max: number };

export interface ReadTask {
  readonly arm: number;
  readonly ordinal: number;
  readonly key: Data;
  readonly repeat: boolean;
  /** Index of the chosen row of the arm; null: the ordinal says it. */
  readonly row: number | null;
}

export interface ReadGroup extends ReadTask {
  handedOutAtMs: number | null;
  /** Digests by sample_index. */
  readonly digests: (string | null)[];
  /** Results by sample_index: a reward, [reward] of a solved sample, or a reason. */
  readonly results: (Data | null)[];
  /** Undefined: the group is open. */
  closed: ReadOutcome | undefined;
  folded: boolean;
  lengths: ReadLengths;
}

/** Sums of completions' lengths: tokens, samples with tokens, characters of the others, and their number. */
export type ReadLengths = readonly [number, number, number, number];

export function readLengths(message: Lengths | undefined): ReadLengths {
  const { tokens = 0, tokenSamples = 0, characters = 0, characterSamples = 0 } = message ?? {};
  return [tokens, tokenSamples, characters, characterSamples];
}

/** Returns the sums of both, or with a sign of −1 their differences. */
export function joinLengths(one: ReadLengths, other: ReadLengths, sign = 1): ReadLengths {
  const at = (i: 0 | 1 | 2 | 3): number => one[i] + sign * other[i];
  return [at(0), at(1), at(2), at(3)];
}

export interface ReadBatch {
  readonly index: number;
  readonly cursor: number;
  seq: number;
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: readonly number[];
  readonly values: Data;
  /** Value of each growing arm's highest open level, else 0; empty: no arm grows. */
  readonly frontiers: Data;
  readonly prompts: number;
  readonly generations: number;
  readonly groups: ReadGroup[];
  readonly reserve: ReadTask[];
}

export interface ReadArm {
  issued: number;
  repeats: number;
  nextOrdinal: number;
  /** For an arm that grows: the number of the next instance of each level. */
  nextInLevels: number[];
  groups: number;
  recent: readonly Sums[];
  folded: Sums & { readonly groups: number };
  /** Lengths of the completions in closed groups. */
  lengths: ReadLengths;
}

export type Config = { readonly [name: string]: Data };

export interface ReadRun {
  runId: string;
  version: number;
  /** Configuration in its stored form. */
  config: Config;
  /** Configuration at the run's creation; null: it has not changed. */
  configCreated: Config | null;
  createdAtMs: number;
  policy: Data;
  policyState: Data;
  weights: readonly number[];
  masks: readonly (string | null)[];
  paused: boolean;
  pausedBy: string;
  pausedAtMs: number;
  note: string;
  tags: readonly string[];
  incarnations: readonly string[];
  epoch: number;
  rolledBack: readonly (readonly [number, number])[];
  /** Ranges of control changes that were rolled back. */
  controlRolledBack: readonly (readonly [number, number])[];
  advancedTo: Data;
  cursor: number;
  prompts: number;
  handedOut: number;
  batchesDrawn: number;
  batchesClosed: number;
  batchesFolded: number;
  samplesRecorded: number;
  malformed: ReadMalformed;
  /** Rows of pools. */
  lists: ReadList[];
  probabilities: Data;
  arms: ReadArm[];
  batches: ReadBatch[];
  /** Hashes of the issued instances: those of the generation before, and those of the current one. */
  issued: [Set<string>, Set<string>];
  /** Results by instance: −1 if all samples solved it, else how often in a row none did; null: no filter asks. */
  memory: Map<string, number> | null;
  nextSeq: number;
}

/** Returns the rewards of results in order of sample_index. */
export function rewardsOf(results: Row): readonly number[] {
  return results.flatMap((result) => {
    if (result === null || typeof result === "string") return [];
    return [Number(Array.isArray(result) ? result[0] : result)];
  });
}

/**
 * Returns the range of an arm's rewards, by which rewards are equal that differ by rounding alone. Undefined: the
 * server that created the run told such rewards apart.
 */
export function rangeAt({ ignoresRounding, arms }: Config, arm: number): RewardRange | undefined {
  if (ignoresRounding !== true) return undefined;
  return (arms as readonly Config[])[arm]?.["rewardRange"] as RewardRange | undefined;
}

/** Returns whether numbers are equal. With a range, numbers are equal if they differ by less than 1e-9 of it. */
export function areAlike(numbers: readonly number[], { min, max }: RewardRange = { min: 0, max: 0 }): boolean {
  const spread = Math.max(...numbers) - Math.min(...numbers);
  // A scheme of one reward has no range, so the reward itself is the scale.
  return numbers.length === 0 || spread === 0 || spread < 1e-9 * (max > min ? max - min : Math.abs(max));
}

/** Returns the outcome of a group's results. RLOO is each reward less the mean of the others. */
export function outcomeOf(results: Row, range?: RewardRange): ReadOutcome {
  const rewards = rewardsOf(results);
  const count = rewards.length;
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  const solved = results.filter((result) => Array.isArray(result)).length;
  const mean = count === 0 ? 0 : sum / count;
  const alike = areAlike(rewards, range);
  const squares = rewards.reduce((total, reward) => total + (reward - mean) ** 2, 0);
  const sizes = rewards.map((reward) => Math.abs(reward - (sum - reward) / (count - 1)));
  const advantage = alike ? 0 : sizes.reduce((total, size) => total + size, 0) / count;
  return {
    count,
    sum,
    solved,
    deviation: alike ? 0 : Math.sqrt(squares / count),
    advantage: count < 2 ? null : advantage,
  };
}

/** Returns whether an update learns nothing from a group (contract: DynamicSampling). */
export function isUseless({ count, solved, deviation, advantage }: ReadOutcome, alike: Data): boolean {
  if (alike === "solved") return count < 2 || solved === 0 || solved === count;
  if (deviation === null) return advantage === null || advantage === 0;
  return count < 2 || deviation === 0;
}

/** Returns the setting that says which groups are useless under a configuration. */
export function alikeOf(config: Config): Data {
  const sampling = config["dynamicSampling"] as Config | undefined;
  return sampling?.["alike"] ?? "rewards";
}

export function taskOf({ arm, ordinal, key, repeat, row }: DrawnTask): ReadTask {
  return { arm, ordinal, key: JSON.parse(key) as Data, repeat, row: row ?? null };
}

/** Returns the set fields of a message as plain data. */
function plain(value: unknown): Data {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value as Data;
  const set = Object.entries(value).filter(([name, each]) => name !== "$typeName" && each !== undefined);
  return Object.fromEntries(set.map(([name, each]) => [name, plain(each)]));
}

export function configOf(message: RunConfig | undefined): Config {
  const config = plain(message) as Config;
  return { ...config, policy: JSON.parse(config["policy"] as string) as Data };
}

export function freshGroup(task: ReadTask, generations: number): ReadGroup {
  const none = (): null[] => new Array<null>(generations).fill(null);
  const blank = { handedOutAtMs: null, digests: none(), results: none(), closed: undefined, folded: false };
  return { ...task, ...blank, lengths: readLengths(undefined) };
}

export function samplesOf(samples: readonly Sample[]) {
  return samples.map(({ index, digest, reward, solved, reason = "" }) => {
    const result: Data = reward === undefined ? reason : solved === true ? [reward] : reward;
    return { sample: index, digest, result };
  });
}

function sums(of: Pick<RewardSums, "count" | "sum" | "solved">): Sums {
  return { count: of.count, sum: of.sum, solved: of.solved ?? null };
}

export const rangeOf = ({ first, last }: Range) => [first, last] as const;

function readGroup({ task, handedOutAtMs, samples, outcome, folded, lengths }: Group, generations: number): ReadGroup {
  const group = freshGroup(taskOf(task as DrawnTask), generations);
  group.handedOutAtMs = handedOutAtMs ?? null;
  group.lengths = readLengths(lengths);
  for (const { sample, digest, result } of samplesOf(samples))
    [group.digests[sample], group.results[sample]] = [digest, result];
  if (outcome === undefined) return group;
  const { deviation = null, advantage = null } = outcome;
  group.closed = { ...sums(outcome), deviation, advantage };
  group.folded = folded;
  return group;
}

function readArm({
  issued,
  repeats,
  nextOrdinal,
  nextInLevels,
  groups,
  recent,
  folded,
  lengths,
}: ArmCounters): ReadArm {
  const tally = { ...sums(folded as RewardSums & typeof folded), groups: folded?.groups ?? 0 };
  const counted = { issued, repeats, nextOrdinal, nextInLevels, groups, recent: recent.map(sums), folded: tally };
  return { ...counted, lengths: readLengths(lengths) };
}

/** Returns the first part of a state. */
function headOf(bytes: Uint8Array): StateHead {
  const { part } = fromBinary(SavedRunSchema, bytes).parts[0] ?? {};
  if (part?.case !== "head" || part.value.format !== 6) throw new Error("a state of another format");
  return part.value;
}

/** Returns the incarnation and the version from a state's first part. */
export function readHead(bytes: Uint8Array): { readonly incarnation: string; readonly version: number } {
  const { incarnations, version } = headOf(bytes);
  return { incarnation: incarnations.at(-1) ?? "", version };
}

/** Returns numbers by arm. They stand whole, or in runs of many arms as changes from the numbers in `before`. */
export function wholeOf(numbers: ByArm | undefined, before?: readonly number[]): readonly number[] {
  if (numbers === undefined || (numbers.at.length > 0 && before === undefined))
    throw new Error("numbers by arm that are not told whole");
  if (before === undefined || numbers.all.length > 0) return numbers.all;
  const changed = new Map(numbers.at.map((arm, i) => [arm, numbers.to[i] ?? NaN]));
  return before.map((number, arm) => changed.get(arm) ?? number * numbers.scale);
}

function readBatch({ numGenerations: generations, toldBefore: told, ...batch }: Batch, last?: ReadBatch): ReadBatch {
  const { index, cursor, seq, epoch, drawnAtMs, frontiers, prompts } = batch;
  const before = told.case === "told" ? told.value : told.case === "previous" ? last : undefined;
  const probabilities = wholeOf(batch.probabilities, before?.probabilities);
  const lists = {
    probabilities,
    values: wholeOf(batch.values, before?.values as readonly number[] | undefined),
    groups: [],
    reserve: [],
  };
  return { index, cursor, seq, epoch, drawnAtMs, frontiers, prompts, generations, ...lists };
}

/** Reads a state. Leaves out the records of the history, which an export has behind the state. */
export function readState(bytes: Uint8Array): ReadRun {
  const arms: ReadArm[] = [];
  const batches: ReadBatch[] = [];
  const lists: ReadList[] = [];
  const issued: ReadRun["issued"] = [new Set(), new Set()];
  const memory = new Map<string, number>();
  for (const { part } of fromBinary(SavedRunSchema, bytes).parts) {
    const batch = batches.at(-1);
    if (part.case === "arm") arms.push(readArm(part.value));
    else if (part.case === "rowList") lists.push(readList(part.value));
    else if (part.case === "batch") batches.push(readBatch(part.value, batch));
    else if (part.case === "tasks") {
      batch?.groups.push(...part.value.groups.map((group) => readGroup(group, batch.generations)));
      batch?.reserve.push(...part.value.reserve.map(taskOf));
    } else if (part.case === "issued") {
      const digits = Buffer.from(part.value.packed).toString("hex");
      for (const [hash] of digits.matchAll(/.{16}/g)) issued[part.value.generation]?.add(hash);
    } else if (part.case === "memory") for (const { hash, record } of part.value.records) memory.set(hash, record);
  }
  const { config, configCreated, policy, policyState, masks, rolledBack, probabilities, remembers, ...head } =
    headOf(bytes);
  const { $typeName: _type, format: _format, journal: _made, ...plainHead } = head;
  return {
    ...plainHead,
    config: configOf(config),
    configCreated: configCreated === undefined ? null : configOf(configCreated),
    policy: JSON.parse(policy) as Data,
    policyState: JSON.parse(policyState) as Data,
    masks: masks.map(({ reason = null }) => reason),
    rolledBack: rolledBack.map(rangeOf),
    controlRolledBack: (head.controlRolledBack?.ranges ?? rolledBack).map(rangeOf),
    probabilities: probabilities.length === 0 ? null : probabilities,
    malformed: readMalformed(head.malformed),
    lists,
    arms,
    batches,
    issued,
    memory: remembers ? memory : null,
  };
}
