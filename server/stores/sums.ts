/** A sum beside each text that is kept: one that was changed in the file, by a flipped bit or by hand, is told and not believed. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { StoreDamaged } from "./store.ts";

/** Tables whose texts have sums, and of each what stands beside the run's key in the sum. */
type Places = Readonly<Record<string, string | undefined>>;

export function withSums(tables: Places): string {
  const names = Object.keys(tables);
  return names.map((table) => `ALTER TABLE ${table} ADD COLUMN sum INTEGER;`).join("\n");
}

/** What was written before there were sums is taken as it stands, once: from then on a row without a sum is a changed one. */
export function sumsOfAll(tables: Places): string {
  const each = Object.entries(tables).map(([table, place]) => {
    const args = ["body", "run", ...(place === undefined ? [] : [place])];
    return `UPDATE ${table} SET sum = sum_of(${args.join(", ")}) WHERE sum IS NULL;`;
  });
  return each.join("\n");
}

/** The function of SQL that sumsOfAll calls. */
export function defineSumOf(db: DatabaseSync): void {
  db.function("sum_of", { varargs: true }, (body, ...place) => sumOf(place as number[], String(body)));
}

/** Of the texts and of their place, so that a row that was copied or moved to another place does not fit either. */
export function sumOf(place: readonly (number | string)[], ...texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, sum), crc32(place.join(" ")));
}

/** Whether a row is as it was written. Of a damaged page SQLite may give a number where a text was. */
export function fits(sum: number, place: readonly (number | string)[], ...texts: readonly string[]): boolean {
  return texts.every((text) => typeof text === "string") && sum === sumOf(place, ...texts);
}

/** Throws StoreDamaged where a row is not as it was written; `what` names it. */
export function expectSum(
  what: string,
  sum: number,
  place: readonly (number | string)[],
  ...texts: readonly string[]
): void {
  if (!fits(sum, place, ...texts)) throw new StoreDamaged(`${what} is not as it was written`);
}
