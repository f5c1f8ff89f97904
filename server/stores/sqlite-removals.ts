/** Deletes runs: the run's row goes at once, so nobody finds the run; the other rows follow, a few at a time. */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Number of rows deleted in one go: a few milliseconds. */
export const PORTION_ROWS = 256;

/**
 * Deletes by key: `next` returns a key, each of `portions` deletes some of its rows, and `done` forgets the key after
 * the last row.
 */
export function inPortions(next: StatementSync, portions: readonly StatementSync[], done: StatementSync) {
  // True at first, because the last process may have left some rows.
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
    /** Marks runs for deletion, and returns their rows. */
    add: <Row extends { readonly key: number }>(rows: readonly Row[]): readonly Row[] => {
      for (const { key } of rows) add.run(key);
      if (rows.length > 0) removals.begin();
      return rows;
    },
  };
}
