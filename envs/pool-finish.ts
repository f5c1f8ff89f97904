/**
 * Merges the rows of all units (parts read at once) of a pool's file: selects rows, drops repeated tasks, ranks the
 * rest.
 */
import type { Environment, Split } from "./environment.ts";
import {
  createTakenCounter,
  decodeInstance,
  POOL_SPLITS,
  type PoolColumns,
  type TakenRows,
  type UnitColumns,
} from "./pool-columns.ts";
import type { ColumnNames } from "./pool-view.ts";
import { type Ranking, rankingOf } from "./pool-ranks.ts";
import { createReasonCounter, type RowsWithReason } from "./pool-reasons.ts";

export interface PoolSummary {
  /** Number of rows that contain no valid task, or the same task as an earlier row. */
  readonly rejected: number;
  /** Reasons for rejection, similar ones counted together, in the order of the first row of each. */
  readonly rejections: readonly RowsWithReason[];
  /**
   * Instructions about the form of the answer in the rows' texts, similar ones counted together, in the order of the
   * first row of each.
   */
  readonly instructions: readonly RowsWithReason[];
  /** Number of rows that are in none of the row ranges selected for the pool. */
  readonly leftOut: number;
  /**
   * Number of rows that could not be checked because of a fault of the server or of an external service. See
   * RowReader.check.
   */
  readonly unchecked: number;
  /** True if each row of the file is a line, as in JSONL. */
  readonly lines: boolean;
  /** Number of rows rejected because an earlier row holds the same task. */
  readonly repeats: number;
  /** Rows that ask the same question as an earlier row and have another answer. */
  readonly contradictions: Contradictions;
  readonly ranking: Ranking;
  /** Columns that the fields of instances were taken from, with the number of rows for each. */
  readonly taken: readonly TakenRows[];
}

export interface Contradictions {
  readonly rows: number;
  /** First contradicting row, and the earlier row that it contradicts. */
  readonly first?: readonly [row: number, earlier: number];
}

export interface FinishedPool {
  readonly columns: PoolColumns;
  readonly summary: PoolSummary;
}

/**
 * Rows of the file with indices from `from` to before `to`. If `split` is set, it replaces the split that their hashes
 * decide.
 */
export interface RowRange {
  readonly from: number;
  /** Row after the range. Infinity: the range ends with the file. */
  readonly to: number;
  readonly split: Split | undefined;
}

/** Returns the name of a row for people. Lines are counted from 1, as in editors. */
export function nameRow(lines: boolean, row: number): string {
  return lines ? `line ${row + 1}` : `row ${row}`;
}

/** Returns a text about rejected rows, e.g. "line 3 and 7 more: not JSON". */
export function rejectionText(lines: boolean, { row, reason, count }: RowsWithReason): string {
  return `${nameRow(lines, row)}${count > 1 ? ` and ${count - 1} more` : ""}: ${reason}`;
}

/**
 * Returns the reason why the whole file is refused although each row by itself may be valid. Undefined if the file is
 * not refused.
 */
export function fileProblem(units: readonly UnitColumns[], names: ColumnNames): string | undefined {
  const absent = names.find((_, i) => units.every(({ named }) => named[i] === 0));
  if (absent !== undefined)
    return `no row has a column '${absent[1]}', which --column names for ${absent[0]}: name another column`;
  const proofs = new Map<string, boolean>();
  for (const { wanted, given } of units.flatMap((unit) => unit.proofs))
    proofs.set(wanted, given || proofs.get(wanted) === true);
  return [...proofs].find(([, given]) => !given)?.[0];
}

/**
 * Merges the units of a file in their order. Drops rows that the selection leaves out and tasks that an earlier row
 * holds. Ranks each row within its level and split.
 */
