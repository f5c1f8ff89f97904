/**
 * What constant expressions of tests come to, e.g. "-1", "10**9 + 7", "[0] * 5", "set([1, 2])" or "float('inf')". Exact
 * and bounded; what is beyond this is undefined, and the test is not read.
 */
import type { PyValue } from "../ports.ts";
import { keyOf } from "./compare.ts";
import { isList, membersOf, numberOf, pyFloat, pyInt, sequenceOf, tagged, wholeOf } from "./value.ts";

/** Items of a list, and characters of a string, that are made. */
const LENGTH_MAX = 100_000;
const BITS_MAX = 20_000n;

export function foldSign(sign: string, operand: PyValue): PyValue | undefined {
  const whole = wholeOf(operand);
  if (whole !== undefined) return pyInt(sign === "-" ? -BigInt(whole) : BigInt(whole));
  const number = numberOf(operand);
  return number === undefined ? undefined : pyFloat(sign === "-" ? -number : number);
}

export function fold(operator: string, left: PyValue, right: PyValue): PyValue | undefined {
  const [a, b] = [wholeOf(left), wholeOf(right)];
  if (a !== undefined && b !== undefined) return foldInts(operator, BigInt(a), BigInt(b));
  const [x, y] = [numberOf(left), numberOf(right)];
  if (x !== undefined && y !== undefined) return foldFloats(operator, x, y);
  if (operator === "*") return b === undefined ? repeated(right, a) : repeated(left, b);
  return operator === "+" ? joined(left, right) : undefined;
}

function foldInts(operator: string, a: bigint, b: bigint): PyValue | undefined {
  switch (operator) {
    case "+":
      return pyInt(a + b);
    case "-":
      return pyInt(a - b);
    case "*":
      return bits(a) + bits(b) > BITS_MAX ? undefined : pyInt(a * b);
    case "**":
      if (b < 0n) return undefined;
      return bits(a) * b > BITS_MAX ? undefined : pyInt(a ** b);
    case "//":
    case "%": {
      if (b === 0n) return undefined;
      // Python rounds down, and the remainder has the divisor's sign.
      const remainder = ((a % b) + b) % b;
      return pyInt(operator === "%" ? remainder : (a - remainder) / b);
    }
    case "/":
      return b === 0n || bits(a) > 53n || bits(b) > 53n ? undefined : pyFloat(Number(a) / Number(b));
    default:
      return undefined;
  }
}

function bits(value: bigint): bigint {
  return BigInt((value < 0n ? -value : value).toString(16).length * 4);
}

function foldFloats(operator: string, a: number, b: number): PyValue | undefined {
  switch (operator) {
    case "+":
      return pyFloat(a + b);
    case "-":
      return pyFloat(a - b);
    case "*":
      return pyFloat(a * b);
    case "/":
      return b === 0 ? undefined : pyFloat(a / b);
    case "**":
      return a < 0 ? undefined : pyFloat(a ** b);
    default:
      return undefined;
  }
}

function repeated(sequence: PyValue, times: string | undefined): PyValue | undefined {
  const count = Math.max(0, Number(times ?? NaN));
  const length = typeof sequence === "string" ? sequence.length : sequenceOf(sequence)?.length;
  if (length === undefined || !(length * count <= LENGTH_MAX)) return undefined;
  if (typeof sequence === "string") return sequence.repeat(count);
  const items = Array.from({ length: count }, () => sequenceOf(sequence) ?? []).flat();
  return isList(sequence) ? items : { tuple: items };
}

function joined(left: PyValue, right: PyValue): PyValue | undefined {
  if (typeof left === "string" && typeof right === "string")
    return left.length + right.length > LENGTH_MAX ? undefined : left + right;
  const [a, b] = [sequenceOf(left), sequenceOf(right)];
  if (a === undefined || b === undefined || isList(left) !== isList(right)) return undefined;
  if (a.length + b.length > LENGTH_MAX) return undefined;
  return isList(left) ? [...a, ...b] : { tuple: [...a, ...b] };
}

