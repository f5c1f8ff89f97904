/** JSON data that JSON.stringify and JSON.parse leave unchanged, and functions that read it with type checks. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Converts a value to JSON data and back. `decode` throws a FormatError for data that `encode` never returns. */
export interface Codec<T> {
  encode(value: T): Json;
  decode(json: Json): T;
}

/** Stored data has another format than this server reads, or is damaged. */
export class FormatError extends Error {}

function refuse(wanted: string, found: Json | undefined): never {
  throw new FormatError(`expected ${wanted}, found ${JSON.stringify(found)?.slice(0, 100) ?? "nothing"}`);
}

export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new FormatError("the stored text is not JSON");
  }
}

export function readNumber(json: Json | undefined): number {
  return typeof json === "number" ? json : refuse("a number", json);
}

export function readText(json: Json | undefined): string {
  return typeof json === "string" ? json : refuse("a string", json);
}

export function readList(json: Json | undefined): readonly Json[] {
  return isList(json) ? json : refuse("a list", json);
}

export function readNumbers(json: Json | undefined): readonly number[] {
  return readList(json).map(readNumber);
}

export function readObject(json: Json | undefined): { readonly [name: string]: Json } {
  return typeof json === "object" && json !== null && !isList(json) ? json : refuse("an object", json);
}

/** Returns null for null, else the result of `read`. */
export function readOrNull<T>(json: Json | undefined, read: (json: Json | undefined) => T): T | null {
  return json === null ? null : read(json);
}

/** Returns whether the value is a list. Unlike Array.isArray it narrows the type of readonly lists. */
export function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}
