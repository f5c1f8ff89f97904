/**
 * An independent reader of a run's state as text. It is written from the format's description at the head of
 * server/curriculum/core/state-text.ts and codec.ts, and shares no code with them.
 */

// What is read is only compared and counted: no shape is checked beyond what that needs.
export type Data = null | boolean | number | string | readonly Data[] | { readonly [name: string]: Data };
export type Row = readonly Data[];

/** What is not said by any event, such as what a policy keeps of its state when it is changed: it is not compared. */
export const UNSAID = "(unsaid)";

/** What some rewards came to. */
export interface Sums {
  readonly count: number;
  readonly sum: number;
  readonly solved: number | null;
}

/** What a closed group came to. */
export interface ReadOutcome extends Sums {
  /** The rewards' standard deviation; null: not known. */
  readonly deviation: number | null;
  /** The mean size of its advantages; null: it has none. */
  readonly advantage: number | null;
}

export interface ReadTask {
  readonly arm: number;
  readonly ordinal: number;
  readonly key: Data;
  readonly repeat: boolean;
}

export interface ReadGroup extends ReadTask {
  handedOutAtMs: number | null;
  /** By sample_index. */
  readonly digests: (string | null)[];
  /** By sample_index, as in the journal: a reward, [reward] of a solved sample, a reason. */
  readonly results: (Data | null)[];
  /** Undefined: open. */
  closed: ReadOutcome | undefined;
  folded: boolean;
}

export interface ReadBatch {
  readonly index: number;
  readonly cursor: number;
  seq: number;
  readonly epoch: number;
  readonly drawnAtMs: number;
  readonly probabilities: Data;
  readonly values: Data;
  readonly prompts: number;
  readonly generations: number;
  readonly groups: ReadGroup[];
  readonly reserve: ReadTask[];
}

export interface ReadArm {
  issued: number;
  repeats: number;
  nextOrdinal: number;
  groups: number;
  recent: readonly Sums[];
  folded: Sums & { readonly groups: number };
}

export type Config = { readonly [name: string]: Data };

export interface ReadRun {
  runId: string;
  version: number;
  /** As it is written. */
  config: Config;
  /** Null: as it is now. */
  configCreated: Config | null;
  createdAtMs: number;
  policy: Data;
  policyState: Data;
  weights: readonly number[];
  masks: readonly (string | null)[];
  paused: boolean;
  incarnations: readonly string[];
  epoch: number;
  rolledBack: readonly (readonly [number, number])[];
  cursor: number;
  prompts: number;
  handedOut: number;
  batchesDrawn: number;
  batchesClosed: number;
  batchesFolded: number;
  samplesRecorded: number;
  probabilities: Data;
  arms: ReadArm[];
  batches: ReadBatch[];
  /** Hashes of the instances that were issued: those of the generation before, and those of the one of now. */
  issued: [Set<string>, Set<string>];
  /** What instances came to: −1 solved by all, else how often in a row by none; null: no filter asks. */
  memory: Map<string, number> | null;
  nextSeq: number;
}

/** The rewards of results in order of sample_index. */
export function rewardsOf(results: Row): readonly number[] {
  return results.flatMap((result) => {
    if (result === null || typeof result === "string") return [];
    return [Number(Array.isArray(result) ? result[0] : result)];
  });
}

