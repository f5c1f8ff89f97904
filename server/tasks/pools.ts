/** Reads data pools from disk: those that ship with environments, and those that the operator names. */
import { readFileSync } from "node:fs";
import type { Environment } from "../../envs/environment.ts";
import { loadPool, type Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import { readTextFile } from "../runtime/files.ts";

export interface NamedPath {
  readonly name: string;
  readonly path: string;
}

export type PoolsResult =
  | { readonly kind: "ok"; readonly pools: ReadonlyMap<string, Pool> }
  | { readonly kind: "invalid"; readonly message: string };

/** By name. A pool belongs to the environment that can read its rows. */
export function loadPools({ environments }: Registry, named: readonly NamedPath[]): PoolsResult {
  const pools = new Map<string, Pool>();
  for (const environment of environments) {
    const shipped = environment.rows?.defaultPool;
    if (shipped === undefined) continue;
    pools.set(shipped.name, loadPool(environment, shipped.name, readFileSync(shipped.file, "utf8")));
  }
  for (const { name, path } of named) {
    if (pools.has(name)) return { kind: "invalid", message: `--pool ${name}: there is a pool of that name already` };
    const read = readPool(environments, name, path);
    if (typeof read === "string") return { kind: "invalid", message: `--pool ${name}=${path}: ${read}` };
    pools.set(name, read);
  }
  return { kind: "ok", pools };
}

/** The pool, or what is wrong with the file. */
function readPool(environments: readonly Environment[], name: string, path: string): Pool | string {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    return `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
  const readers = environments.filter(({ rows }) => rows !== undefined);
  const pools = readers.map((environment) => loadPool(environment, name, text));
  const found = pools.find(({ rows }) => rows.length > 0);
  if (found !== undefined) return found;
  const reasons = pools.flatMap(({ environment, reasons: [first] }) => `${environment}: ${first ?? "it is empty"}`);
  return `no environment can read its rows (${reasons.join("; ")})`;
}
