/** JSON in rows, without losing digits. */
import { isRawNumber } from "../lib/exact-json.ts";
import type { PyValue } from "../ports.ts";
import { pyFloat, pyInt } from "./value.ts";

/** What a text of JSON holds; ints beyond 2^53 are bigints. Undefined: it is not JSON. */
export function exactJson(text: string): unknown {
  try {
    // The third argument is the number as it is written (ECMAScript 2026, JSON.parse source text access).
    return JSON.parse(text, ((_: string, value: unknown, context?: { readonly source?: string }) => {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
      return numberOf(context?.source ?? "") ?? value;
    }) as (key: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
}

/** As Python reads it: an int has all its digits, and a float those that a double has. Undefined: neither. */
function numberOf(source: string): bigint | number | undefined {
  if (/^-?\d{1,4000}$/.test(source)) return BigInt(source);
  return /^-?\d+$/.test(source) ? undefined : Number(source);
}

/** A value of a row, with numbers as `exactJson` has them. */
export function exactValue(value: unknown): unknown {
  if (isRawNumber(value)) return numberOf(value.rawJSON);
  if (Array.isArray(value)) return value.map(exactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, exactValue(part)]));
}

const DEPTH_MAX = 64;

/** A value of JSON as Python's json.loads makes it; undefined: of an int whose digits are lost, or nested too deep. */
export function fromJson(value: unknown, depth = 0): PyValue | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return pyInt(value);
  if (typeof value === "number") {
    if (!Number.isInteger(value)) return pyFloat(value);
    return Number.isSafeInteger(value) ? pyInt(BigInt(value)) : undefined;
  }
  if (Array.isArray(value)) return allFromJson(value, depth + 1);
  if (typeof value !== "object") return undefined;
  const values = allFromJson(Object.values(value), depth + 1);
  return values && { dict: Object.keys(value).map((key, i) => [key, values[i] as PyValue] as const) };
}

export function allFromJson(values: readonly unknown[], depth = 0): readonly PyValue[] | undefined {
  const read = values.map((value) => fromJson(value, depth));
  return read.includes(undefined) ? undefined : (read as readonly PyValue[]);
}
