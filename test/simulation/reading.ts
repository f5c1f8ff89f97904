/** Types and helpers of the reader of journals (reader.ts): its result, and its lookups in a run. */
import {
  type Data,
  type Row,
  UNSAID,
  type ReadTask,
  type ReadGroup,
  type ReadBatch,
  type ReadArm,
  type Config,
  type ReadRun,
} from "./reader-state.ts";

/** A sample as an event recorded it. */
export interface Entry {
  readonly cursor: number;
  readonly sample: number;
  readonly digest: string;
  readonly result: Data;
}

/** History of a run under one of its incarnations. */
export interface Segment {
  readonly incarnation: string;
  /** Number of the segment's first event, from 0. */
  readonly from: number;
  /** Set for an import: the incarnation whose state was restored, and the number of its events. */
  readonly base: { readonly incarnation: string; readonly version: number } | undefined;
  /** Set for an import: whether the existing run kept its control. */
  readonly keepsControl: boolean;
  readonly entries: Entry[];
  /** Groups with reported advantages. */
  readonly reported: Row[];
  readonly closed: number[];
  readonly reopened: number[];
  /** Tasks that may be given out under this incarnation, by cursor, including those that it took over. */
  readonly tasks: Map<number, ReadTask>;
  /** Number of groups to train on, by update batch. */
  readonly prompts: Map<number, number>;
}

/** Returns the instance's hash from a task's key, which the source of the tasks wrote. */
export type HashOf = (key: Data) => string;

/** Returns the hash in keys of the tests' source. */
export const firstOf: HashOf = (key) => (key as readonly string[])[0] ?? "";

/** Returns the hash in keys of the server's source, which writes it in base64url. */
export const shortened: HashOf = (key) => Buffer.from(firstOf(key), "base64url").toString("hex");

export interface Reading {
  readonly run: ReadRun;
  readonly segments: readonly Segment[];
  /** Faults that no sound journal has, such as a sample that is recorded twice. */
  readonly faults: readonly string[];
}

export interface Reader {
  readonly hashOf: HashOf;
  run: ReadRun;
  readonly segments: Segment[];
  readonly faults: string[];
  /** Places of the rows that were drawn, by arm and pass. */
  readonly inPass: Map<string, Set<number>>;
}

export function segment(
  incarnation: string,
  from: number,
  base: Segment["base"],
  state?: ReadRun,
  keepsControl = false,
): Segment {
  const tasks = new Map<number, ReadTask>(state === undefined ? [] : groupsOf(state));
  const prompts = new Map(state?.batches.map((batch) => [batch.index, batch.prompts]));
  return { incarnation, from, base, keepsControl, entries: [], reported: [], closed: [], reopened: [], tasks, prompts };
}

export function lastOf({ segments }: Reader): Segment {
  return segments.at(-1) as Segment;
}

export function groupsOf(run: ReadRun): Map<number, ReadGroup> {
  return new Map(run.batches.flatMap(({ cursor, groups }) => groups.map((group, i) => [cursor + i, group])));
}

/** Returns the batch in which a cursor lies. The reader never drops batches, but an imported state may begin late. */
export function batchAt({ batches }: ReadRun, cursor: number): ReadBatch | undefined {
  // Mostly the batch is one of the last.
  return batches.findLast((batch) => batch.cursor <= cursor);
}

export function groupAt(run: ReadRun, cursor: number): ReadGroup | undefined {
  const batch = batchAt(run, cursor);
  return batch?.groups[cursor - batch.cursor];
}

/** Returns whether a policy has one of the names. */
export function isOf(policy: Data, ...names: readonly string[]): boolean {
  return names.includes((policy as Config)["name"] as string);
}

/** Policies that learn. The last one is from examples/policies, which runs of the tests use. */
const LEARNING = ["bandit", "competence", "frontier", "weakest-part"] as const;

/**
 * Returns whether groups are folded in: under policies that learn, filters that look back, and arms that choose their
 * rows.
 */
export function takesFeedback({ policy, config }: Pick<ReadRun, "policy" | "config">): boolean {
  return isOf(policy, ...LEARNING) || looksBack(policy) || armsOf(config).some((arm) => arm["rows"] !== undefined);
}

export function looksBack(policy: Data): boolean {
  const filter = (policy as Config)["filter"] as Config | undefined;
  return filter?.["skip_solved"] === true || Number(filter?.["skip_failed_after"] ?? 0) > 0;
}

export const noArm = (): ReadArm => ({
  issued: 0,
  repeats: 0,
  nextOrdinal: 0,
  nextInLevels: [],
  groups: 0,
  recent: [],
  folded: { groups: 0, count: 0, sum: 0, solved: 0 },
  lengths: [0, 0, 0, 0],
});

export function armsOf(config: Config): readonly Config[] {
  return config["arms"] as readonly Config[];
}

/** Returns whether a policy is a bandit with moving averages only, whose state is its values. */
export function isAverages(policy: Data): boolean {
  const { ema_softmax: softmax, signal, rescale } = (policy as Config)["parameters"] as Config;
  return softmax !== undefined && signal !== "BANDIT_SIGNAL_LEARNING_PROGRESS" && rescale === undefined;
}

/** Returns a policy's state before its first draw, if that state is plain. */
export function firstState(policy: Data, arms: number, prompts: number): Data {
  if (isOf(policy, "mixture")) return null;
  if (isOf(policy, "staged", "forgetting")) return [0, prompts];
  return isAverages(policy) ? new Array<number>(arms).fill(0) : UNSAID;
}

export function issue(run: ReadRun, { arm, repeat }: ReadTask): void {
  const counters = run.arms[arm] as ReadArm;
  counters.issued++;
  counters.repeats += Number(repeat);
}
