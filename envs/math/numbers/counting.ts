/** Computes factorials, binomial coefficients and arrangements. */
import { add, asWhole, divide, type Maybe, multiply, type Num, wholeNum } from "./arithmetic.ts";
import type { Precision } from "./ball.ts";
import { spend } from "./budget.ts";

/** Conventions for evaluating functions: whether results must be real numbers, and the base of "log". */
export interface Setting extends Precision {
  readonly real: boolean;
  readonly logarithm: "e" | "10";
}

export type Fn = (args: readonly Num[], setting: Setting) => Maybe<Num>;

const ONE = wholeNum(1n);
const FACTORIAL_MAX = 3_000n;
const FACTOR_STEPS = 1.5;

function product(from: bigint, to: bigint, step: bigint, setting: Setting): Maybe<Num> {
  const steps = FACTOR_STEPS * Number(to > from ? to - from : 0n);
  if (to - from > FACTORIAL_MAX * step || !spend(setting.budget, steps)) return undefined;
  let value = 1n;
  for (let k = to; k > 0n && k >= from; k -= step) value *= k;
  return wholeNum(value);
}

export const factorial: Fn = ([a], setting) => {
  const n = a && asWhole(a);
  return n === undefined || n < 0n || n > FACTORIAL_MAX ? undefined : product(1n, n, 1n, setting);
};

export const factorial2: Fn = ([a], setting) => {
  const n = a && asWhole(a);
  return n === undefined || n < 0n || n > FACTORIAL_MAX ? undefined : product(1n, n, 2n, setting);
};

const CHOSEN_MAX = 60n;

export const binom: Fn = ([a, b], setting) => {
  const [n, k] = [a && asWhole(a), b && asWhole(b)];
  if (n !== undefined && n >= 0n && k !== undefined && n <= 100_000n) {
    if (k < 0n || k > n) return wholeNum(0n);
    const few = k < n - k ? k : n - k;
    const [top, bottom] = [product(n - few + 1n, n, 1n, setting), product(1n, few, 1n, setting)];
    return top && bottom && divide(top, bottom, setting);
  }
  if (a === undefined || k === undefined || k < 0n || k > CHOSEN_MAX) return undefined;
  let value: Maybe<Num> = ONE;
  for (let i = 0n; i < k && value !== undefined; i++) {
    const factor = add(a, wholeNum(-i), setting);
    const next: Maybe<Num> = factor && multiply(value, factor, setting);
    value = next && divide(next, wholeNum(i + 1n), setting);
  }
  return value;
};

export const arrangements: Fn = ([a, b], setting) => {
  const [n, k] = [a && asWhole(a), b && asWhole(b)];
  if (n === undefined || k === undefined || k < 0n || n < 0n || n > 100_000n) return undefined;
  return k > n ? wholeNum(0n) : product(n - k + 1n, n, 1n, setting);
};
