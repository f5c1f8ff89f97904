/**
 * Reads JSON texts in rows, and lists and dicts as Python prints them. Numbers keep all their digits, and floats stay
 * distinct from ints.
 */
import { isRawNumber, type RawNumber, rawNumber } from "../lib/exact-json.ts";
import type { PyValue } from "../ports.ts";
import { pyFloat, pyInt } from "./value.ts";

/**
 * Returns the value of a JSON text. Ints beyond 2^53 become bigints. Whole floats such as 2.0 become RawNumbers, which
 * keep the notation. Returns undefined if the text is not JSON.
 */
export function exactJson(text: string): unknown {
  try {
    // The third argument holds the number as written (ECMAScript 2026, JSON.parse source text access).
    return JSON.parse(text, ((_: string, value: unknown, context?: { readonly source?: string }) => {
      if (typeof value !== "number") return value;
      const source = context?.source ?? "";
      return Number.isSafeInteger(value) && isInt(source) ? value : (numberOf(source) ?? value);
    }) as (key: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };
const PYTHON_TOKEN = /'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|(?<![\w.])(?:True|False|None)(?!\w)/g;
const PYTHON_ESCAPE = /\\(?:x([\da-f]{2})|U([\da-f]{8})|([^]))|"/gi;

/** Returns the value of a JSON text, or of a dict or list as Python prints it. Undefined if the text is neither. */
export function valueIn(text: string): unknown {
  const json = exactJson(text);
  if (json !== undefined || !/^\s*[[{]/.test(text)) return json;
  return exactJson(
    text.replace(PYTHON_TOKEN, (token, single?: string, double?: string) => {
      const inner = single ?? double;
      return inner === undefined ? (PYTHON_WORDS[token] as string) : `"${inner.replace(PYTHON_ESCAPE, jsonEscape)}"`;
    }),
  );
}

function jsonEscape(token: string, hex?: string, point?: string, escaped?: string): string {
  if (hex !== undefined) return `\\u00${hex}`;
  if (point !== undefined)
    return JSON.stringify(String.fromCodePoint(Math.min(parseInt(point, 16), 0x10ffff))).slice(1, -1);
  return escaped === "'" ? "'" : escaped === undefined ? '\\"' : token;
}

function isInt(source: string): boolean {
  return !/[.eE]/.test(source);
}

const DIGITS_MAX = 4000;

/**
 * Returns a number as Python reads it. An int keeps all its digits, and becomes undefined if it has too many. A whole
 * float such as 2.0 becomes a RawNumber, so that it stays a float. If it became an int, some programs would never end:
 * repeated squaring of 2.0 soon overflows, but that of 2 does not.
 */
function numberOf(source: string): bigint | number | RawNumber | undefined {
  if (isInt(source)) return source.length <= DIGITS_MAX ? BigInt(source) : undefined;
  const value = Number(source);
  return Number.isInteger(value) ? rawNumber(source) : value;
}

/** Returns a value of a row with its RawNumbers converted to the numbers that `exactJson` returns. */
export function exactValue(value: unknown): unknown {
  if (isRawNumber(value)) return numberOf(value.rawJSON);
  if (Array.isArray(value)) return value.map(exactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, exactValue(part)]));
}

const DEPTH_MAX = 64;

/**
 * Returns a JSON value as the Python value that json.loads would return. Returns undefined if the nesting is too deep,
 * or for an int beyond 2^53 that was already rounded to a double.
 */
export function fromJson(value: unknown, depth = 0): PyValue | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return pyInt(value);
  if (isRawNumber(value)) return pyFloat(Number(value.rawJSON));
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
