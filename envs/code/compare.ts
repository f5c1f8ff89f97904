/**
 * Compares two Python values like Python's ==, for values of the exact builtin types. An int equals a float or a bool
 * of the same value. A list never equals a tuple, nor a str bytes. Sets and dicts have no order, and a set equals a
 * frozenset with the same members. Two rules differ from Python: if one number is a float, a relative error of a
 * billionth is allowed, and nan equals nan. Values of other types equal nothing.
 */
import type { PyValue } from "../ports.ts";
import { isList, membersOf, numberOf, sequenceOf, tagged, wholeOf } from "./value.ts";

/** Allowed difference of floats, as in Python's math.isclose: either bound suffices. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}

/**
 * Tolerance for rounding errors. Sums of floats in another order differ by less; really different answers differ by
 * more.
 */
export const ROUNDING: Tolerance = { relative: 1e-9, absolute: 1e-12 };

export interface Comparison {
  readonly tolerance: Tolerance;
  /**
   * Whether the expected value was written as JSON, which has no tuples and only string keys. Then a list also matches
   * a tuple, and a key of digits also matches an int.
   */
  readonly json: boolean;
}

export const EXACTLY: Comparison = { tolerance: ROUNDING, json: false };

/**
 * Absolute value from which an expected int equals only floats of exactly its value. For smaller ints, the tolerance
 * applies.
 */
const LARGE = 1e6;

/** Maximum nesting depth of compared values, which limits the recursion. A deeper value equals nothing. */
const DEPTH_MAX = 100;

export function equals(expected: PyValue, got: PyValue, comparison: Comparison = EXACTLY, depth = 0): boolean {
  if (depth > DEPTH_MAX) return false;
  if (expected === null || got === null) return expected === got;
  if (typeof expected === "string" || typeof got === "string") return expected === got;
  const number = numberOf(expected);
  if (number !== undefined) return equalNumbers(expected, got, comparison.tolerance);
  if (isList(expected) || tagged(expected, "tuple")) return equalSequences(expected, got, comparison, depth);
  const members = membersOf(expected);
  if (members !== undefined) return equalSets(members, membersOf(got));
  const dict = tagged(expected, "dict")?.dict;
  if (dict !== undefined) return equalDicts(dict, tagged(got, "dict")?.dict, comparison, depth);
  const bytes = tagged(expected, "bytes")?.bytes;
  return bytes !== undefined && tagged(got, "bytes")?.bytes === bytes;
}

function equalNumbers(expected: PyValue, got: PyValue, tolerance: Tolerance): boolean {
  const [one, other] = [wholeOf(expected), wholeOf(got)];
  if (one !== undefined && other !== undefined) return one === other;
  const [a, b] = [numberOf(expected), numberOf(got)];
  if (a === undefined || b === undefined) return false;
  // An int too large for a double must not count as infinity.
  if (isBeyond(one, a) || isBeyond(other, b)) return false;
  // Compare large ints exactly, because a billionth of one may exceed 1: 5000000000 must not equal 10000000001 / 2.
  const isLarge = one !== undefined && Math.abs(a) >= LARGE && tolerance === ROUNDING;
  return isLarge ? a === b : near(a, b, tolerance);
}

function isBeyond(whole: string | undefined, double: number): boolean {
  return whole !== undefined && !Number.isFinite(double);
}

/** Returns whether two doubles are equal within the tolerance. */
export function near(a: number, b: number, { relative, absolute }: Tolerance): boolean {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= Math.max(absolute, relative * Math.max(Math.abs(a), Math.abs(b)));
}

function equalSequences(expected: PyValue, got: PyValue, comparison: Comparison, depth: number): boolean {
  if (!comparison.json && isList(expected) !== isList(got)) return false;
  const [wanted, have] = [sequenceOf(expected), sequenceOf(got)];
  if (wanted === undefined || have === undefined || wanted.length !== have.length) return false;
  return wanted.every((item, i) => equals(item, have[i] as PyValue, comparison, depth + 1));
}

function equalSets(wanted: readonly PyValue[], got: readonly PyValue[] | undefined): boolean {
  // The program's set has no duplicates, but `wanted` may have some. If the program's set has more items, the two
  // differ.
  if (got === undefined || got.length > wanted.length) return false;
  const [one, other] = [wanted, got].map((items) => new Set(items.map((item) => keyOf(item)))) as [
    Set<string>,
    Set<string>,
  ];
  return one.size === other.size && [...one].every((key) => other.has(key));
}

type Entries = readonly (readonly [key: PyValue, value: PyValue])[];

function equalDicts(wanted: Entries, got: Entries | undefined, comparison: Comparison, depth: number): boolean {
  if (got === undefined || got.length > wanted.length) return false;
  const values = new Map(got.map(([key, value]) => [keyOf(key), value]));
  // If an expected dict repeats a key, the last value counts.
  const expected = new Map(wanted.map(([key, value]) => [keyOf(key), value]));
  if (values.size !== expected.size) return false;
  return [...expected].every(([key, value]) => {
    const have = values.get(comparison.json && !values.has(key) ? keyInJson(key) : key);
    return have !== undefined && equals(value, have, comparison, depth + 1);
  });
}

/**
 * Converts the key of a string of digits, '"7"', to the key of the int, '7', because JSON writes the int key 7 as "7".
 */
function keyInJson(key: string): string {
  return /^"-?\d+"$/.test(key) ? key.slice(1, -1) : key;
}

/**
 * Returns a map key for a hashable Python value. Two values have the same key exactly if Python's == holds between
 * them, without tolerance.
 */
export function keyOf(value: PyValue, depth = 0): string {
  if (depth > DEPTH_MAX) return "deep";
  if (value === null) return "None";
  if (typeof value === "string") return JSON.stringify(value);
  const whole = wholeOf(value);
  if (whole !== undefined) return whole;
  const number = numberOf(value);
  if (number !== undefined) return Number.isInteger(number) ? BigInt(number).toString() : `${number}`;
  const sequence = sequenceOf(value);
  if (sequence !== undefined)
    return `${isList(value) ? "list" : ""}(${sequence.map((item) => keyOf(item, depth + 1)).join(",")})`;
  const members = membersOf(value);
  if (members !== undefined)
    return `{${members
      .map((item) => keyOf(item, depth + 1))
      .sort()
      .join(",")}}`;
  return JSON.stringify(value);
}
