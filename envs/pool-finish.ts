/** The rows of all units of a pool's file, put together: selected, each task once, and ranked. */
import type { Environment, Split } from "./environment.ts";
import { POOL_SPLITS, type PoolColumns, type UnitColumns } from "./pool-columns.ts";
import { createReasonCounter, type RejectedRows } from "./pool-reasons.ts";

export interface PoolSummary {
  /** Rows that hold no task, or one that came before. */
  readonly rejected: number;
  /** Why, in the order of their first rows. */
  readonly rejections: readonly RejectedRows[];
  /** Rows that the pool's selection leaves out. */
  readonly leftOut: number;
  /** Rows of the pool that could not be checked, through a fault of ours; see RowReader.check. */
  readonly unchecked: number;
  /** Whether the file's rows are lines. */
  readonly lines: boolean;
}

export interface FinishedPool {
  readonly columns: PoolColumns;
  readonly summary: PoolSummary;
}

/** Rows [from, to) of the file; with a split they are of it, whatever their hash. */
export interface RowRange {
  readonly from: number;
  /** Infinity: to the end. */
  readonly to: number;
  readonly split: Split | undefined;
}

/** What a row is called: lines are counted from 1, as editors do. */
export function nameRow(lines: boolean, row: number): string {
  return lines ? `line ${row + 1}` : `row ${row}`;
}

/** Rejected rows in words, e.g. "line 3 and 7 more: not JSON". */
export function rejectionText(lines: boolean, { row, reason, count }: RejectedRows): string {
  return `${nameRow(lines, row)}${count > 1 ? ` and ${count - 1} more` : ""}: ${reason}`;
}

/**
 * Puts the units of a file together, in their order: rows that the selection leaves out and tasks that came before go,
 * and each row is ranked within its level and split.
 */
export function finishPool(
  environment: Environment,
  units: readonly UnitColumns[],
  selection: readonly RowRange[],
  lines: boolean,
): FinishedPool {
  const sizes = units.map(({ rows }) => rows.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const kept = keepRows(units, total, selection, lines);
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
    bytes: firstBytes(kept.bytes, kept.ends[count - 1] ?? 0),
    members,
    starts,
  };
  return { columns, summary: kept.summary };
}

/** Of a pool without repeats no copy is made: the bytes are the most of what it takes. */
function firstBytes(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

/** Rows that stay, in columns with room for all. */
function keepRows(units: readonly UnitColumns[], total: number, selection: readonly RowRange[], lines: boolean) {
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
  const reasons = createReasonCounter();
  let [count, end, first, rejected, leftOut] = [0, 0, 0, 0, 0];
  for (const unit of units) {
    for (const { row, ...rest } of unit.rejections) reasons.add({ row: first + row, ...rest });
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
        reasons.add({ row, reason: `the same task as ${nameRow(lines, rows[earlier]!)}`, count: 1 });
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
    first += unit.rowsRead;
  }
  const summary: PoolSummary = { rejected, rejections: reasons.counted(), leftOut, unchecked: 0, lines };
  return { count, rows, hashes, groups, difficulties, ends, bytes, summary };
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

/**
 * The pool without some of its rows, which count as rejected. They are given by their places, each with its reason; those
 * that stay are ranked anew.
 */
export function removeRows(
  environment: Environment,
  { columns, summary }: FinishedPool,
  reasons: ReadonlyMap<number, string>,
): FinishedPool {
  if (reasons.size === 0) return { columns, summary };
  const places = Array.from(columns.rows.keys()).filter((place) => !reasons.has(place));
  const count = places.length;
  const startOf = (place: number): number => columns.ends[place - 1] ?? 0;
  const ends = new Uint32Array(count);
  let end = 0;
  for (const [i, place] of places.entries()) ends[i] = end += columns.ends[place]! - startOf(place);
  const bytes = new Uint8Array(end);
  for (const [i, place] of places.entries())
    bytes.set(columns.bytes.subarray(startOf(place), columns.ends[place]), ends[i - 1] ?? 0);
  const groups = Uint8Array.from(places, (place) => columns.groups[place]!);
  const hashes = Uint32Array.from({ length: 2 * count }, (_, i) => columns.hashes[2 * places[i >> 1]! + (i & 1)]!);
  const { members, starts } = membersOf(groups, environment.levels.length * POOL_SPLITS.length, count);
  // Their old ranks tell the easier ones as well as their difficulties did.
  const oldRanks = Float64Array.from(places, (place) => columns.ranks[place] ?? NaN);
  const kept: PoolColumns = {
    rows: Uint32Array.from(places, (place) => columns.rows[place]!),
    ...{ hashes, groups, ranks: rankRows(oldRanks, hashes, members, starts), ends, bytes, members, starts },
  };
  const counter = createReasonCounter();
  for (const rejection of summary.rejections) counter.add(rejection);
  for (const [place, reason] of reasons) counter.add({ row: columns.rows[place]!, reason, count: 1 });
  const rejected = summary.rejected + reasons.size;
  return { columns: kept, summary: { ...summary, rejected, rejections: counter.counted() } };
}
