/** Files of rows for pools. */
import { writeFileSync } from "node:fs";

/** Writes rows as JSON Lines, and returns the path. */
export function writeRows(path: string, rows: readonly object[]): string {
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}
