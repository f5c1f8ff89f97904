/** Measures how often a model solves each row of a pool, with a suite that contains every row once. */
import { appendFileSync } from "node:fs";
import type { EvaluationHandle, RowRates as Rates } from "../../clients/ts/src/public.ts";
import type { Split } from "../../envs/environment.ts";
import { hashKey } from "../../envs/lib/rng.ts";
import { groupCounts, levelsText, placesOf, type Pool, rowOf } from "../../envs/pool.ts";
import { poolDigest } from "../../server/rows/digest.ts";
import type { Source } from "../../server/rows/pool-files.ts";
import { CliProblem } from "../problem.ts";
import { fileRows, valueOf } from "./stream.ts";
import { countRow, type RowCount } from "../evaluation/row-counts.ts";
import { HEADER } from "./rates.ts";

/** Selection of the rows to profile. */
export interface Chosen {
  readonly pool: string;
  readonly split: Split;
  /** Names of levels. If empty, all levels. */
  readonly levels: readonly string[];
}

export type Profiled = ReturnType<typeof profileSuite>;

/** Returns a suite with each row once. The suite's id depends on the rows, because results are stored under the id. */
export function profileSuite(pools: ReadonlyMap<string, Pool>, { pool: name, split, levels }: Chosen) {
  const pool = pools.get(name);
  if (pool === undefined) {
    const message = `there is no pool '${name}': --pool ${name}=FILE names one; there is: ${[...pools.keys()].join(", ")}`;
    throw new CliProblem("usage", message);
  }
  const groups = groupCounts(pool).filter((group) => group.split === split);
  const unknown = levels.find((level) => !groups.some((group) => group.level === level));
  const chosen = groups.filter(({ level }) => levels.length === 0 || levels.includes(level));
  if (unknown !== undefined || chosen.length === 0)
    throw new CliProblem(
      "usage",
      `pool '${name}' has no rows${unknown === undefined ? "" : ` of level '${unknown}'`} in split ${split}: ${levelsText(pool, split)}`,
    );
  const rows = chosen.flatMap(({ level }) => [...placesOf(pool, level, split)].map((place) => rowOf(pool, place)));
  const { id: environment, version } = pool.definition;
  const digest = hashKey(environment, version, ...rows.flatMap(({ index, hash }) => [index, hash])).slice(0, 12);
  const parts = chosen.map(({ level }) => {
    return { name: level, environment, version, level, split, tasks: "all" as const, pool: name, category: level };
  });
  const description = `Rows of pool '${name}' in split ${split}, each once: how often a model solves them.`;
  const suite = { id: `profile-${digest}`, version: 1, description, overall: "tasks" as const, parts };
  return { suite, rows: rows.length, digest: poolDigest(pool) };
}

/** Returns the pass rate of each row: the share of its samples with a reward that are solved. */
export async function ratesOf(evaluation: EvaluationHandle): Promise<Rates> {
  const counts = new Map<string, RowCount>();
  for await (const sample of evaluation.samples({ pageSize: 200, brief: true })) countRow(counts, sample);
  const sorted = [...counts.values()].sort((a, b) => a.row - b.row);
  return new Map(sorted.map(({ row, solved, samples }) => [row, solved / samples]));
}

/** Writes the profiled rows as JSONL, with an additional column pass_rate, by which rows can be ranked. */
export async function writeRated(to: string, source: Source, rates: Rates): Promise<void> {
  for await (const raw of fileRows(source)) {
    const rate = rates.get(raw.row);
    // Numbers that JavaScript would round are written unchanged, because `valueOf` keeps their digits.
    if (rate !== undefined) appendFileSync(to, `${JSON.stringify({ ...(valueOf(raw) as object), pass_rate: rate })}\n`);
  }
}

/** Returns the pass rates as CSV, which `gradus run rate-rows` reads. */
export function ratesCsv(rates: Rates, digest: string): string {
  return [HEADER, ...[...rates].map(([row, rate]) => `${row},${rate},${digest}`), ""].join("\n");
}
