/**
 * Table of what a run knows about an arm's data rows. For each row it has the numbers of samples seen and solved, which
 * shrink with each new group, so that old samples count less. It also counts successive groups in which all samples
 * were solved. A row takes six bytes. Pages are never changed in place: a new table shares all pages whose rows had no
 * new groups.
 */
import { LIMITS } from "../../proto/limits.ts";
import type { RowRule } from "./types.ts";

/**
 * Number of rows in a page. A page is small enough to be copied for one row, and large enough that a draw searches few
 * pages.
 */
export const PAGE_ROWS = 1024;

/**
 * Number of units that count as one sample. Numbers of samples are kept in these units, so that they stay whole numbers
 * when old samples lose weight.
 */
export const SAMPLE = 64;

/** Prior of a row's number of samples seen: one sample. */
const PRIOR_SEEN = SAMPLE;
/** Prior of a row's number of samples solved: half a sample. */
const PRIOR_SOLVED = SAMPLE / 2;

const COUNT_MAX = 2 ** 16 - 1;
const STREAK_MAX = LIMITS.RowCurriculum.retire_after.max;

/** Number of steps into which pass rates are divided. A row's class is the step of its pass rate, RETIRED or GONE. */
export const RATE_STEPS = 33;
export const RETIRED = RATE_STEPS;
/** Class of rows that were removed from their pool. They are never drawn, but the table keeps what is known of them. */
export const GONE = RATE_STEPS + 1;
const CLASSES = RATE_STEPS + 2;

/** Returns the pass rate in the middle of a step. */
export function rateOf(step: number): number {
  return (step + 0.5) / RATE_STEPS;
}

export interface RowRecord {
  /** Number of samples seen, in units of 1/64 sample. Old samples count less. */
  readonly seen: number;
  /** Number of samples solved, in units of 1/64 sample. Old samples count less. */
  readonly solved: number;
  /** Number of successive groups in which every sample was solved. */
  readonly streak: number;
  /** 1 if the row was removed from its pool, else 0. */
  readonly gone: number;
}

export interface RowPage {
  readonly seen: Uint16Array<ArrayBuffer>;
  readonly solved: Uint16Array<ArrayBuffer>;
  readonly streak: Uint8Array<ArrayBuffer>;
  readonly gone: Uint8Array<ArrayBuffer>;
  /** Number of the page's rows in each class (step of pass rates, RETIRED or GONE). */
  readonly counts: Uint32Array<ArrayBuffer>;
}

export interface RowTable {
  readonly size: number;
  readonly retireAfter: number;
  readonly pages: readonly RowPage[];
  /** Number of the table's rows in each class (step of pass rates, RETIRED or GONE). */
  readonly counts: readonly number[];
}

/**
 * Returns the class of the row at index `at` of a page. It reads the page's arrays directly, because a draw looks at
 * thousands of rows.
 */
function classAt({ seen, solved, streak, gone }: Omit<RowPage, "counts">, at: number, retireAfter: number): number {
  return gone[at] === 1 ? GONE : presentClass(seen[at]!, solved[at]!, streak[at]!, retireAfter);
}

function presentClass(seen: number, solved: number, streak: number, retireAfter: number): number {
  if (retireAfter > 0 && streak >= retireAfter) return RETIRED;
  return Math.floor((RATE_STEPS * (solved + PRIOR_SOLVED)) / (seen + PRIOR_SEEN));
}

export function classOf({ seen, solved, streak, gone }: RowRecord, retireAfter: number): number {
  return gone === 1 ? GONE : presentClass(seen, solved, streak, retireAfter);
}

/**
 * Returns the index in the page of the n-th row of a class, counted from 0. Throws if the page has no more than n such
 * rows.
 */
export function nthOfClass(page: RowPage, of: number, n: number, retireAfter: number): number {
  let left = n;
  for (let at = 0; at < page.seen.length; at++) if (classAt(page, at, retireAfter) === of && left-- === 0) return at;
  throw new Error(`bug: a page of rows has fewer than ${n + 1} rows of class ${of}`);
}

/** Returns the pass rate (share of solved samples) that is expected of a row's next group. */
export function expectedRate({ seen, solved }: Pick<RowRecord, "seen" | "solved">): number {
  return (solved + PRIOR_SOLVED) / (seen + PRIOR_SEEN);
}