/** What results came to. RLOO: each reward less the mean of the others. */
export function outcomeOf(results: Row): ReadOutcome {
  const rewards = rewardsOf(results);
  const count = rewards.length;
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  const solved = results.filter((result) => Array.isArray(result)).length;
  const mean = count === 0 ? 0 : sum / count;
  const alike = rewards.every((reward) => reward === rewards[0]);
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

/** Whether an update learns nothing from a group (contract: DynamicSampling). */
export function isUseless({ count, solved, deviation, advantage }: ReadOutcome, alike: Data): boolean {
  if (alike === "solved") return count < 2 || solved === 0 || solved === count;
  if (deviation === null) return advantage === null || advantage === 0;
  return count < 2 || deviation === 0;
}

/** Which groups are useless under a configuration. */
export function alikeOf(config: Config): Data {
  const sampling = config["dynamicSampling"] as Config | null;
  return sampling?.["alike"] ?? "rewards";
}

export function taskOf(row: Data): ReadTask {
  const [arm, ordinal, key = null, repeat] = row as Row;
  return { arm: Number(arm), ordinal: Number(ordinal), key, repeat: repeat === 1 };
}

export function freshGroup(task: ReadTask, generations: number): ReadGroup {
  const none = (): null[] => new Array<null>(generations).fill(null);
  return { ...task, handedOutAtMs: null, digests: none(), results: none(), closed: undefined, folded: false };
}

/** Where each sample of a group stands, in the three columns that events and states write it in. */
export function samplesOf([places = null, digests = null, results = null]: Row) {
  const [texts, values] = typeof digests === "string" ? [[digests], [results]] : [digests as Row, results as Row];
  return texts.map((digest, i) => ({
    sample: Array.isArray(places) ? Number(places[i]) : Number(places) + i,
    digest: digest as string,
    result: values[i] as Data,
  }));
}

function sums(row: Row): Sums {
  return { count: Number(row[0]), sum: Number(row[1]), solved: row[2] as number | null };
}

function readGroup(row: Row, generations: number): ReadGroup {
  const [task = null, handedOutAtMs, places, digests, results, outcome] = row;
  const group = freshGroup(taskOf(task), generations);
  group.handedOutAtMs = handedOutAtMs as number | null;
  for (const { sample, digest, result } of samplesOf([places ?? null, digests ?? null, results ?? null]))
    [group.digests[sample], group.results[sample]] = [digest, result];
  if (outcome === undefined) return group;
  const [, , , deviation, advantage, folded] = outcome as Row;
  group.closed = {
    ...sums(outcome as Row),
    deviation: deviation as number | null,
    advantage: advantage as number | null,
  };
  group.folded = folded === true;
  return group;
}

function readArm(row: Row): ReadArm {
  const [issued, repeats, nextOrdinal, groups, recent, folded] = row;
  const [foldedGroups, ...foldedSums] = folded as Row;
  return {
    issued: Number(issued),
    repeats: Number(repeats),
    nextOrdinal: Number(nextOrdinal),
    groups: Number(groups),
    recent: (recent as readonly Row[]).map(sums),
    folded: { groups: Number(foldedGroups), ...sums(foldedSums) },
  };
}

/** What a state says of itself in its first line. */
export function readHead(text: string): { readonly incarnation: string; readonly version: number } {
  const head = JSON.parse(text.split("\n", 1)[0] ?? "") as Pick<ReadRun, "incarnations" | "version">;
  return { incarnation: head.incarnations.at(-1) ?? "", version: head.version };
}

function readBatch(row: Row): ReadBatch {
  const [index = 0, cursor = 0, seq = 0, epoch = 0, drawnAtMs = 0] = row.slice(0, 5).map(Number);
  const [prompts = 0, generations = 0] = row.slice(7, 9).map(Number);
  const lists = { probabilities: row[5] ?? null, values: row[6] ?? null, groups: [], reserve: [] };
  return { index, cursor, seq, epoch, drawnAtMs, prompts, generations, ...lists };
}

/** Reads a state. Lines of the history, which an export has behind it, are left out. */
export function readState(text: string): ReadRun {
  const [first = "", ...lines] = text.split("\n");
  const {
    arms,
    batches: _count,
    issued: _counts,
    memory: remembers,
    format,
    journal: _made,
    ...plain
  } = JSON.parse(first) as Config;
  if (format !== 4) throw new Error(`a state of format ${JSON.stringify(format)}`);
  const head = plain as unknown as Omit<ReadRun, "arms" | "batches" | "issued" | "memory">;
  const batches: ReadBatch[] = [];
  const issued: ReadRun["issued"] = [new Set(), new Set()];
  const memory = new Map<string, number>();
  for (const line of lines) {
    const [kind, ...rest] = line === "" ? ["history"] : (JSON.parse(line) as Row);
    const batch = batches.at(-1);
    if (kind === "batch") batches.push(readBatch(rest));
    else if (kind === "groups") batch?.groups.push(...rest.map((row) => readGroup(row as Row, batch.generations)));
    else if (kind === "reserve") batch?.reserve.push(...rest.map(taskOf));
    else if (kind === "issued") for (const hash of (rest[1] as string).split(" ")) issued[Number(rest[0])]?.add(hash);
    else if (kind === "memory") {
      const words = (rest[1] as string).split(" ");
      for (let i = 0; i + 1 < words.length; i += 2) memory.set(words[i] ?? "", Number(words[i + 1]));
    }
  }
  const kept = remembers === undefined ? null : memory;
  return { ...head, arms: (arms as readonly Row[]).map(readArm), batches, issued, memory: kept };
}
