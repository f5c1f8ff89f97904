/**
 * Remembers outcomes of instances by hash, for filters that skip solved or failed instances. There are two generations
 * of at most 2^17 outcomes. When the recent one is full, it becomes the older one, and the former older one is dropped.
 * So at least the last 131,072 outcomes are known, in at most about 60 MB. A TaskMemory object never changes. Adding
 * outcomes returns a new object that shares one growing log with the old one, as in issued-hashes.ts, and each counts
 * how many of the log's entries it includes. If outcomes were already added to an object, adding to it once more copies
 * the log first.
 */
import type { RewardSums } from "./advantages.ts";
import type { TaskFilter } from "./types.ts";

const GENERATION_MAX = 2 ** 17;

/**
 * Value of `record` for an instance whose last group had all samples solved. Other values count the last successive
 * groups without a solved sample.
 */
const SOLVED = -1;

interface Entry {
  readonly hash: string;
  /** SOLVED, or the number of successive groups without a solved sample. */
  readonly record: number;
  /** Index of the previous entry with the same hash. −1: none. */
  readonly previous: number;
}

interface Generation {
  readonly log: Entry[];
  readonly latest: Map<string, number>;
  /**
   * Number of entries, from the log's start, that belong to this generation. Later entries of the log were added for
   * newer objects that share the log.
   */
  readonly count: number;
}

export interface TaskMemory {
  readonly older: Generation;
  readonly recent: Generation;
}

/** Hash and outcome of a closed group's instance. */
export interface Remembered {
  readonly hash: string;
  readonly outcome: RewardSums;
}

function push({ log, latest }: Generation, hash: string, record: number): void {
  log.push({ hash, record, previous: latest.get(hash) ?? -1 });
  latest.set(hash, log.length - 1);
}

function generation(records: readonly TaskRecord[]): Generation {
  const made: Generation = { log: [], latest: new Map(), count: records.length };
  for (const { hash, record } of records) push(made, hash, record);
  return made;
}

export function taskMemory(): TaskMemory {
  return { older: generation([]), recent: generation([]) };
}

function recordIn({ log, latest, count }: Generation, hash: string): number | undefined {
  let at = latest.get(hash) ?? -1;
  while (at >= count) at = log[at]?.previous ?? -1;
  return log[at]?.record;
}

function recordOf({ older, recent }: TaskMemory, hash: string): number {
  return recordIn(recent, hash) ?? recordIn(older, hash) ?? 0;
}

/**
 * Returns the record of an instance (SOLVED, or its number of successive groups without a solved sample) after one more
 * group. If it is not known which samples are solved, the record is unchanged.
 */
function recordAfter(before: number, { count, solved }: RewardSums): number {
  if (count === 0 || solved === null) return before;
  if (solved === count) return SOLVED;
  return solved > 0 ? 0 : Math.max(0, before) + 1;
}

export function remember(memory: TaskMemory, groups: readonly Remembered[]): TaskMemory {
  let { older, recent } = memory;
  const isNewest = recent.log.length === recent.count;
  if (!isNewest) recent = generation(recent.log.slice(0, recent.count));
  for (const { hash, outcome } of groups) {
    const before = recordOf({ older, recent }, hash);
    const record = recordAfter(before, outcome);
    if (record === before) continue;
    if (recent.count === GENERATION_MAX) [older, recent] = [recent, generation([])];
    push(recent, hash, record);
    recent = { ...recent, count: recent.log.length };
  }
  return { older, recent };
}

/**
 * Returns a function that says whether the filter skips an instance, given the instance's hash. `groups` are closed
 * groups that the memory does not include yet, and count like those in the memory.
 */
export function passesOver(
  { skipSolved, skipFailedAfter }: TaskFilter,
  memory: TaskMemory,
  groups: readonly Remembered[],
): (hash: string) => boolean {
  // Newer groups are kept apart, because planning a draw must not change the memory.
  const fresh = new Map<string, number>();
  for (const { hash, outcome } of groups)
    fresh.set(hash, recordAfter(fresh.get(hash) ?? recordOf(memory, hash), outcome));
  return (hash) => {
    const record = fresh.get(hash) ?? recordOf(memory, hash);
    return (skipSolved && record === SOLVED) || (skipFailedAfter > 0 && record >= skipFailedAfter);
  };
}

// Stored form of a generation: one record after another, oldest first.

export type TaskRecord = Pick<Entry, "hash" | "record">;

export function memoryRecords(memory: TaskMemory | null): readonly (readonly TaskRecord[])[] {
  return memory === null ? [] : [memory.older, memory.recent].map(({ log, count }) => log.slice(0, count));
}

export function memoryOf(older: readonly TaskRecord[], recent: readonly TaskRecord[]): TaskMemory {
  return { older: generation(older), recent: generation(recent) };
}