const UNKNOWN: RowRecord = Object.freeze({ seen: 0, solved: 0, streak: 0, gone: 0 });

/**
 * Returns a page whose arrays all lie in `memory`. A draw copies hundreds of pages, and separate buffers caused four
 * times the garbage.
 */
function pageIn(memory: ArrayBuffer, rows: number): RowPage {
  const [seenAt, solvedAt, streakAt] = [4 * CLASSES, 4 * CLASSES + 2 * rows, 4 * CLASSES + 4 * rows];
  return {
    counts: new Uint32Array(memory, 0, CLASSES),
    seen: new Uint16Array(memory, seenAt, rows),
    solved: new Uint16Array(memory, solvedAt, rows),
    streak: new Uint8Array(memory, streakAt, rows),
    gone: new Uint8Array(memory, streakAt + rows, rows),
  };
}

function blankPage(rows: number): RowPage {
  const page = pageIn(new ArrayBuffer(4 * CLASSES + 6 * rows), rows);
  page.counts[classOf(UNKNOWN, 0)] = rows;
  return page;
}

function copyOf({ counts, seen }: RowPage): RowPage {
  return pageIn(counts.buffer.slice(0), seen.length);
}

/** Returns the number of rows in the page with this index, for an arm with `size` rows. 0: there is no such page. */
export function rowsOfPage(page: number, size: number): number {
  return Math.max(0, Math.min(PAGE_ROWS, size - page * PAGE_ROWS));
}

/** Returns a table in which nothing is known of the rows. All full pages are one shared object. */
export function rowTable({ rows: size, retireAfter }: Pick<RowRule, "rows" | "retireAfter">): RowTable {
  const whole = blankPage(Math.min(PAGE_ROWS, size));
  const rest = size % PAGE_ROWS;
  const pages = Array.from({ length: Math.ceil(size / PAGE_ROWS) }, (_, i) =>
    rest > 0 && (i + 1) * PAGE_ROWS > size ? blankPage(rest) : whole,
  );
  return tableOf(size, retireAfter, pages);
}

function tableOf(size: number, retireAfter: number, pages: readonly RowPage[]): RowTable {
  const counts = new Array<number>(CLASSES).fill(0);
  for (const page of pages) for (let i = 0; i < CLASSES; i++) counts[i]! += page.counts[i]!;
  return { size, retireAfter, pages, counts };
}

export function recordAt({ pages }: RowTable, row: number): RowRecord {
  const page = pages[Math.floor(row / PAGE_ROWS)] as RowPage;
  const at = row % PAGE_ROWS;
  return { seen: page.seen[at]!, solved: page.solved[at]!, streak: page.streak[at]!, gone: page.gone[at]! };
}

/** Returns whether the table knows nothing about the rows of a page. */
export function isBlank({ seen, streak }: RowPage): boolean {
  return seen.every((each) => each === 0) && streak.every((each) => each === 0);
}

/** Returns the table with new records of some rows. Each changed page is copied only once. */
export function withRecords(table: RowTable, changes: Iterable<readonly [row: number, record: RowRecord]>): RowTable {
  const pages = [...table.pages];
  const counts = [...table.counts];
  const copied = new Set<number>();
  for (const [row, record] of changes) {
    const place = Math.floor(row / PAGE_ROWS);
    if (!copied.has(place)) {
      pages[place] = copyOf(pages[place] as RowPage);
      copied.add(place);
    }
    const page = pages[place] as RowPage;
    const at = row % PAGE_ROWS;
    const before = classAt(page, at, table.retireAfter);
    const after = classOf(record, table.retireAfter);
    [page.seen[at], page.solved[at], page.streak[at]] = [record.seen, record.solved, record.streak];
    page.counts[before]!--;
    page.counts[after]!++;
    counts[before]!--;
    counts[after]!++;
  }
  return { ...table, pages, counts };
}

/** Numbers of samples and of solved samples in one group of a row. */
export interface RowGroup {
  readonly row: number;
  readonly samples: number;
  readonly solved: number;
}

