/**
 * Loads the pools that ship with environments. Reading their rows takes half a second, so the result is cached beside
 * the code.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../envs/environment.ts";
import { finishedPool, loadPool, type Pool, poolOf } from "../../envs/pool.ts";
import { environments as own, type Registry } from "../../envs/registry.ts";
import { cachePath, codeDigest, readCache, writeCache } from "./cache.ts";

/** A package ships this folder filled. If it cannot be written, rows are read each time. */
const FOLDER = fileURLToPath(new URL("../../.cache/pools", import.meta.url));

/** Returns the pools by name. */
export function shippedPools(registry: Registry): Map<string, Pool> {
  const pools = new Map<string, Pool>();
  const code = codeDigest();
  for (const environment of registry.environments) {
    const shipped = environment.rows?.defaultPool;
    // A twin has the pools of its environment.
    if (shipped === undefined || environment.twinOf !== undefined) continue;
    const { name, file } = shipped;
    const other = pools.get(name);
    if (other !== undefined)
      throw new Error(
        `pools that ship have names of their own: ${other.environment} and ${environment.id} have '${name}'`,
      );
    pools.set(name, readShipped(environment, name, readFileSync(file, "utf8"), code));
  }
  return pools;
}

function readShipped(environment: Environment, name: string, jsonl: string, code: string): Pool {
  // The digest does not cover an operator's environment, so its pools are not cached.
  if (!own.includes(environment)) return loadPool(environment, name, jsonl);
  const { id, version } = environment;
  const path = cachePath(FOLDER, {
    environment: id,
    version,
    content: hash("sha256", jsonl, "hex"),
    selection: "",
    code,
  });
  const kept = readCache(path);
  if (kept !== undefined) return poolOf(environment, name, kept);
  const finished = finishedPool(environment, name, jsonl);
  writeCache(FOLDER, path, finished);
  return poolOf(environment, name, finished);
}
