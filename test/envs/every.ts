/** Environments at every level, and tasks of them, for the suites that hold for all. */
import { readFileSync } from "node:fs";
import type { Environment, Level, Split, SyncEnvironment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import type { MakeResult, TaskKey } from "../../envs/origin.ts";
import { loadPool, pickRow, type Pool, rowAt, rowCount } from "../../envs/pool.ts";
import { environments } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import type { ScoreTask } from "../../envs/score.ts";

export interface Issued extends TaskKey {
  readonly instance: unknown;
}

export interface Case<E extends Environment = SyncEnvironment> {
  readonly title: string;
  readonly environment: E;
  readonly level: Level;
}

/** Environments that verify their answers without a judge, a sandbox or another outside resource. */
export const synchronous: readonly SyncEnvironment[] = environments.filter((each) => each.resource === undefined);

export function casesOf<E extends Environment>(environment: E): readonly Case<E>[] {
  const { id, version, levels } = environment;
  return levels.map((level) => ({ title: `${id} version ${version}, ${level.name}`, environment, level }));
}

/** The pools that ship with environments, by name. */
export function poolsOf(all: readonly Environment[]): ReadonlyMap<string, Pool> {
  const pools = new Map<string, Pool>();
  for (const environment of all) {
    const shipped = environment.rows?.defaultPool;
    if (shipped === undefined || (environment.twinOf !== undefined && pools.has(shipped.name))) continue;
    pools.set(shipped.name, loadPool(environment, shipped.name, readFileSync(shipped.file, "utf8")));
  }
  return pools;
}

/** Every registered synchronous environment at each of its levels. */
export const cases: readonly Case[] = synchronous.flatMap((environment) => casesOf(environment));
export const pools: ReadonlyMap<string, Pool> = poolsOf(environments);

export const SPLITS: readonly Split[] = ["train", "eval", "bench"];

/** Environments without graded facts: their answers have an objective, or are right or wrong. */
export const ungraded: readonly SyncEnvironment[] = synchronous.filter(({ grading }) => grading === undefined);

/** Returns a generated task, or a row of the pool that ships, from another split if the pool has none in this one. */
export function issue({ environment, level }: Case<Environment>, seed: bigint, split: Split): Issued {
  const result =
    environment.generator === undefined
      ? pickShipped(environment, level, seed, split)
      : makeGenerated(environment, { parameters: level.parameters, seed, split });
  if (result.kind !== "made") throw new Error(result.message);
  return { ...result.key, instance: result.instance };
}

function pickShipped(environment: Environment, { name }: Level, seed: bigint, split: Split): MakeResult {
  const pool = poolsOf([environment]).get(environment.rows?.defaultPool?.name ?? "");
  if (pool === undefined) throw new Error(`${environment.id} has neither a generator nor a pool`);
  const filled = [split, ...SPLITS].find((each) => rowCount(pool, name, each) > 0);
  return pickRow(pool, name, filled ?? split, seed);
}

/** Some tasks of a level, by turns of each split: generated, or rows of its pool where there is no generator. */
export function tasksOf(given: Case<Environment>, pool: Pool | undefined, count: number): readonly Issued[] {
  if (given.environment.generator !== undefined)
    return Array.from({ length: count }, (_, i) => issue(given, BigInt(i), SPLITS[i % 3] as Split));
  if (pool === undefined) return [];
  const filled = SPLITS.filter((split) => rowCount(pool, given.level.name, split) > 0);
  return Array.from({ length: filled.length === 0 ? 0 : count }, (_, i) => {
    const result = rowAt(pool, given.level.name, filled[i % filled.length] as Split, 3n, i);
    if (result.kind !== "made") throw new Error(result.message);
    return { ...result.key, instance: result.instance };
  });
}

/** Returns the task in the form in which the scorer takes it. */
export function scoreTask(
  environment: SyncEnvironment,
  { instance, baseline }: Issued,
  format: ScoreTask["format"],
  schemeName = "",
): ScoreTask {
  const resolved = resolveScheme(environment, schemeName, {});
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  const task = { environment, instance, format, scheme: resolved.scheme };
  return baseline === undefined ? task : { ...task, baseline };
}
