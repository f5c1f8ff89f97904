/** Deletion: the run's row goes at once, and with it the run for all who look; the rest follows a few rows at a time. */
import type { DatabaseSync } from "node:sqlite";

/** Rows deleted in one go: a few milliseconds. */
const PORTION_ROWS = 256;

export function removalsIn(db: DatabaseSync) {
  const add = db.prepare("INSERT OR IGNORE INTO removals (run) VALUES (?)");
  const next = db.prepare("SELECT run FROM removals LIMIT 1");
  const done = db.prepare("DELETE FROM removals WHERE run = ?");
  const portions = ["events", "records", "snapshots", "heads", "summaries"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE run = ? LIMIT ${PORTION_ROWS})`),
  );
  // The last process may have left some.
  let due = true;
  return {
    due: () => due,
    /** Gives the rows back. */
    add: <Row extends { readonly key: number }>(rows: readonly Row[]): readonly Row[] => {
      for (const { key } of rows) add.run(key);
      due ||= rows.length > 0;
      return rows;
    },
    /** Deletes some rows of a run. */
    portion: (): void => {
      const run = next.get()?.["run"] as number | undefined;
      if (run === undefined) due = false;
      else if (!portions.some((portion) => portion.run(run).changes > 0)) done.run(run);
    },
  };
}