/**
 * Returns the table after new groups, in order. Each group first multiplies its row's earlier numbers by `kept`/256.
 */
export function withGroups(table: RowTable, groups: readonly RowGroup[], kept: number): RowTable {
  const records = new Map<number, RowRecord>();
  for (const { row, samples, solved } of groups) {
    const before = records.get(row) ?? recordAt(table, row);
    const grown = (count: number, by: number): number => Math.min(COUNT_MAX, ((count * kept) >> 8) + SAMPLE * by);
    const seen = grown(before.seen, samples);
    records.set(row, {
      seen,
      solved: Math.min(seen, grown(before.solved, solved)),
      streak: solved === samples ? Math.min(STREAK_MAX, before.streak + 1) : 0,
      gone: before.gone,
    });
  }
  return withRecords(table, records);
}

/** Pass rates of rows that a client gave. Each counts as much as `samples` samples of the run. */
export interface Rates {
  /** Indices of the rows. Empty: the rows from `first` on, one for each rate. */
  readonly rows: readonly number[];
  readonly first: number;
  /** Returns the rate of the i-th given row, in [0, 1]. */
  readonly rateAt: (i: number) => number;
  readonly count: number;
  readonly samples: number;
}

/**
 * Returns the table with rates that a client gave, in place of what was known of these rows. There may be a million
 * rows.
 */
export function withRates(table: RowTable, { rows, first, rateAt, count, samples }: Rates): RowTable {
  const seenParts = Math.min(COUNT_MAX, Math.round(SAMPLE * samples));
  const copies = new Map<number, RowPage>();
  for (let i = 0; i < count; i++) {
    const row = rows[i] ?? first + i;
    const [place, at] = [Math.floor(row / PAGE_ROWS), row % PAGE_ROWS];
    let page = copies.get(place);
    if (page === undefined) {
      copies.set(place, (page = copyOf(table.pages[place] as RowPage)));
    }
    page.seen[at] = seenParts;
    page.solved[at] = Math.round(seenParts * rateAt(i));
    page.streak[at] = 0;
  }
  for (const page of copies.values()) recount(page, table.retireAfter);
  const pages = table.pages.map((page, i) => copies.get(i) ?? page);
  return tableOf(table.size, table.retireAfter, pages);
}

/**
 * Returns the table with pages from the store, by page index. The other pages stay blank: nothing is known of their
 * rows.
 */
export function withPages(
  table: RowTable,
  pages: ReadonlyMap<number, Pick<RowPage, "seen" | "solved" | "streak">>,
): RowTable {
  const all = table.pages.map((page, i) => {
    const kept = pages.get(i);
    if (kept === undefined) return page;
    const read = blankPage(page.seen.length);
    for (const name of ["seen", "solved", "streak"] as const) read[name].set(kept[name]);
    recount(read, table.retireAfter);
    return read;
  });
  return tableOf(table.size, table.retireAfter, all);
}

/**
 * Returns the table enlarged to `size` rows. Nothing is known of new rows, and exactly the rows in `gone` are marked as
 * gone.
 */
export function withListed(table: RowTable, size: number, gone: ReadonlySet<number>): RowTable {
  const { retireAfter, pages } = rowTable({ rows: Math.max(size, table.size), retireAfter: table.retireAfter });
  const all = pages.map((blank, i) => {
    const known = table.pages[i];
    const first = i * PAGE_ROWS;
    const isGone = (_: number, at: number): number => Number(gone.has(first + at));
    if (known === undefined && gone.size === 0) return blank;
    if (known?.seen.length === blank.seen.length && known.gone.every((was, at) => was === isGone(was, at)))
      return known;
    const page = copyOf(blank);
    if (known !== undefined) for (const name of ["seen", "solved", "streak"] as const) page[name].set(known[name]);
    page.gone.set(page.gone.map(isGone));
    recount(page, retireAfter);
    return page;
  });
  return tableOf(Math.max(size, table.size), retireAfter, all);
}

/** Counts again how many of a page's rows are in each class (step of pass rates, RETIRED or GONE). */
function recount(page: RowPage, retireAfter: number): void {
  page.counts.fill(0);
  for (let at = 0; at < page.seen.length; at++) page.counts[classAt(page, at, retireAfter)]!++;
}
