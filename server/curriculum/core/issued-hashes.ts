/**
 * The instances that a run has issued, by hash, so that it does not issue them again. Two generations of at most
 * 2^19 hashes: when the recent one is full it becomes the older one, and what was the older one is forgotten. So a run
 * remembers at least its last 524,288 instances in at most about 100 MB.
 *
 * Values never change, yet adding costs nothing per hash already there: generations share one growing log, and each
 * value knows how much of it counts. Adding to a value that is not the newest of its log copies it first.
 */

const GENERATION_MAX = 2 ** 19;

/** By the first two digits of the hash: a Map of half a million entries takes 60 ms in one go when it grows. */
type Positions = Map<string, number>[];
const POSITION_MAPS = 32;

interface Generation {
  readonly log: string[];
  readonly positions: Positions;
  /** How much of the log counts. */
  readonly count: number;
}

export interface IssuedHashes {
  readonly older: Generation;
  readonly recent: Generation;
}

function generation(hashes: readonly string[]): Generation {
  const { log, positions } = logged(hashes);
  return { log, positions, count: log.length };
}

/** A log that is filled some hashes at a time: half a million at once take a tenth of a second. */
export type HashLog = Omit<Generation, "count">;

export function logged(hashes: readonly string[], to: HashLog = { log: [], positions: [] }): HashLog {
  for (const hash of hashes) {
    (to.positions[mapOf(hash)] ??= new Map()).set(hash, to.log.length);
    to.log.push(hash);
  }
  return to;
}

function mapOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 2), 16) % POSITION_MAPS || 0;
}

function within({ positions, count }: Generation, hash: string): boolean {
  const position = positions[mapOf(hash)]?.get(hash);
  return position !== undefined && position < count;
}

export function issuedHashes(older: HashLog = logged([]), recent: HashLog = logged([])): IssuedHashes {
  return { older: { ...older, count: older.log.length }, recent: { ...recent, count: recent.log.length } };
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
  logged(fresh, own);
  return { older: issued.older, recent: { ...own, count: own.log.length } };
}
