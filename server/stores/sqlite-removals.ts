/**
 * Deletes removed runs. The row of a removed run is gone at once, so that nobody finds the run. Its other rows are
 * deleted afterwards, a few at a time.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Maximum number of rows that are deleted at a time, which takes a few milliseconds. */
export const PORTION_ROWS = 256;

/**
 * Returns functions that delete the rows of removed items, a few at a time. `next` selects an item's key. The
 * statements `portions` are tried until one deletes rows of this key. If none does, `done` forgets the key.
 */
export function inPortions(next: StatementSync, portions: readonly StatementSync[], done: StatementSync) {
  // True at first, because an earlier process may have left rows to delete.
  let due = true;
  return {
    due: () => due,
    begin: (): void => void (due = true),
    portion: (): void => {
      const key = next.get()?.["key"] as number | undefined;
      if (key === undefined) due = false;
      else if (!portions.some((portion) => portion.run(key).changes > 0)) done.run(key);
    },
  };
}

export function removalsIn(db: DatabaseSync) {
  const add = db.prepare("INSERT OR IGNORE INTO removals (run) VALUES (?)");
  const next = db.prepare("SELECT run AS key FROM removals LIMIT 1");
  const portions = ["events", "records", "snapshots", "heads", "summaries"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE run = ? LIMIT ${PORTION_ROWS})`),
  );
  const removals = inPortions(next, portions, db.prepare("DELETE FROM removals WHERE run = ?"));
  return {
    ...removals,
    /** Records runs whose rows must be deleted, and returns them. */
    add: <Row extends { readonly key: number }>(rows: readonly Row[]): readonly Row[] => {
      for (const { key } of rows) add.run(key);
      if (rows.length > 0) removals.begin();
      return rows;
    },
  };
}