export function finishPool(
  environment: Environment,
  units: readonly UnitColumns[],
  selection: readonly RowRange[],
  lines: boolean,
): FinishedPool {
  const sizes = units.map(({ rows }) => rows.length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const kept = keepRows(environment, units, total, selection, lines);
  const { count } = kept;
  const groupCount = environment.levels.length * POOL_SPLITS.length;
  const { members, starts } = membersOf(kept.groups, groupCount, count);
  const ranking = rankingOf(kept.rankSources, environment.rows?.difficulty);
  const columns: PoolColumns = {
    rows: kept.rows.slice(0, count),
    hashes: kept.hashes.slice(0, 2 * count),
    groups: kept.groups.slice(0, count),
    ranks:
      ranking.source === undefined ? new Uint32Array(0) : rankRows(kept.difficulties, kept.hashes, members, starts),
    difficulties: ranking.source === undefined ? new Float64Array(0) : kept.difficulties.slice(0, count),
    problems: kept.problems.slice(0, 2 * count),
    ends: kept.ends.slice(0, count),
    bytes: firstBytes(kept.bytes, kept.ends[count - 1] ?? 0),
    members,
    starts,
  };
  return { columns, summary: { ...kept.summary, ranking } };
}

/**
 * Returns the first `length` bytes. Makes no copy if these are all bytes, because they take most of a pool's memory.
 */
function firstBytes(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

/** Allocates columns with room for all rows of the units. */
function roomFor(units: readonly UnitColumns[], total: number) {
  const byteCount = units.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (byteCount >= 2 ** 32)
    throw new Error(`a pool's instances take ${byteCount} bytes, and the limit is 4 GiB: split the pool`);
  const has = (name: "asked" | "problems"): boolean => units.some((unit) => unit[name].length > 0);
  return {
    rows: new Uint32Array(total),
    hashes: new Uint32Array(2 * total),
    asked: new Uint32Array(has("asked") ? 2 * total : 0),
    problems: new Uint32Array(has("problems") ? 2 * total : 0),
    groups: new Uint8Array(total),
    difficulties: new Float64Array(total),
    ends: new Uint32Array(total),
    bytes: new Uint8Array(byteCount),
  };
}

/** Copies the rows to keep into columns with room for all rows. */
function keepRows(
  environment: Environment,
  units: readonly UnitColumns[],
  total: number,
  selection: readonly RowRange[],
  lines: boolean,
) {
  const room = roomFor(units, total);
  const { rows, hashes, groups, difficulties, ends, bytes } = room;
  const seen = hashTable(hashes, total);
  const contradicted = contradictionsIn(environment, room, total);
  const [reasons, instructions] = [createReasonCounter(), createReasonCounter()];
  const rankSources = new Map<number, number>();
  let [count, end, first, rejected, leftOut, repeats] = [0, 0, 0, 0, 0, 0];
  for (const unit of units) {
    for (const { row, ...rest } of unit.rejections) reasons.add({ row: first + row, ...rest });
    for (const { row, ...rest } of unit.instructions) instructions.add({ row: first + row, ...rest });
    rejected += unit.rejected;
    for (let i = 0; i < unit.rows.length; i++) {
      const row = first + unit.rows[i]!;
      const range = rangeOf(selection, row);
      if (range === undefined) {
        leftOut++;
        continue;
      }
      copyKeys(unit, i, room, count);
      const earlier = seen(count);
      if (earlier >= 0) {
        [rejected, repeats] = [rejected + 1, repeats + 1];
        reasons.add({ row, reason: `the same task as ${nameRow(lines, rows[earlier]!)}`, count: 1 });
        continue;
      }
      rows[count] = row;
      groups[count] =
        unit.levels[i]! * POOL_SPLITS.length +
        (range.split === undefined ? unit.splits[i]! : POOL_SPLITS.indexOf(range.split));
      difficulties[count] = unit.difficulties[i]!;
      rankSources.set(unit.rankSources[i]!, (rankSources.get(unit.rankSources[i]!) ?? 0) + 1);
      const instance = unit.bytes.subarray(unit.ends[i - 1] ?? 0, unit.ends[i]);
      bytes.set(instance, end);
      ends[count] = end += instance.length;
      contradicted.look(count++);
    }
    first += unit.rowsRead;
  }
  const taken = createTakenCounter();
  for (const each of units.flatMap((unit) => unit.taken)) taken.add([each.field, each.from], each.rows);
  const summary = {
    taken: taken.counted(),
    rejected,
    rejections: reasons.counted(),
    instructions: instructions.counted(),
    leftOut,
    unchecked: 0,
    lines,
    repeats,
    contradictions: contradicted.found(),
  };
  return { count, ...room, rankSources, summary };
}

type Room = ReturnType<typeof roomFor>;

function copyKeys(unit: UnitColumns, i: number, room: Room, count: number): void {
  for (const name of ["hashes", "asked", "problems"] as const) {
    if (room[name].length === 0) continue;
    room[name][2 * count] = unit[name][2 * i]!;
    room[name][2 * count + 1] = unit[name][2 * i + 1]!;
  }
}

/**
 * Finds rows that ask the same question as an earlier row but are another task. Such a row contradicts the earlier one,
 * unless the environment's `agrees` accepts the two answers.
 */
function contradictionsIn(environment: Environment, { asked, rows, bytes, ends }: Room, total: number) {
  const seen = hashTable(asked, total);
  const { rows: reader } = environment;
  let found: Contradictions = { rows: 0 };
  const instance = (place: number): unknown =>
    decodeInstance(environment, bytes.subarray(ends[place - 1] ?? 0, ends[place]));
  return {
    found: () => found,
    look(place: number): void {
      const earlier = asked.length === 0 ? -1 : seen(place);
      if (earlier < 0 || reader?.agrees?.(instance(earlier), instance(place)) === true) return;
      found = { rows: found.rows + 1, first: found.first ?? [rows[place]!, rows[earlier]!] };
    },
  };
}

const ALL: RowRange = { from: 0, to: Infinity, split: undefined };

/** Returns the first range that holds the row, or undefined if the selection leaves the row out. */
function rangeOf(selection: readonly RowRange[], row: number): RowRange | undefined {
  if (selection.length === 0) return ALL;
  return selection.find(({ from, to }) => row >= from && row < to);
}

/**
 * Returns a function that takes a row's index in `hashes`. It returns the index of an earlier row with an equal hash.
 * If there is none, it remembers this row and returns −1.
 */
function hashTable(hashes: Uint32Array, total: number): (place: number) => number {
  const find = hashFinder(hashes, total);
  return (place) => find(hashes[2 * place]!, hashes[2 * place + 1]!, place);
}

/**
 * Returns a function that takes the two halves of a hash and returns the index in `hashes` under which the hash was
 * stored, or −1. If the hash is missing, the function stores it under the index `noted`, if one is passed. Uses open
 * addressing, because a Map takes about 100 bytes a row.
 */
export function hashFinder(hashes: Uint32Array, total: number): (high: number, low: number, noted?: number) => number {
  let size = 16;
  while (hashes.length > 0 && size < 2 * total) size *= 2;
  const table = new Int32Array(size).fill(-1);
  return (high, low, noted = -1) => {
    let slot = low & (size - 1);
    for (; table[slot]! >= 0; slot = (slot + 1) & (size - 1)) {
      const other = table[slot]!;
      if (hashes[2 * other] === high && hashes[2 * other + 1] === low) return other;
    }
    table[slot] = noted;
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

/**
 * Returns, for each row, how many rows of its group (level and split) are easier. If difficulties are equal, the row
 * with the smaller hash counts as easier.
 */
function rankRows(
  difficulties: Float64Array,
  hashes: Uint32Array,
  members: Uint32Array,
  starts: Uint32Array,
): Uint32Array<ArrayBuffer> {
  const ranks = new Uint32Array(members.length);
  const compare = (a: number, b: number): number =>
    difficulties[a]! - difficulties[b]! || hashes[2 * a]! - hashes[2 * b]! || hashes[2 * a + 1]! - hashes[2 * b + 1]!;
  for (let group = 0; group + 1 < starts.length; group++) {
    const sorted = members.slice(starts[group], starts[group + 1]).sort(compare);
    for (let rank = 0; rank < sorted.length; rank++) ranks[sorted[rank]!] = rank;
  }
  return ranks;
}

/** Returns the hashes of the given rows, each as two 32-bit numbers. */
function pairsOf(hashes: Uint32Array, places: readonly number[]): Uint32Array<ArrayBuffer> {
  if (hashes.length === 0) return new Uint32Array(0);
  return Uint32Array.from({ length: 2 * places.length }, (_, i) => hashes[2 * places[i >> 1]! + (i & 1)]!);
}

/**
 * Removes rows from a pool and counts them as rejected. `reasons` maps the index of each such row in the pool to the
 * reason. The remaining rows get new ranks.
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
  const hashes = pairsOf(columns.hashes, places);
  const { members, starts } = membersOf(groups, environment.levels.length * POOL_SPLITS.length, count);
  const isRanked = columns.ranks.length > 0;
  const difficulties = Float64Array.from(isRanked ? places : [], (place) => columns.difficulties[place]!);
  const kept: PoolColumns = {
    rows: Uint32Array.from(places, (place) => columns.rows[place]!),
    hashes,
    groups,
    ranks: isRanked ? rankRows(difficulties, hashes, members, starts) : columns.ranks,
    difficulties,
    problems: pairsOf(columns.problems, places),
    ends,
    bytes,
    members,
    starts,
  };
  const counter = createReasonCounter();
  for (const rejection of summary.rejections) counter.add(rejection);
  for (const [place, reason] of reasons) counter.add({ row: columns.rows[place]!, reason, count: 1 });
  const rejected = summary.rejected + reasons.size;
  return { columns: kept, summary: { ...summary, rejected, rejections: counter.counted() } };
}
