/**
 * The instances that a run has issued, by hash, so that it does not issue them again. Two generations of at most
 * 2^19 hashes: when the recent one is full it becomes the older one, and what was the older one is forgotten. So a run
 * remembers at least its last 524,288 instances in at most 20 MB.
 *
 * Values never change, yet adding costs nothing per hash already there: generations share one growing log, and each
 * value knows how much of it counts. Adding to a value that is not the newest of its log copies it first.
 */
import { hashKey, mix } from "../../envs/lib/rng.ts";

const GENERATION_MAX = 2 ** 19;

/** Of a hash: 16 hex digits, kept as two numbers. */
export const HASH_BYTES = 8;
/** Hashes that a log grows by at a time. */
const PAGE = 4096;
/** Of a log that is empty; it has at least two for each hash. */
const SLOTS_MIN = 64;

/** Hashes in the order in which they were added, each once; where each stands is looked up in an open table. */
export interface HashLog {
  length: number;
  readonly pages: Uint32Array[];
  /** Positions and one more; 0: free. */
  slots: Int32Array;
}

export function hashLog(): HashLog {
  return { length: 0, pages: [], slots: new Int32Array(SLOTS_MIN) };
}

/** The two numbers of a hash. Of a text that is none, which only tests and journals written by hand have, its own. */
function wordsOf(hash: string): readonly [number, number] {
  const digits = /^[0-9a-f]{16}$/.test(hash) ? hash : hashKey(hash);
  return [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8, 16), 16)];
}

const highAt = ({ pages }: HashLog, position: number): number =>
  pages[Math.floor(position / PAGE)]?.[2 * (position % PAGE)] ?? 0;

const lowAt = ({ pages }: HashLog, position: number): number =>
  pages[Math.floor(position / PAGE)]?.[2 * (position % PAGE) + 1] ?? 0;

/** The slot of a hash, or the free one where it belongs. Mixed, for those of a simulation are numbers in order, alike in each arm. */
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

/** Adds hashes of 8 bytes each. */
export function addPacked(log: HashLog, packed: Uint8Array): void {
  const view = dataOf(packed);
  for (let at = 0; at < packed.length; at += HASH_BYTES) put(log, view.getUint32(at), view.getUint32(at + 4));
}

/** The hashes from one position to before another, 8 bytes each. */
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
  /** How much of the log counts. */
  readonly count: number;
}

export interface IssuedHashes {
  readonly older: Generation;
  readonly recent: Generation;
}

/** All of a log. */
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

/** Whether it was issued since the generation of now began, in a pass over the same instances: since the pass began. */
export function isRecent({ recent }: IssuedHashes, hash: string): boolean {
  return within(recent, hash);
}

/** A generation begins: with each pass over the same instances, of which the older one then are those before. */
export function nextGeneration({ recent }: IssuedHashes): IssuedHashes {
  return { older: recent, recent: generation() };
}

/** All hashes, oldest first, so many at a time: 8 bytes each, and the generation's number. */
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

/** A generation's log, where all of it counts; else a copy of what does. */
function newestLog({ log, count }: Generation): HashLog {
  if (log.length === count) return log;
  const copy = hashLog();
  addPacked(copy, packedOf(log, 0, count));
  return copy;
}
