/** What of a pool's file is taken, and which split its rows are of: the part after "@" of --pool name=file@selection. */
import type { Split } from "../../../envs/environment.ts";
import { didYouMean } from "../../../envs/lib/text.ts";
import { POOL_SPLITS, type RowRange } from "../../../envs/pool-columns.ts";

export interface PoolFile {
  readonly path: string;
  /** Empty: all rows, each of the split of its hash. */
  readonly selection: readonly RowRange[];
}

export type PoolFileResult =
  ({ readonly kind: "ok" } & PoolFile) | { readonly kind: "invalid"; readonly message: string };

/** One part: a split, a range of rows from 0 as Python slices, or both. */
const PART = /^([a-zA-Z_]*)(?:\[(\d*):(\d*)\])?$/;

/**
 * "rows.parquet@train[200:],eval[:200]": rows from 200 on are of train, the first 200 of eval, whatever their hash.
 * "rows.jsonl@[:1000]": the first 1,000 rows, each of the split of its hash. Rows of no part are left out. An "@" that no
 * selection follows is of the path.
 */
export function readPoolPath(given: string): PoolFileResult {
  const at = given.lastIndexOf("@");
  const parts = at < 1 ? [] : given.slice(at + 1).split(",");
  const matches = parts.map((part) => PART.exec(part));
  if (parts.length === 0 || matches.some((match) => match === null || match[0] === ""))
    return { kind: "ok", path: given, selection: [] };
  const selection: RowRange[] = [];
  for (const match of matches) {
    const range = readPart(match as RegExpExecArray);
    if (typeof range === "string") return { kind: "invalid", message: range };
    const overlapped = selection.find(({ from, to }) => range.from < to && from < range.to);
    if (overlapped !== undefined)
      return { kind: "invalid", message: `'${match?.[0]}' has rows of a part before it: a row can be in one only` };
    selection.push(range);
  }
  return { kind: "ok", path: given.slice(0, at), selection };
}

function readPart([part, name = "", from = "", to = ""]: RegExpExecArray): RowRange | string {
  const split = POOL_SPLITS.find((each) => each === name);
  if (name !== "" && split === undefined)
    return `'${name}' is no split: there are ${POOL_SPLITS.join(", ")}${didYouMean(name, POOL_SPLITS)}`;
  const range = { from: Number(from), to: to === "" ? Infinity : Number(to), split: split satisfies Split | undefined };
  return range.from < range.to ? range : `'${part}' has no rows`;
}
