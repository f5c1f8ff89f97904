/** Reports for each row of a pool's file the task that a server makes of it, or the reason why it makes none. */
import { type Pool, rowOf } from "../../envs/pool.ts";
import { examineRow, viewOf } from "../../envs/pool-columns.ts";
import { nameRow } from "../../envs/pool-finish.ts";
import { wantedColumns } from "../../envs/pool-view.ts";
import { instanceHash } from "../../envs/splits.ts";
import type { OpenPorts } from "../../server/rows/checks.ts";
import { readPython } from "../../server/rows/python.ts";
import type { PoolReport } from "../../server/rows/read.ts";
import type { PoolFile } from "../../server/rows/selection.ts";
import type { Source } from "../../server/rows/pool-files.ts";
import { fileRows } from "./stream.ts";

export type CheckedRow =
  | {
      readonly row: string;
      readonly kind: "task";
      readonly level: string;
      readonly split: string;
      /** Remark in words if the task leaves out a part of the row. Unset otherwise. */
      readonly remark?: string;
    }
  | { readonly row: string; readonly kind: "rejected"; readonly reason: string }
  /** Row that is not in the selection of rows that the user gave, e.g. train[200:]. */
  | { readonly row: string; readonly kind: "left_out" };

/** Yields the rows of a pool's file. Reads the file again, so that it need not be in memory, and skips blank lines. */
export async function* checkedRows(
  source: Source,
  { pool, failed }: PoolReport,
  { selection, names }: Pick<PoolFile, "selection" | "names">,
  openPorts: OpenPorts,
): AsyncGenerator<CheckedRow, void, undefined> {
  const { definition, lines } = pool;
  const firstOf = firstRows(pool);
  // Index in the pool of the next row that holds a task. The pool has its rows in the file's order.
  let place = 0;
  const view = viewOf(definition, names);
  const choose = (there: readonly string[]) => wantedColumns(definition.rows ?? {}, names, there);
  for await (const raw of fileRows(source, choose)) {
    if (raw.json?.trim() === "") continue;
    const row = nameRow(lines, raw.row);
    if (pool.columns.rows[place] === raw.row) {
      const { level, split, instance } = rowOf(pool, place++);
      const remark = definition.rows?.remark?.(instance);
      yield { row, kind: "task", level, split, ...(remark !== undefined && { remark }) };
      continue;
    }
    let examined = examineRow(definition, raw, view);
    if (examined.kind === "waiting") {
      const found = await readPython([examined.python], openPorts);
      if (typeof found === "string") throw new Error(found);
      examined = examineRow(definition, raw, view, found[0]);
    }
    const isChosen = selection.length === 0 || selection.some(({ from, to }) => raw.row >= from && raw.row < to);
    if (examined.kind === "rejected") yield { row, kind: "rejected", reason: examined.reason };
    else if (!isChosen || examined.kind !== "task") yield { row, kind: "left_out" };
    else {
      const first = firstOf(instanceHash(definition, examined.instance), raw.row);
      const reason = failed.get(raw.row) ?? `the same task as ${nameRow(lines, first)}`;
      yield { row, kind: "rejected", reason };
    }
  }
}

/**
 * Returns a function that finds the first row with the same task as a given one, in the pool or among the rejected rows
 * seen before. The index is built at the first call.
 */
function firstRows(pool: Pool): (hash: string, row: number) => number {
  let firsts: Map<string, number> | undefined;
  return (hash, row) => {
    firsts ??= new Map(
      Array.from({ length: pool.size }, (_, place) => [rowOf(pool, place).hash, rowOf(pool, place).index]),
    );
    const first = firsts.get(hash) ?? row;
    firsts.set(hash, first);
    return first;
  };
}
