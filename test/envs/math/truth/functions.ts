/**
 * Random functions with absolute values, maxima, signs and integer parts, evaluated exactly at fractions. Comparing
 * values shows whether two functions are equal without the code under test.
 */
import type { Rng } from "../../../../envs/lib/rng.ts";
import { areEqual, type Fraction } from "../trees.ts";

export type Fn =
  | { readonly op: "number"; readonly value: bigint }
  | { readonly op: "variable"; readonly name: string }
  | { readonly op: "+" | "-" | "*" | "/" | "max" | "min"; readonly left: Fn; readonly right: Fn }
  | { readonly op: "square" | "cube" | "abs" | "negate" | "floor" | "root of square" | "sgn"; readonly of: Fn };

export type Place = Readonly<Record<string, Fraction>>;

export const number = (value: number | bigint): Fn => ({ op: "number", value: BigInt(value) });
export const variable = (name: string): Fn => ({ op: "variable", name });
export const two = (op: Extract<Fn, { left: Fn }>["op"], left: Fn, right: Fn): Fn => ({ op, left, right });
export const one = (op: Extract<Fn, { of: Fn }>["op"], of: Fn): Fn => ({ op, of });

const isLess = (a: Fraction, b: Fraction): boolean => (a[0] * b[1] - b[0] * a[1]) * a[1] * b[1] < 0n;
const negated = (a: Fraction): Fraction => [-a[0], a[1]];
const product = (a: Fraction, b: Fraction): Fraction => [a[0] * b[0], a[1] * b[1]];
const ZERO: Fraction = [0n, 1n];

/** Undefined: it has no value there. */
export function valueOf(fn: Fn, at: Place): Fraction | undefined {
  switch (fn.op) {
    case "number":
      return [fn.value, 1n];
    case "variable":
      return at[fn.name];
    case "square":
    case "cube":
    case "abs":
    case "negate":
    case "floor":
    case "root of square":
    case "sgn": {
      const a = valueOf(fn.of, at);
      return a && ofOne(fn.op, a);
    }
    default: {
      const [a, b] = [valueOf(fn.left, at), valueOf(fn.right, at)];
      return a && b && ofTwo(fn.op, a, b);
    }
  }
}

function ofOne(op: Extract<Fn, { of: Fn }>["op"], a: Fraction): Fraction {
  switch (op) {
    case "square":
      return product(a, a);
    case "cube":
      return product(a, product(a, a));
    case "negate":
      return negated(a);
    case "abs":
    case "root of square":
      return isLess(a, ZERO) ? negated(a) : a;
    case "sgn":
      return isLess(a, ZERO) ? [-1n, 1n] : a[0] === 0n ? ZERO : [1n, 1n];
    case "floor": {
      const [num, den] = a[1] < 0n ? [-a[0], -a[1]] : a;
      return [(num - (((num % den) + den) % den)) / den, 1n];
    }
  }
}

function ofTwo(op: Extract<Fn, { left: Fn }>["op"], a: Fraction, b: Fraction): Fraction | undefined {
  switch (op) {
    case "+":
      return [a[0] * b[1] + b[0] * a[1], a[1] * b[1]];
    case "-":
      return [a[0] * b[1] - b[0] * a[1], a[1] * b[1]];
    case "*":
      return product(a, b);
    case "/":
      return b[0] === 0n ? undefined : [a[0] * b[1], a[1] * b[0]];
    case "max":
      return isLess(a, b) ? b : a;
    case "min":
      return isLess(a, b) ? a : b;
  }
}

export function namesIn(fn: Fn, found = new Set<string>()): Set<string> {
  if (fn.op === "variable") found.add(fn.name);
  else if ("of" in fn) namesIn(fn.of, found);
  else if ("left" in fn) {
    namesIn(fn.left, found);
    namesIn(fn.right, found);
  }
  return found;
}

/** Near 0 and far from it, of either sign, whole and broken: each coordinate of its own kind. */
function somePlace(names: Iterable<string>, rng: Rng): Place {
  const coordinate = (): Fraction => {
    const size = rng.pick([3, 30, 300, 30_000, 3_000_000, 2_000_000_000]);
    return [BigInt(rng.int(-size, size)), BigInt(rng.pick([1, 1, 2, 7]))];
  };
  return Object.fromEntries([...names].map((name) => [name, coordinate()]));
}

const TRIES = 60;

/** A place where both are defined and differ; undefined: none was found. */
export function witness(a: Fn, b: Fn, rng: Rng): Place | undefined {
  const names = namesIn(b, namesIn(a));
  for (let i = 0; i < TRIES; i++) {
    const at = somePlace(names, rng);
    const [left, right] = [valueOf(a, at), valueOf(b, at)];
    if (left !== undefined && right !== undefined && !areEqual(left, right)) return at;
  }
  return undefined;
}

/** Whether both are defined somewhere. */
export function meet(a: Fn, b: Fn, rng: Rng): boolean {
  const names = namesIn(b, namesIn(a));
  return Array.from({ length: 10 }, () => somePlace(names, rng)).some((at) => valueOf(a, at) && valueOf(b, at));
}

const STRENGTH: Readonly<Partial<Record<Fn["op"], number>>> = { "+": 1, "-": 1, negate: 1, "*": 2, square: 3, cube: 3 };

/** Writes a function in LaTeX, in one of the ways in which people write it. */
export function written(fn: Fn, rng: Rng): string {
  const inside = (part: Fn, least: number): string => {
    const text = written(part, rng);
    const isNegative = part.op === "number" && part.value < 0n;
    return (STRENGTH[part.op] ?? 4) >= least && !isNegative ? text : rng.pick([`(${text})`, `\\left(${text}\\right)`]);
  };
  switch (fn.op) {
    case "number":
      return `${fn.value}`;
    case "variable":
      return fn.name;
    case "+":
    case "-":
      return `${inside(fn.left, 1)}${fn.op}${inside(fn.right, 2)}`;
    case "*":
      return `${inside(fn.left, 2)}${rng.pick(["\\cdot ", "\\times "])}${inside(fn.right, 2)}`;
    case "/":
      return `\\frac{${written(fn.left, rng)}}{${written(fn.right, rng)}}`;
    case "max":
    case "min":
      return rng.pick([
        `\\${fn.op}(${written(fn.left, rng)}, ${written(fn.right, rng)})`,
        `\\${fn.op}\\{${written(fn.left, rng)}, ${written(fn.right, rng)}\\}`,
      ]);
    case "square":
    case "cube":
      return `${inside(fn.of, 4)}^${fn.op === "square" ? 2 : 3}`;
    case "negate":
      return `-${inside(fn.of, 2)}`;
    case "abs":
      return rng.pick([`\\left|${written(fn.of, rng)}\\right|`, `\\lvert ${written(fn.of, rng)}\\rvert`]);
    case "floor":
      return `\\left\\lfloor ${written(fn.of, rng)}\\right\\rfloor`;
    case "root of square":
      return `\\sqrt{(${written(fn.of, rng)})^2}`;
    case "sgn":
      return `\\operatorname{sgn}(${written(fn.of, rng)})`;
  }
}