/** What a builtin makes of values; undefined: it is not known here, or fails. */
export function foldBuiltin(name: string, args: readonly PyValue[]): PyValue | undefined {
  const [first] = args;
  if (name === "range") return rangeOf(args);
  if (args.length > 1) return undefined;
  if (first === undefined) return EMPTY[name];
  if (name === "float") return floatOf(first);
  if (name === "len") return lengthOf(first);
  const items = itemsOf(first);
  if (items === undefined) return name === "abs" && numberOf(first) !== undefined ? magnitude(first) : undefined;
  switch (name) {
    case "list":
      return items;
    case "tuple":
      return { tuple: items };
    case "set":
      return { set: distinct(items) };
    case "frozenset":
      return { frozenset: distinct(items) };
    case "sorted":
      return sortedOf(items);
    default:
      return undefined;
  }
}

const EMPTY: Readonly<Record<string, PyValue>> = {
  ...{ list: [], tuple: { tuple: [] }, set: { set: [] }, frozenset: { frozenset: [] }, dict: { dict: [] } },
  ...{ str: "", int: { int: "0" }, float: { float: "0.0" }, bool: false },
};

/** What a loop over a value goes through: no dict, and a set in no order. */
export function itemsOf(value: PyValue): readonly PyValue[] | undefined {
  return typeof value === "string" ? [...value] : (sequenceOf(value) ?? membersOf(value));
}

export function lengthOf(value: PyValue): PyValue | undefined {
  const length = itemsOf(value)?.length ?? tagged(value, "dict")?.dict.length ?? tagged(value, "bytes")?.bytes.length;
  return length === undefined ? undefined : pyInt(BigInt(length));
}

export function magnitude(value: PyValue): PyValue | undefined {
  return (wholeOf(value) ?? `${numberOf(value)}`).startsWith("-") ? foldSign("-", value) : foldSign("+", value);
}

export function distinct(items: readonly PyValue[]): readonly PyValue[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** Of numbers or of strings, in Python's order; undefined: of what has none, or one that is not known here. */
export function sortedOf(items: readonly PyValue[]): PyValue | undefined {
  if (items.every((item) => typeof item === "string")) return items.toSorted(byCodePoints);
  if (!items.every((item) => Number.isFinite(numberOf(item)))) return undefined;
  return items.toSorted((a, b) => (numberOf(a) as number) - (numberOf(b) as number));
}

function byCodePoints(a: PyValue, b: PyValue): number {
  const [one, other] = [[...(a as string)], [...(b as string)]];
  const at = one.findIndex((character, i) => character !== other[i]);
  if (at < 0) return one.length - other.length;
  return ((one[at] as string).codePointAt(0) as number) - (other[at]?.codePointAt(0) ?? -1);
}

function floatOf(value: PyValue): PyValue | undefined {
  const number = numberOf(value);
  if (number !== undefined) return pyFloat(number);
  if (typeof value !== "string") return undefined;
  const text = value.trim().toLowerCase().replace(/^\+/, "").replace("infinity", "inf");
  if (text === "nan" || text === "inf" || text === "-inf") return { float: text };
  return /^-?\d{1,64}(\.\d{1,64})?(e[+-]?\d{1,3})?$/.test(text) ? pyFloat(Number(text)) : undefined;
}

function rangeOf(args: readonly PyValue[]): PyValue | undefined {
  const numbers = args.map((arg) => (tagged(arg, "int") === undefined ? NaN : (numberOf(arg) as number)));
  const [start = 0, end = NaN, step = 1] = numbers.length === 1 ? [0, ...numbers] : numbers;
  const length = Math.max(0, Math.ceil((end - start) / step));
  if (!(length <= LENGTH_MAX) || args.length > 3 || !Number.isSafeInteger(start) || step === 0) return undefined;
  return Array.from({ length }, (_, i) => pyInt(BigInt(start + i * step)));
}
