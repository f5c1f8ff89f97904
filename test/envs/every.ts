/** Every registered environment at every level, and tasks of them, for the suites that hold for all. */
import { readFileSync } from "node:fs";
import type { Level, Split, SyncEnvironment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { loadPool, type Pool } from "../../envs/pool.ts";
import { environments } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import type { ScoreTask } from "../../envs/score.ts";

/** A task with its instance. */
export interface Issued extends TaskKey {
  readonly instance: unknown;
}

export interface Case {
  readonly title: string;
  readonly environment: SyncEnvironment;
  readonly level: Level;
}

/** Those whose answers are verified at once. */
export const synchronous: readonly SyncEnvironment[] = environments.filter((each) => each.resource === undefined);

export const cases: readonly Case[] = synchronous.flatMap((environment) =>
  environment.levels.map((level) => ({
    title: `${environment.id} version ${environment.version}, ${level.name}`,
    environment,
    level,
  })),
);

/** The default pools, by name. */
export const pools: ReadonlyMap<string, Pool> = new Map(
  environments.flatMap((environment): [string, Pool][] => {
    if (environment.rows?.defaultPool === undefined) return [];
    const { name, file } = environment.rows.defaultPool;
    return [[name, loadPool(environment, name, readFileSync(file, "utf8"))]];
  }),
);

export function issue({ environment, level }: Case, seed: bigint, split: Split): Issued {
  const result = makeGenerated(environment, { parameters: level.parameters, seed, split });
  if (result.kind !== "made") throw new Error(result.message);
  return { ...result.key, instance: result.instance };
}

/** What scores a task's completions. */
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
