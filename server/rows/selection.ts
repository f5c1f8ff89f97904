/** Parses the value of --pool: name=environment:file@selection. The environment and the selection may be left out. */
import { existsSync } from "node:fs";
import type { Environment, Split } from "../../envs/environment.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { POOL_SPLITS } from "../../envs/pool-columns.ts";
import type { RowRange } from "../../envs/pool-finish.ts";
import type { ColumnNames } from "../../envs/pool-view.ts";
import type { Registry } from "../../envs/registry.ts";

export interface PoolFile {
  readonly path: string;
  /** Ranges of rows that are used. Empty: all rows are used, and a row's hash decides its split. */
  readonly selection: readonly RowRange[];
  /** Environment of the rows. Undefined: the operator named none, so it is found from the rows, see owner.ts. */
  readonly environment: Environment | undefined;
  /** Columns that have another name in the file than in the environment. */
  readonly names: ColumnNames;
}

type Invalid = { readonly kind: "invalid"; readonly message: string };
export type PoolFileResult = ({ readonly kind: "ok" } & PoolFile) | Invalid;

/**
 * One part of a selection, e.g. "train", "[:1000]" or "train[200:]". Rows are numbered from 0, and ranges work as in
 * Python slices.
 */
const PART = /^([a-zA-Z_]*)(?:\[(\d*):(\d*)\])?$/;

/**
 * Parses a pool's path. In "rows.parquet@train[200:],eval[:200]", the rows from 200 on are in train and the first 200
 * in eval, whatever their hash. In "rows.jsonl@[:1000]", the first 1,000 rows are each in the split of its hash.
 *
 * Rows outside of all parts are left out. An "@" without a selection after it belongs to the path.
 *
 * "qa/letter:rows.jsonl", or "qa@1:rows.jsonl" for an older version, names the rows' environment; see `readOwner`.
 */
export function readPoolPath(given: string, registry: Registry, names: ColumnNames = []): PoolFileResult {
  const read = readPath(given, registry);
  return read.kind === "ok" ? { ...read, names } : read;
}

type PathResult = ({ readonly kind: "ok" } & Omit<PoolFile, "names">) | Invalid;

function readPath(given: string, registry: Registry): PathResult {
  const at = given.lastIndexOf("@");
  const parts = at < 1 ? [] : given.slice(at + 1).split(",");
  const matches = parts.map((part) => PART.exec(part));
  if (parts.length === 0 || matches.some((match) => match === null || match[0] === ""))
    return readOwner(given, [], registry);
  const selection: RowRange[] = [];
  for (const match of matches) {
    const range = readPart(match as RegExpExecArray);
    if (typeof range === "string") return { kind: "invalid", message: range };
    const overlapped = selection.find(({ from, to }) => range.from < to && from < range.to);
    if (overlapped !== undefined)
      return { kind: "invalid", message: `'${match?.[0]}' repeats rows of an earlier part: a row can be in only one` };
    selection.push(range);
  }
  return readOwner(given.slice(0, at), selection, registry);
}

function readPart([part, name = "", from = "", to = ""]: RegExpExecArray): RowRange | string {
  const split = POOL_SPLITS.find((each) => each === name);
  if (name !== "" && split === undefined)
    return `'${name}' is no split: there are ${POOL_SPLITS.join(", ")}${didYouMean(name, POOL_SPLITS)}`;
  const range = { from: Number(from), to: to === "" ? Infinity : Number(to), split: split satisfies Split | undefined };
  return range.from < range.to ? range : `'${part}' has no rows`;
}

/**
 * An environment's id with an optional version, a colon and a path. A path that itself looks like this can be written
 * with "./" in front.
 */
const OWNER = /^([a-z0-9-]+(?:\/[a-z0-9-]+)*)(?:@(\d{1,9}))?:(.+)$/s;

/**
 * Reads the text before a colon as an environment's id. If no such environment exists, but a file whose name includes
 * that text does, the text belongs to the path.
 */
function readOwner(given: string, selection: readonly RowRange[], registry: Registry): PathResult {
  const [, id = "", version, path = ""] = OWNER.exec(given) ?? [];
  if (id === "") return { kind: "ok", path: given, selection, environment: undefined };
  const found = ownerOf(registry, id, version);
  if (found.kind === "ok") return { kind: "ok", path, selection, environment: found.environment };
  if (existsSync(given)) return { kind: "ok", path: given, selection, environment: undefined };
  return { kind: "invalid", message: `${found.message} (to give a path that contains a colon, write './' before it)` };
}

/** Returns the environment with this id, or a message if it does not exist or reads no pools. */
export function ownerOf(
  registry: Registry,
  id: string,
  version?: string,
): { readonly kind: "ok"; readonly environment: Environment } | Invalid {
  const found = registry.find(id, version === undefined ? undefined : Number(version));
  if (found.kind === "found") {
    if (found.environment.rows !== undefined) return { kind: "ok", environment: found.environment };
    return { kind: "invalid", message: `${id} has no data pools; ${having(registry)}` };
  }
  if (found.kind === "unknown_version") return { kind: "invalid", message: found.message };
  const names = idsWithRows(registry);
  return { kind: "invalid", message: `no environment '${id}'${didYouMean(id, names) || `; ${having(registry)}`}` };
}

function idsWithRows({ environments }: Registry): readonly string[] {
  return [...new Set(environments.filter(({ rows }) => rows !== undefined).map(({ id }) => id))];
}

function having(registry: Registry): string {
  return `the environments with data pools are ${idsWithRows(registry).join(", ")}`;
}
