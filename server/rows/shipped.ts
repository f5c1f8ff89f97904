/** Pools that ship with environments. To read their rows takes half a second: what came of it is kept beside the code. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../envs/environment.ts";
import { finishedPool, loadPool, type Pool, poolOf } from "../../envs/pool.ts";
import { environments as own, type Registry } from "../../envs/registry.ts";
import { cachePath, codeDigest, readCache, writeCache } from "./cache.ts";

/** A package brings it along filled. Where nobody may write, rows are read each time. */
const FOLDER = fileURLToPath(new URL("../../.cache/pools", import.meta.url));

/** By name. */
export function shippedPools(registry: Registry): Map<string, Pool> {
  const pools = new Map<string, Pool>();
  const code = codeDigest();
  for (const environment of registry.environments) {
    const shipped = environment.rows?.defaultPool;
    // A twin's are its environment's.
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
  // An operator's environment is no part of that code.
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
