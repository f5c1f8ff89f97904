/**
 * When two Python values are the same: Python's == over the exact builtin types. An int equals the float and the bool of
 * its value, a list no tuple, a str no bytes; sets and dicts have no order; a set equals the frozenset of its members.
 * What differs from Python: where one of two numbers is a float, a billionth of rounding is forgiven, and nan is nan.
 * Values of other types equal nothing.
 */
import type { PyValue } from "../ports.ts";
import { isList, membersOf, numberOf, sequenceOf, tagged, wholeOf } from "./value.ts";

/** How far floats may lie apart, as in Python's math.isclose: either is enough. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}

/** Sums of floats in another order differ by less, and other answers by more. */
export const ROUNDING: Tolerance = { relative: 1e-9, absolute: 1e-12 };

export interface Comparison {
  readonly tolerance: Tolerance;
  /** What is expected was written as JSON: a list stands for a tuple too, and a key of digits for the int. */
  readonly json: boolean;
}

export const EXACTLY: Comparison = { tolerance: ROUNDING, json: false };

/** From here on ints are told from floats that are near them. */
const LARGE = 1e6;

/** Deeper values are equal to nothing: a list may hold itself. */
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
  // An int that no double comes near is no infinity.
  if (isBeyond(one, a) || isBeyond(other, b)) return false;
  // Of a large int a billionth is more than a whole: 5000000000 is not 10000000001 / 2.
  const isLarge = one !== undefined && Math.abs(a) >= LARGE && tolerance === ROUNDING;
  return isLarge ? a === b : near(a, b, tolerance);
}

function isBeyond(whole: string | undefined, double: number): boolean {
  return whole !== undefined && !Number.isFinite(double);
}

/** Whether two doubles are as good as the same. */
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
  // What comes back has no member twice: more of them are others.
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
  // A key that comes twice in a literal has the last one's value.
  const expected = new Map(wanted.map(([key, value]) => [keyOf(key), value]));
  if (values.size !== expected.size) return false;
  return [...expected].every(([key, value]) => {
    const have = values.get(comparison.json && !values.has(key) ? keyInJson(key) : key);
    return have !== undefined && equals(value, have, comparison, depth + 1);
  });
}

/** JSON has no keys but strings: "7" stands for 7 too. */
function keyInJson(key: string): string {
  return /^"-?\d+"$/.test(key) ? key.slice(1, -1) : key;
}

/** The same text for two hashable values exactly if Python's == holds between them: no rounding is forgiven here. */
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
