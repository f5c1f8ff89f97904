/**
 * The instances that a run has issued, by hash, so that it does not issue them again. Two generations of at most
 * 2^19 hashes: when the recent one is full it becomes the older one, and what was the older one is forgotten. So a run
 * remembers at least its last 524,288 instances in at most about 100 MB.
 *
 * Values never change, yet adding costs nothing per hash already there: generations share one growing log, and each
 * value knows how much of it counts. Adding to a value that is not the newest of its log copies it first.
 */
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

// Hashes in the order in which they were added, and where each of them stands. Maps of strings were a seventh of the time in
// which a run of a million samples is read back: this is quicker by two fifths, takes 12 to 24 bytes beside each hash, and
// grows in a few milliseconds.

export interface HashLog {
  readonly log: string[];
  readonly places: Places;
}

/** Open addressing: a slot has a place in the log and 1, or 0. */
interface Places {
  slots: Int32Array;
  /** By place in the log: the code of what stands there, so that growing reads no string. */
  codes: Int32Array;
}

const SLOTS_MIN = 64;

export function emptyLog(): HashLog {
  return { log: [], places: { slots: new Int32Array(SLOTS_MIN), codes: new Int32Array(SLOTS_MIN / 2) } };
}

/** FNV-1a, and what Murmur3 does last, for the low bits of FNV alone are of the last digits. */
function codeOf(hash: string): number {
  let code = 0x811c9dc5;
  for (let i = 0; i < hash.length; i++) code = Math.imul(code ^ hash.charCodeAt(i), 0x01000193);
  code = Math.imul(code ^ (code >>> 16), 0x85ebca6b);
  return code ^ (code >>> 13);
}

/** The slot that a hash has, or the free one that it would have. */
function slotOf({ log, places: { slots, codes } }: HashLog, hash: string, code: number): number {
  const mask = slots.length - 1;
  for (let slot = code & mask; ; slot = (slot + 1) & mask) {
    const place = (slots[slot] as number) - 1;
    if (place === -1 || (codes[place] === code && log[place] === hash)) return slot;
  }
}

/** Twice as many slots: of half a million hashes some ten milliseconds. */
function grow(places: Places): void {
  const slots = new Int32Array(2 * places.slots.length);
  const codes = new Int32Array(slots.length / 2);
  codes.set(places.codes);
  const mask = slots.length - 1;
  for (const place of places.slots) {
    if (place === 0) continue;
    let slot = (codes[place - 1] as number) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = place;
  }
  Object.assign(places, { slots, codes });
}

/** Adds hashes at the end. One that is there already is found at its new place from now on. */
export function addTo(to: HashLog, hashes: readonly string[]): void {
  for (const hash of hashes) {
    if (to.log.length === to.places.codes.length) grow(to.places);
    const code = codeOf(hash);
    const slot = slotOf(to, hash, code);
    to.places.codes[to.log.length] = code;
    to.log.push(hash);
    to.places.slots[slot] = to.log.length;
  }
}

/** Where a hash stands; −1: nowhere. */
function placeIn(log: HashLog, hash: string): number {
  return (log.places.slots[slotOf(log, hash, codeOf(hash))] as number) - 1;
}
