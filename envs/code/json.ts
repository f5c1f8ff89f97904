/** JSON in rows, without losing digits. */
import type { PyValue } from "../ports.ts";
import { pyFloat, pyInt } from "./value.ts";

/** What a text of JSON holds; ints beyond 2^53 are bigints. Undefined: it is not JSON. */
export function exactJson(text: string): unknown {
  try {
    // The third argument is the number as it is written (ECMAScript 2026, JSON.parse source text access).
    return JSON.parse(text, ((_: string, value: unknown, context?: { readonly source?: string }) => {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
      const source = context?.source ?? "";
      return /^-?\d{1,4000}$/.test(source) ? BigInt(source) : value;
    }) as (key: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
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
