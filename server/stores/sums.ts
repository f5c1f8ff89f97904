/** A sum beside each text that is kept: one that was changed in the file, by a flipped bit or by hand, is told and not believed. */
import { crc32 } from "node:zlib";
import { StoreDamaged } from "./store.ts";

/** Adds the sums to tables that had none. What was written before has none, and is taken as it stands. */
export function withSums(tables: readonly string[]): string {
  return tables.map((table) => `ALTER TABLE ${table} ADD COLUMN sum INTEGER;`).join("\n");
}

/** Of the texts and of their place, so that a row that was copied or moved to another place does not fit either. */
export function sumOf(place: readonly (number | string)[], ...texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, sum), crc32(place.join(" ")));
}

/** Whether a row is as it was written. Of a damaged page SQLite may give a number where a text was. */
export function fits(sum: number | null, place: readonly (number | string)[], ...texts: readonly string[]): boolean {
  return texts.every((text) => typeof text === "string") && (sum === null || sum === sumOf(place, ...texts));
}

/** Throws StoreDamaged where a row is not as it was written; `what` names it. */
export function expectSum(
  what: string,
  sum: number | null,
  place: readonly (number | string)[],
  ...texts: readonly string[]
): void {
  if (!fits(sum, place, ...texts)) throw new StoreDamaged(`${what} is not as it was written`);
}
