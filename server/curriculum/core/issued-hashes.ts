/**
 * The instances that a run has issued, by hash, so that it does not issue them again. Two generations of at most
 * 2^19 hashes: when the recent one is full it becomes the older one, and what was the older one is forgotten. So a run
 * remembers at least its last 524,288 instances in at most about 100 MB.
 *
 * Values never change, yet adding costs nothing per hash already there: generations share one growing log, and each
 * value knows how much of it counts. Adding to a value that is not the newest of its log copies it first.
 */
import { addTo, emptyLog, type HashLog, placeIn } from "./hash-log.ts";

const GENERATION_MAX = 2 ** 19;

interface Generation extends HashLog {
  /** How much of the log counts. */
  readonly count: number;
}

export interface IssuedHashes {
  readonly older: Generation;
  readonly recent: Generation;
}

function generation(hashes: readonly string[]): Generation {
  const log = emptyLog();
  addTo(log, hashes);
  return counting(log);
}

function counting({ log, places }: HashLog): Generation {
  return { log, places, count: log.length };
}

function within(generation: Generation, hash: string): boolean {
  const place = placeIn(generation, hash);
  return place !== -1 && place < generation.count;
}

export function issuedHashes(older: HashLog = emptyLog(), recent: HashLog = emptyLog()): IssuedHashes {
  return { older: counting(older), recent: counting(recent) };
}

export function isIssued({ older, recent }: IssuedHashes, hash: string): boolean {
  return within(recent, hash) || within(older, hash);
}

/** Whether it was issued since the generation of now began, in a pass over the same instances: since the pass began. */
export function isRecent({ recent }: IssuedHashes, hash: string): boolean {
  return within(recent, hash);
}

/** A generation begins: with each pass over the same instances, of which the older one then are those before. */
export function nextGeneration({ recent }: IssuedHashes): IssuedHashes {
  return { older: recent, recent: generation([]) };
}

/** The hashes of each generation, oldest first. */
export function hashLists({ older, recent }: IssuedHashes): readonly [readonly string[], readonly string[]] {
  return [older.log.slice(0, older.count), recent.log.slice(0, recent.count)];
}

export function addIssued(issued: IssuedHashes, hashes: readonly string[]): IssuedHashes {
  const fresh = [...new Set(hashes)].filter((hash) => !isRecent(issued, hash));
  if (fresh.length === 0) return issued;
  const { recent } = issued;
  if (recent.count + fresh.length > GENERATION_MAX) return { older: recent, recent: generation(fresh) };
  const own = recent.log.length === recent.count ? recent : generation(recent.log.slice(0, recent.count));
  addTo(own, fresh);
  return { older: issued.older, recent: counting(own) };
}
