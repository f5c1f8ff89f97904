/**
 * Set of the hashes of issued instances, so that a run does not issue one again. It has two generations of at most 2^19
 * hashes. When the recent one is full, it becomes the older one, and the former older one is dropped. So at least the
 * last 524,288 instances are known, in at most 20 MB. An IssuedHashes object never changes. Adding hashes returns a new
 * object and usually copies nothing: both objects share one growing log, and each counts how many of the log's hashes
 * it includes. If hashes were already added to an object, adding to it once more copies the log first.
 */
import { hashKey, mix } from "../../envs/lib/rng.ts";

const GENERATION_MAX = 2 ** 19;

/** Number of bytes of a hash: 16 hex digits, stored as two 32-bit numbers. */
export const HASH_BYTES = 8;
/** Number of hashes in each page of a HashLog, the growing list of the hashes of issued instances. */
const PAGE = 4096;
/**
 * Initial number of slots of the hash table. The table grows, so that it always has at least two slots for each hash.
 */
const SLOTS_MIN = 64;

/**
 * List of different hashes in the order in which they were added, with an open-addressed hash table that finds a hash's
 * position.
 */
export interface HashLog {
  length: number;
  readonly pages: Uint32Array[];
  /** Hash table: each slot holds a hash's position + 1. 0: the slot is free. */
  slots: Int32Array;
}

export function hashLog(): HashLog {
  return { length: 0, pages: [], slots: new Int32Array(SLOTS_MIN) };
}

/**
 * Returns a hash as two 32-bit numbers. A text that is not 16 hex digits is hashed first; this occurs only in tests and
 * in journals written by hand.
 */
function wordsOf(hash: string): readonly [number, number] {
  const digits = /^[0-9a-f]{16}$/.test(hash) ? hash : hashKey(hash);
  return [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8, 16), 16)];
}

const highAt = ({ pages }: HashLog, position: number): number =>
  pages[Math.floor(position / PAGE)]?.[2 * (position % PAGE)] ?? 0;

const lowAt = ({ pages }: HashLog, position: number): number =>
  pages[Math.floor(position / PAGE)]?.[2 * (position % PAGE) + 1] ?? 0;

/**
 * Returns the table slot of a hash, or the free slot where it belongs. The bits are mixed first, because simulations
 * use consecutive numbers as hashes.
 */
function slotOf(log: HashLog, high: number, low: number): number {
  const mask = log.slots.length - 1;
  for (let slot = mix(mix(high) ^ low) & mask; ; slot = (slot + 1) & mask) {
    const position = (log.slots[slot] ?? 0) - 1;
    if (position < 0 || (highAt(log, position) === high && lowAt(log, position) === low)) return slot;
  }
}

function put(log: HashLog, high: number, low: number): void {
  const slot = slotOf(log, high, low);
  if (log.slots[slot] !== 0) return;
  const page = (log.pages[Math.floor(log.length / PAGE)] ??= new Uint32Array(2 * PAGE));
  page[2 * (log.length % PAGE)] = high;
  page[2 * (log.length % PAGE) + 1] = low;
  log.slots[slot] = ++log.length;
  if (2 * log.length > log.slots.length) grow(log);
}

function grow(log: HashLog): void {
  log.slots = new Int32Array(2 * log.slots.length);
  for (let position = 0; position < log.length; position++)
    log.slots[slotOf(log, highAt(log, position), lowAt(log, position))] = position + 1;
}

export function addHash(log: HashLog, hash: string): void {
  put(log, ...wordsOf(hash));
}

function dataOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

export function addPacked(log: HashLog, packed: Uint8Array): void {
  const view = dataOf(packed);
  for (let at = 0; at < packed.length; at += HASH_BYTES) put(log, view.getUint32(at), view.getUint32(at + 4));
}

/** Returns the hashes at positions `from` to `to` − 1, packed in 8 bytes each. */
function packedOf(log: HashLog, from: number, to: number): Uint8Array {
  const packed = new Uint8Array(HASH_BYTES * (to - from));
  const view = dataOf(packed);
  for (let position = from; position < to; position++) {
    const at = HASH_BYTES * (position - from);
    view.setUint32(at, highAt(log, position));
    view.setUint32(at + 4, lowAt(log, position));
  }
  return packed;
}

interface Generation {
  readonly log: HashLog;
  /**
   * Number of hashes, from the log's start, that belong to this generation. Later hashes of the log were added for
   * newer objects that share the log.
   */
  readonly count: number;
}

export interface IssuedHashes {
  readonly older: Generation;
  readonly recent: Generation;
}

/** Returns a generation that includes all hashes of the log. */
function generation(log = hashLog()): Generation {
  return { log, count: log.length };
}

function within({ log, count }: Generation, hash: string): boolean {
  const position = (log.slots[slotOf(log, ...wordsOf(hash))] ?? 0) - 1;
  return position >= 0 && position < count;
}

export function issuedHashes(older = hashLog(), recent = hashLog()): IssuedHashes {
  return { older: generation(older), recent: generation(recent) };
}

export function isIssued({ older, recent }: IssuedHashes, hash: string): boolean {
  return within(recent, hash) || within(older, hash);
}

/**
 * Returns whether the hash is in the recent generation. If the policy repeats the same instances in passes, this
 * generation holds the hashes of the current pass.
 */
export function isRecent({ recent }: IssuedHashes, hash: string): boolean {
  return within(recent, hash);
}

/**
 * Starts a new generation. If the policy repeats instances in passes, each pass starts one, so that the older
 * generation is the previous pass.
 */
export function nextGeneration({ recent }: IssuedHashes): IssuedHashes {
  return { older: recent, recent: generation() };
}

/**
 * Yields all hashes, oldest first, in pieces of at most `size` hashes with 8 bytes each. `generation` is 0 for pieces
 * of the older generation and 1 for the recent one.
 */
export function* packedHashes({ older, recent }: IssuedHashes, size: number) {
  for (const [number, { log, count }] of [older, recent].entries())
    for (let from = 0; from < count; from += size)
      yield { generation: number, packed: packedOf(log, from, Math.min(count, from + size)) };
}

export function addIssued(issued: IssuedHashes, hashes: readonly string[]): IssuedHashes {
  const fresh = [...new Set(hashes)].filter((hash) => !isRecent(issued, hash));
  if (fresh.length === 0) return issued;
  const isFull = issued.recent.count + fresh.length > GENERATION_MAX;
  const log = isFull ? hashLog() : newestLog(issued.recent);
  for (const hash of fresh) addHash(log, hash);
  return { older: isFull ? issued.recent : issued.older, recent: generation(log) };
}

/**
 * Returns the generation's log, if no newer object has added hashes to it. Otherwise returns a copy of the log with
 * only the generation's hashes.
 */
function newestLog({ log, count }: Generation): HashLog {
  if (log.length === count) return log;
  const copy = hashLog();
  addPacked(copy, packedOf(log, 0, count));
  return copy;
}
