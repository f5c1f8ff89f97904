/**
 * Loads the pools that ship with environments. Reading their rows takes half a second, so the pools are cached in the
 * installation's folder.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../envs/environment.ts";
import { finishedPool, loadPool, type Pool, poolOf } from "../../envs/pool.ts";
import type { FinishedPool } from "../../envs/pool-finish.ts";
import { environments as own, type Registry } from "../../envs/registry.ts";
import { keptName, readKept, writeKept } from "./cache.ts";

/**
 * Folder that caches the shipped pools. An installed package contains the cached files. If the folder cannot be
 * written, rows are read at each start.
 */
const FOLDER = fileURLToPath(new URL("../../.cache/pools", import.meta.url));

export function shippedPools(registry: Registry): Map<string, Pool> {
  const pools = new Map<string, Pool>();
  for (const environment of registry.environments) {
    const shipped = environment.rows?.defaultPool;
    // A twin of an environment has equal tasks and another form of the answer. It uses that environment's pools, and
    // has none of its own.
    if (shipped === undefined || environment.twinOf !== undefined) continue;
    const { name, file } = shipped;
    const other = pools.get(name);
    if (other !== undefined)
      throw new Error(
        `${other.environment} and ${environment.id} both ship a pool named '${name}': rename one of the pools`,
      );
    pools.set(name, readShipped(environment, name, readFileSync(file, "utf8")));
  }
  return pools;
}

function readShipped(environment: Environment, name: string, jsonl: string): Pool {
  // The name of a cached file does not depend on the code of the operator's own environments, so their pools are not
  // cached.
  if (!own.includes(environment)) return loadPool(environment, name, jsonl);
  const { id, version } = environment;
  const kept = `${keptName({ environment: id, version, content: hash("sha256", jsonl), selection: "" })}.pool`;
  const path = join(FOLDER, kept);
  const before = readKept<FinishedPool>(path);
  if (before !== undefined) return poolOf(environment, name, before);
  const finished = finishedPool(environment, name, jsonl);
  writeKept(path, finished);
  return poolOf(environment, name, finished);
}
