/** Who chooses the rows of each update batch: equal draws, ours, and prime-rl's pools. */
import { permuted, rngFor } from "../../envs/lib/rng.ts";
import { chooseRows } from "../../server/curriculum/row-choice.ts";
import { rowTable, withGroups, withRates } from "../../server/curriculum/row-table.ts";
import type { RowRule } from "../../server/curriculum/types.ts";
import { SAMPLES, type World } from "./worlds.ts";

export interface Chooser {
  readonly name: string;
  /** So many rows, at a share of the run that is over. */
  choose(count: number, share: number): readonly number[];
  /** What came of them. */
  learn(groups: readonly { readonly row: number; readonly solved: number }[]): void;
}

/** Each row once before any comes again. */
export function equal({ size }: World, seed: number): Chooser {
  let drawn = 0;
  const next = (): number => permuted(size, drawn % size, "equal", seed, Math.floor(drawn++ / size));
  return { name: "equal", choose: (count) => Array.from({ length: count }, next), learn: () => undefined };
}

export const learnability: Omit<RowRule, "rows"> = {
  by: { kind: "learnability", sharpness: 6 },
  floor: 0.05,
  kept: 192,
  retireAfter: 0,
};

export const target: Omit<RowRule, "rows"> = {
  ...learnability,
  by: { kind: "target", from: 0.5, to: 0.5, width: 0.15 },
};

/** Samples that a rate of the column is worth: noise of .15 is that of so many at a rate of one half. */
const COLUMN_SAMPLES = 8;

export function ours(world: World, seed: number, name: string, rule: Omit<RowRule, "rows">, isBegun: boolean): Chooser {
  const whole = { ...rule, rows: world.size };
  let table = rowTable(whole);
  if (isBegun)
    table = withRates(table, {
      rows: [],
      first: 0,
      rateAt: (row) => world.column[row]!,
      count: world.size,
      samples: COLUMN_SAMPLES,
    });
  let batch = 0;
  /** Of the update batch that is being sampled while the next one is drawn. */
  let flying: ReadonlySet<number> = new Set();
  return {
    name,
    choose(count, share) {
      const rows = chooseRows(whole, table, { count, share, taken: flying }, rngFor("choose", seed, batch++));
      flying = new Set(rows);
      return rows;
    },
    learn(groups) {
      table = withGroups(
        table,
        groups.map((group) => ({ ...group, samples: SAMPLES })),
        whole.kept,
      );
    },
  };
}

/** prime-rl's defaults: a tenth of each batch from the easy and from the hard pool. */
const SIDE_SHARE = 0.1;

/**
 * prime-rl's difficulty pools, as its Buffer has them: a row whose group was all solved goes to the easy pool, one of which
 * none was to the hard one, any other to the normal one; batches take a tenth from each side and the rest from the
 * normal pool, and what one pool lacks from the others. A column that says 1 or 0 begins a row on that side.
 */
export function primePools({ size, column }: World, seed: number, isBegun: boolean): Chooser {
  const rng = rngFor("prime", seed);
  const poolOf = new Uint8Array(size).fill(1);
  if (isBegun) for (let row = 0; row < size; row++) poolOf[row] = column[row]! >= 1 ? 0 : column[row]! <= 0 ? 2 : 1;
  const pools: number[][] = [[], [], []];
  const places = new Uint32Array(size);
  const put = (row: number, pool: number): void => {
    poolOf[row] = pool;
    places[row] = pools[pool]!.push(row) - 1;
  };
  const take = (row: number): void => {
    const pool = pools[poolOf[row]!]!;
    const last = pool.pop()!;
    if (last === row) return;
    pool[places[row]!] = last;
    places[last] = places[row]!;
  };
  for (let row = 0; row < size; row++) put(row, poolOf[row]!);
  return {
    name: "prime-rl's pools",
    choose(count) {
      const side = Math.round(SIDE_SHARE * count);
      const chosen = new Set<number>();
      const from = (pool: readonly number[], wanted: number): void => {
        const most = chosen.size + Math.min(wanted, pool.length);
        for (let tries = 0; chosen.size < most && tries < 64 * count; tries++) chosen.add(rng.pick(pool));
      };
      from(pools[0]!, side);
      from(pools[2]!, side);
      for (const pool of [1, 0, 2]) from(pools[pool]!, count - chosen.size);
      return [...chosen];
    },
    learn(groups) {
      for (const { row, solved } of groups) {
        take(row);
        put(row, solved === SAMPLES ? 0 : solved === 0 ? 2 : 1);
      }
    },
  };
}
