/**
 * Rows of a data pool as columns: typed arrays rather than an object for each row, so that millions of rows take some
 * forty bytes each beside their instance, and go from thread to thread without being copied.
 */
import type { Environment, RowReader, Split } from "./environment.ts";
import { instanceHash, splitOf } from "./splits.ts";

export const POOL_SPLITS: readonly Split[] = ["train", "eval", "bench"];

/** A row as it is in its file. */
export interface RawRow {
  /** Its place in the unit, from 0. */
  readonly row: number;
  /** Its JSON, if it is to be parsed; else its value. White space alone is passed over. */
  readonly json?: string;
  readonly value?: unknown;
}

/** Why a row holds no task. */
interface Rejection {
  readonly row: number;
  readonly reason: string;
}

/** Rows of a unit of a file that hold tasks, in the file's order. Each list has a place for each of them. */
export interface UnitColumns {
  /** How many rows the unit has, those without a task included. */
  readonly rowsRead: number;
  /** Places in the unit. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** Two places for each: the upper and the lower half of the hash. */
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Indices of the environment's levels. */
  readonly levels: Uint8Array<ArrayBuffer>;
  /** Indices of POOL_SPLITS. */
  readonly splits: Uint8Array<ArrayBuffer>;
  /** NaN where the environment knows none. */
  readonly difficulties: Float64Array<ArrayBuffer>;
  /** Where each instance ends in the bytes. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rejected: number;
  /** The first few. */
  readonly rejections: readonly Rejection[];
}

/** The rows of a pool. Each list but the last two has a place for each row, in the file's order. */
export interface PoolColumns {
  /** Rows of the file, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly hashes: Uint32Array<ArrayBuffer>;
  /** Level and split: index of the level times three, and index of the split. */
  readonly groups: Uint8Array<ArrayBuffer>;
  /** How many rows of its group are easier; empty where the environment knows no difficulty. */
  readonly ranks: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Places of the rows of group 0 in the file's order, then of group 1, and so on. */
  readonly members: Uint32Array<ArrayBuffer>;
  /** Where each group begins in the members; one more place than there are groups. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

export interface PoolSummary {
  /** Rows that hold no task, or one that came before. */
  readonly rejected: number;
  /** Why, for the first few of them, e.g. "line 3: not JSON". */
  readonly reasons: readonly string[];
  /** Rows that the pool's selection leaves out. */
  readonly leftOut: number;
}

export interface FinishedPool {
  readonly columns: PoolColumns;
  readonly summary: PoolSummary;
}

/** Reasons kept: enough to see what is wrong with a file. */
const REASONS_MAX = 5;

/** Rows [from, to) of the file; with a split they are of it, whatever their hash. */
export interface RowRange {
  readonly from: number;
  /** Infinity: to the end. */
  readonly to: number;
  readonly split: Split | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What the bytes of an instance begin with. */
const INLINE = 0;
const JSON_ROW = 1;

/** Instances one after the other, in a buffer that grows. */
class InstanceBytes {
  #bytes = new Uint8Array(1 << 16);
  #at = 0;

