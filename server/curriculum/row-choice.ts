/**
 * Draws an arm's data rows at random, preferring rows from which most can be learned according to their pass rate
 * (share of solved samples). Every row keeps a minimum probability.
 */
import type { Rng } from "../../envs/lib/rng.ts";
import {
  classOf,
  GONE,
  nthOfClass,
  PAGE_ROWS,
  RATE_STEPS,
  rateOf,
  recordAt,
  RETIRED,
  type RowTable,
} from "./row-table.ts";
import type { RowRule } from "./types.ts";

/**
 * Maximum number of random attempts to find a row that is not in use. After that, the next row in order that is not in
 * use is taken.
 */
const TRIES_MAX = 64;

/**
 * Returns how much a draw prefers rows of this pass rate, in [0, 1]. `share` is the part of the run that is over, in
 * [0, 1].
 */
function interestIn({ by }: RowRule, rate: number, share: number): number {
  if (by.kind === "learnability") {
    const variance = 4 * rate * (1 - rate);
    let interest = 1;
    for (let i = 0; i < by.sharpness; i++) interest *= variance;
    return interest;
  }
  const target = by.from + (by.to - by.from) * share;
  const off = (rate - target) / by.width;
  return Math.exp(-0.5 * off * off);
}

/**
 * Returns the probability that a draw takes a row of each step of pass rates, and as last item that of retired rows.
 * Retired rows are drawn only if all rows are retired.
 */
export function stepMasses(rule: RowRule, { counts }: RowTable, share: number): readonly number[] {
  const interests = Array.from({ length: RATE_STEPS }, (_, step) => interestIn(rule, rateOf(step), share));
  const wanted = interests.map((interest, step) => interest * counts[step]!);
  const total = wanted.reduce((sum, mass) => sum + mass, 0);
  const rows = counts.reduce((sum, count, step) => (step >= RETIRED ? sum : sum + count), 0);
  if (rows === 0) return [...wanted.map(() => 0), 1];
  const floor = total > 0 ? rule.floor : 1;
  return [
    ...wanted.map((mass, step) => (total > 0 ? (1 - floor) * (mass / total) : 0) + (floor * counts[step]!) / rows),
    0,
  ];
}

/**
 * Returns a function that finds the n-th row of a class (a step of pass rates, RETIRED or GONE), in row order. The
 * counts of the pages are summed once for each class.
 */
function rowFinder({ pages, retireAfter }: RowTable): (of: number, n: number) => number {
  const sums = new Map<number, Uint32Array>();
  const sumsOf = (of: number): Uint32Array => {
    const made = new Uint32Array(pages.length);
    let total = 0;
    for (let i = 0; i < pages.length; i++) made[i] = total += pages[i]!.counts[of]!;
    sums.set(of, made);
    return made;
  };
  return (of, n) => {
    const ends = sums.get(of) ?? sumsOf(of);
    let [from, to] = [0, ends.length - 1];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (ends[middle]! <= n) from = middle + 1;
      else to = middle;
    }
    return from * PAGE_ROWS + nthOfClass(pages[from]!, of, n - (from === 0 ? 0 : ends[from - 1]!), retireAfter);
  };
}

/**
 * Returns the first row, from `from` on, that is not in use, not retired, and still in its pool. If all rows are
 * retired, a retired row may be returned. If no row fits, returns `from`.
 */
function nextFree(table: RowTable, from: number, isTaken: (row: number) => boolean): number {
  const isOver = table.counts[RETIRED]! + table.counts[GONE]! === table.size;
  for (let i = 0; i < table.size; i++) {
    const row = (from + i) % table.size;
    const of = classOf(recordAt(table, row), table.retireAfter);
    if (of !== GONE && !isTaken(row) && (isOver || of !== RETIRED)) return row;
  }
  return from;
}

/**
 * Draws `count` rows, all different if there are enough. Rows in `taken`, which are being sampled, are drawn only if no
 * other rows are left.
 */
export function chooseRows(
  rule: RowRule,
  table: RowTable,
  { count, share, taken }: { readonly count: number; readonly share: number; readonly taken: ReadonlySet<number> },
  rng: Rng,
): readonly number[] {
  const masses = stepMasses(rule, table, share);
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  const find = rowFinder(table);
  const chosen = new Set<number>();
  const isTaken = (row: number): boolean => chosen.has(row) || taken.has(row);
  const one = (): number => {
    let left = rng.float() * total;
    let step = masses.findLastIndex((mass) => mass > 0);
    for (const [i, mass] of masses.entries()) {
      if (mass > 0 && left < mass) {
        step = i;
        break;
      }
      left -= mass;
    }
    return find(step, rng.int(0, table.counts[step]! - 1));
  };
  return Array.from({ length: count }, () => {
    let row = one();
    for (let tries = 1; tries < TRIES_MAX && isTaken(row); tries++) row = one();
    if (isTaken(row)) row = nextFree(table, row, isTaken);
    chosen.add(row);
    return row;
  });
}
