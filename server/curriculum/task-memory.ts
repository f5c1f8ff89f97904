/**
 * What instances of a run came to, for filters that pass over what was solved or failed: by hash, of groups that draws
 * have folded in. Two generations of at most 2^17 outcomes, as of issued hashes: when the recent one is full it becomes
 * the older one, and what was the older one is forgotten. So at least the last 131,072 outcomes are remembered, in at
 * most about 60 MB.
 *
 * Values never change. Generations share one growing log, and each value knows how much of it counts; adding to a value
 * that is not the newest of its log copies it first.
 */
import type { RewardSums } from "./signals.ts";
import type { TaskFilter } from "./types.ts";

const GENERATION_MAX = 2 ** 17;

/** What an instance came to: solved by all samples the last time; else how many times in a row by none. */
const SOLVED = -1;

interface Entry {
  readonly hash: string;
  /** SOLVED, or how many times in a row it failed. */
  readonly record: number;
  /** Where the entry before of the same hash is; −1: nowhere. */
  readonly previous: number;
}

interface Generation {
  readonly log: Entry[];
  readonly latest: Map<string, number>;
  /** How much of the log counts. */
  readonly count: number;
}

export interface TaskMemory {
  readonly older: Generation;
  readonly recent: Generation;
}

/** A closed group's instance and what it came to. */
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

/** The record after one more group; what is not known to be solved or not leaves it. */
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

/** Whether a filter passes over an instance, given what is remembered and what groups after that came to. */
export function passesOver(
  { skipSolved, skipFailedAfter }: TaskFilter,
  memory: TaskMemory,
  groups: readonly Remembered[],
): (hash: string) => boolean {
  // Not added to the memory: a draw that is only planned changes nothing.
  const fresh = new Map<string, number>();
  for (const { hash, outcome } of groups)
    fresh.set(hash, recordAfter(fresh.get(hash) ?? recordOf(memory, hash), outcome));
  return (hash) => {
    const record = fresh.get(hash) ?? recordOf(memory, hash);
    return (skipSolved && record === SOLVED) || (skipFailedAfter > 0 && record >= skipFailedAfter);
  };
}

// As it is kept: what each hash came to, oldest first, of each generation.

export type TaskRecord = Pick<Entry, "hash" | "record">;

export function memoryRecords(memory: TaskMemory | null): readonly (readonly TaskRecord[])[] {
  return memory === null ? [] : [memory.older, memory.recent].map(({ log, count }) => log.slice(0, count));
}

export function memoryOf(older: readonly TaskRecord[], recent: readonly TaskRecord[]): TaskMemory {
  return { older: generation(older), recent: generation(recent) };
}
