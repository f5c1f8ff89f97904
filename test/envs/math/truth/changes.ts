/** Changes to random functions: identities that keep them equal, and mistakes that look alike and differ. */
import type { Rng } from "../../../../envs/lib/rng.ts";
import { type Fn, number, one, two, variable } from "./functions.ts";

export function randomFn(rng: Rng, depth: number, names: readonly string[]): Fn {
  if (depth === 0 || rng.int(0, 6) === 0) return rng.int(0, 2) > 0 ? variable(rng.pick(names)) : number(rng.int(1, 12));
  const part = (): Fn => randomFn(rng, depth - 1, names);
  switch (rng.int(0, 11)) {
    case 0:
    case 1:
      return two("+", part(), part());
    case 2:
    case 3:
      return two("-", part(), part());
    case 4:
    case 5:
      return two("*", part(), part());
    case 6:
      return one("square", part());
    case 7:
      return two(rng.pick(["max", "min"]), part(), part());
    case 8:
      return two("/", part(), part());
    case 9:
      return one("root of square", part());
    default:
      return one("abs", part());
  }
}

type Change = (fn: Fn, rng: Rng) => Fn | undefined;

/** Returns a function changed in one place, at random among the possible ones; undefined if there is none. */
export function changedOnce(fn: Fn, change: Change, rng: Rng): Fn | undefined {
  const found: Fn[] = [];
  everywhere(fn, (part) => change(part, rng), found);
  return found.length === 0 ? undefined : rng.pick(found);
}

function everywhere(fn: Fn, change: (part: Fn) => Fn | undefined, found: Fn[]): void {
  const here = change(fn);
  if (here !== undefined) found.push(here);
  if ("of" in fn) {
    const inside: Fn[] = [];
    everywhere(fn.of, change, inside);
    found.push(...inside.map((of) => ({ ...fn, of })));
  } else if ("left" in fn) {
    for (const side of ["left", "right"] as const) {
      const inside: Fn[] = [];
      everywhere(fn[side], change, inside);
      found.push(...inside.map((part) => ({ ...fn, [side]: part })));
    }
  }
}

const half = (fn: Fn): Fn => two("/", fn, number(2));

export const IDENTITIES: readonly Change[] = [
  (fn) =>
    fn.op === "+" || fn.op === "*" || fn.op === "max" || fn.op === "min" ? two(fn.op, fn.right, fn.left) : undefined,
  (fn) => (fn.op === "-" ? one("negate", two("-", fn.right, fn.left)) : undefined),
  (fn) => (fn.op === "-" ? two("+", one("negate", fn.right), fn.left) : undefined),
  (fn) =>
    fn.op === "*" && (fn.right.op === "+" || fn.right.op === "-")
      ? two(fn.right.op, two("*", fn.left, fn.right.left), two("*", fn.left, fn.right.right))
      : undefined,
  (fn) => (fn.op === "square" ? two("*", fn.of, fn.of) : undefined),
  (fn) => (fn.op === "square" ? one("square", one("abs", fn.of)) : undefined),
  (fn) =>
    fn.op === "square" && (fn.of.op === "+" || fn.of.op === "-")
      ? two(
          "+",
          two(fn.of.op, one("square", fn.of.left), two("*", number(2), two("*", fn.of.left, fn.of.right))),
          one("square", fn.of.right),
        )
      : undefined,
  (fn) => (fn.op === "abs" ? one("root of square", fn.of) : fn.op === "root of square" ? one("abs", fn.of) : undefined),
  (fn) => (fn.op === "abs" ? two("max", fn.of, one("negate", fn.of)) : undefined),
  (fn) => (fn.op === "abs" ? one("abs", one("negate", fn.of)) : undefined),
  (fn) =>
    fn.op === "abs" && (fn.of.op === "*" || fn.of.op === "/")
      ? two(fn.of.op, one("abs", fn.of.left), one("abs", fn.of.right))
      : undefined,
  (fn) =>
    fn.op === "max" ? half(two("+", two("+", fn.left, fn.right), one("abs", two("-", fn.left, fn.right)))) : undefined,
  (fn) => (fn.op === "min" ? two("-", two("+", fn.left, fn.right), two("max", fn.left, fn.right)) : undefined),
  (fn) => (fn.op === "max" ? one("negate", two("min", one("negate", fn.left), one("negate", fn.right))) : undefined),
  (fn) => (fn.op === "/" ? two("*", fn.left, two("/", number(1), fn.right)) : undefined),
  (fn, rng) => {
    const moved = BigInt(rng.int(1, 9));
    return fn.op === "number" ? two("-", number(fn.value + moved), number(moved)) : undefined;
  },
  (fn, rng) => {
    const moved = rng.int(1, 9);
    return fn.op === "variable" ? two("-", two("+", fn, number(moved)), number(moved)) : undefined;
  },
];

/** Numbers large enough that only a few sample points reach them. */
const LARGE = [50, 1_000, 12_345, 1_000_000, 100_000_000];

export const MISTAKES: readonly Change[] = [
  (fn) => (fn.op === "abs" || fn.op === "root of square" ? fn.of : undefined),
  (fn) => (fn.op === "abs" || fn.op === "root of square" ? one("negate", fn.of) : undefined),
  (fn) =>
    fn.op === "abs" && (fn.of.op === "+" || fn.of.op === "-")
      ? two("+", one("abs", fn.of.left), one("abs", fn.of.right))
      : undefined,
  (fn) => (fn.op === "abs" && fn.of.op === "*" ? two("*", one("abs", fn.of.left), fn.of.right) : undefined),
  (fn) => (fn.op === "max" || fn.op === "min" ? fn.left : undefined),
  (fn) =>
    fn.op === "max" ? two("min", fn.left, fn.right) : fn.op === "min" ? two("max", fn.left, fn.right) : undefined,
  (fn) => (fn.op === "variable" || fn.op === "square" ? one("abs", fn) : undefined),
  (fn, rng) => two("min", fn, number(rng.pick(LARGE))),
  (fn, rng) => two("max", fn, number(-rng.pick(LARGE))),
  (fn, rng) => two("+", fn, two("max", number(0), two("-", fn, number(rng.pick(LARGE))))),
  (fn, rng) => two("+", fn, one("floor", two("/", one("abs", fn), number(rng.pick(LARGE))))),
  (fn, rng) => {
    const ahead = two("+", fn, number(rng.pick(LARGE)));
    return two("*", fn, two("/", one("abs", ahead), ahead));
  },
  (fn, rng) => two("-", one("abs", two("+", fn, number(rng.pick(LARGE)))), number(rng.pick(LARGE))),
  (fn) => (fn.op === "variable" ? two("*", one("sgn", fn), one("abs", one("abs", fn))) : undefined),
  (fn, rng) => (fn.op === "number" ? number(fn.value + BigInt(rng.pick([1, -1, 2]))) : undefined),
  (fn) => (fn.op === "-" ? two("-", fn.right, fn.left) : fn.op === "+" ? two("-", fn.left, fn.right) : undefined),
  (fn) => (fn.op === "square" ? fn.of : fn.op === "variable" ? one("square", fn) : undefined),
  (fn, rng) => two("+", fn, two("/", number(1), number(10n ** BigInt(rng.int(3, 30))))),
];