  /** The offset past what was added. */
  add(kind: number, bytes: Uint8Array): number {
    const end = this.#at + 1 + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#at] = kind;
    this.#bytes.set(bytes, this.#at + 1);
    return (this.#at = end);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at);
  }
}

/** Reads the rows of a unit into columns. A row that is not JSON, not a task or of no level is rejected and counted. */
export function readUnit<Instance>(environment: Environment<Instance>, rows: Iterable<RawRow>): UnitColumns {
  const reader = environment.rows;
  if (reader === undefined) throw new Error(`${environment.id} has no data pools`);
  const levels = new Map(environment.levels.map(({ name }, i) => [name, i]));
  const lists = { rows: [] as number[], hashes: [] as number[], levels: [] as number[], splits: [] as number[] };
  const [difficulties, ends]: [number[], number[]] = [[], []];
  const instances = new InstanceBytes();
  const rejections: Rejection[] = [];
  let rejected = 0;
  let rowsRead = 0;
  for (const raw of rows) {
    rowsRead = raw.row + 1;
    if (raw.json?.trim() === "") continue;
    const read = readRow(reader, raw);
    const level = "reason" in read ? -1 : (levels.get(reader.levelOf(read.instance) ?? "") ?? -1);
    if ("reason" in read || level < 0) {
      if (rejected++ < REASONS_MAX)
        rejections.push({ row: raw.row, reason: "reason" in read ? read.reason : "of no level" });
      continue;
    }
    const { instance } = read;
    const hash = instanceHash(environment, instance);
    lists.rows.push(raw.row);
    lists.hashes.push(parseInt(hash.slice(0, 8), 16), parseInt(hash.slice(8), 16));
    lists.levels.push(level);
    lists.splits.push(POOL_SPLITS.indexOf(splitOf(environment, instance)));
    difficulties.push(reader.difficulty?.(instance) ?? NaN);
    const inline = environment.inline?.encode(instance);
    const json = (): Uint8Array => encoder.encode(raw.json ?? JSON.stringify(raw.value));
    ends.push(inline === undefined ? instances.add(JSON_ROW, json()) : instances.add(INLINE, inline));
  }
  return {
    ...{ rowsRead, rejected, rejections },
    rows: Uint32Array.from(lists.rows),
    hashes: Uint32Array.from(lists.hashes),
    levels: Uint8Array.from(lists.levels),
    splits: Uint8Array.from(lists.splits),
    difficulties: Float64Array.from(difficulties),
    ends: Uint32Array.from(ends),
    bytes: instances.done(),
  };
}

type ReadRow<Instance> = { readonly instance: Instance } | { readonly reason: string };

function readRow<Instance>(reader: RowReader<Instance>, { json, value }: RawRow): ReadRow<Instance> {
  let row = value;
  if (json !== undefined)
    try {
      row = JSON.parse(json);
    } catch (error) {
      return { reason: `not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}` };
    }
  const read = reader.read(row);
  return read.kind === "malformed" ? { reason: read.reason } : { instance: read.answer };
}

/** The instance in bytes that readUnit wrote. */
export function decodeInstance<Instance>(environment: Environment<Instance>, bytes: Uint8Array): Instance {
  const content = bytes.subarray(1);
  if (bytes[0] === INLINE && environment.inline !== undefined) return environment.inline.decode(content);
  const read = environment.rows?.read(JSON.parse(decoder.decode(content)));
  if (read?.kind !== "answer")
    throw new Error(`bug: a row of ${environment.id} that was read once cannot be read again`);
  return read.answer;
}

/** How the rows of a file are called in reasons. */
export type RowName = (row: number) => string;

export const lineName: RowName = (row) => `line ${row + 1}`;
export const rowName: RowName = (row) => `row ${row}`;

/**
 * Puts the units of a file together, in their order: rows that the selection leaves out and tasks that came before go,
 * and each row is ranked within its level and split.
 */
export function finishPool(
  environment: Environment,
  units: readonly UnitColumns[],
  selection: readonly RowRange[],
  nameOf: RowName,
): FinishedPool {
  const sizes = units.map(({ rows }) => rows.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const kept = keepRows(units, total, selection, nameOf);
  const { count } = kept;
  const groupCount = environment.levels.length * POOL_SPLITS.length;
  const { members, starts } = membersOf(kept.groups, groupCount, count);
  const ranks = rankRows(kept.difficulties, kept.hashes, members, starts);
  const columns: PoolColumns = {
    rows: kept.rows.slice(0, count),
    hashes: kept.hashes.slice(0, 2 * count),
    groups: kept.groups.slice(0, count),
    ranks,
    ends: kept.ends.slice(0, count),
    bytes: kept.bytes.slice(0, kept.ends[count - 1] ?? 0),
    members,
    starts,
  };
  return { columns, summary: kept.summary };
}

/** Rows that stay, in columns with room for all. */
function keepRows(units: readonly UnitColumns[], total: number, selection: readonly RowRange[], nameOf: RowName) {
  const byteCount = units.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (byteCount >= 2 ** 32)
    throw new Error(`a pool's instances take ${byteCount} bytes, and the limit is 4 GiB: split it`);
  const rows = new Uint32Array(total);
  const hashes = new Uint32Array(2 * total);
  const groups = new Uint8Array(total);
  const difficulties = new Float64Array(total);
  const ends = new Uint32Array(total);
  const bytes = new Uint8Array(byteCount);
  const seen = hashTable(hashes, total);
  const reasons: string[] = [];
  let [count, end, first, rejected, leftOut] = [0, 0, 0, 0, 0];
  for (const unit of units) {
    const rejections = unit.rejections.map(({ row, reason }) => ({ row: first + row, reason }));
    rejected += unit.rejected;
    for (let i = 0; i < unit.rows.length; i++) {
      const row = first + unit.rows[i]!;
      const range = rangeOf(selection, row);
      if (range === undefined) {
        leftOut++;
        continue;
      }
      hashes[2 * count] = unit.hashes[2 * i]!;
      hashes[2 * count + 1] = unit.hashes[2 * i + 1]!;
      const earlier = seen(count);
      if (earlier >= 0) {
        rejected++;
        if (reasons.length + rejections.length < 2 * REASONS_MAX)
          rejections.push({ row, reason: `the same task as ${nameOf(rows[earlier]!)}` });
        continue;
      }
      rows[count] = row;
      groups[count] =
        unit.levels[i]! * POOL_SPLITS.length +
        (range.split === undefined ? unit.splits[i]! : POOL_SPLITS.indexOf(range.split));
      difficulties[count] = unit.difficulties[i]!;
      const instance = unit.bytes.subarray(unit.ends[i - 1] ?? 0, unit.ends[i]);
      bytes.set(instance, end);
      ends[count++] = end += instance.length;
    }
    rejections.sort((a, b) => a.row - b.row);
    for (const { row, reason } of rejections)
      if (reasons.length < REASONS_MAX) reasons.push(`${nameOf(row)}: ${reason}`);
    first += unit.rowsRead;
  }
  return { count, rows, hashes, groups, difficulties, ends, bytes, summary: { rejected, reasons, leftOut } };
}

const ALL: RowRange = { from: 0, to: Infinity, split: undefined };

/** The first range that holds the row; undefined: it is left out. */
function rangeOf(selection: readonly RowRange[], row: number): RowRange | undefined {
  if (selection.length === 0) return ALL;
  return selection.find(({ from, to }) => row >= from && row < to);
}

/** Finds the place of an equal hash before, or notes this one: open addressing, for a Map takes a hundred bytes a row. */
function hashTable(hashes: Uint32Array, total: number): (place: number) => number {
  let size = 16;
  while (size < 2 * total) size *= 2;
  const table = new Int32Array(size).fill(-1);
  return (place) => {
    const [high, low] = [hashes[2 * place]!, hashes[2 * place + 1]!];
    let slot = low & (size - 1);
    for (; table[slot]! >= 0; slot = (slot + 1) & (size - 1)) {
      const other = table[slot]!;
      if (hashes[2 * other] === high && hashes[2 * other + 1] === low) return other;
    }
    table[slot] = place;
    return -1;
  };
}

function membersOf(groups: Uint8Array, groupCount: number, count: number) {
  const starts = new Uint32Array(groupCount + 1);
  for (let i = 0; i < count; i++) starts[groups[i]! + 1]!++;
  for (let group = 0; group < groupCount; group++) starts[group + 1]! += starts[group]!;
  const next = starts.slice();
  const members = new Uint32Array(count);
  for (let i = 0; i < count; i++) members[next[groups[i]!]!++] = i;
  return { members, starts };
}

/** For each row how many of its group are easier; of equally difficult ones those of a smaller hash. */
function rankRows(
  difficulties: Float64Array,
  hashes: Uint32Array,
  members: Uint32Array,
  starts: Uint32Array,
): Uint32Array<ArrayBuffer> {
  if (members.length === 0 || Number.isNaN(difficulties[0])) return new Uint32Array(0);
  const ranks = new Uint32Array(members.length);
  const compare = (a: number, b: number): number =>
    difficulties[a]! - difficulties[b]! || hashes[2 * a]! - hashes[2 * b]! || hashes[2 * a + 1]! - hashes[2 * b + 1]!;
  for (let group = 0; group + 1 < starts.length; group++) {
    const sorted = members.slice(starts[group], starts[group + 1]).sort(compare);
    for (let rank = 0; rank < sorted.length; rank++) ranks[sorted[rank]!] = rank;
  }
  return ranks;
}
