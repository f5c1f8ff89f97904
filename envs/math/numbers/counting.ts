/** Computes factorials, binomial coefficients, arrangements, Γ and ζ. */
import { add, asWhole, ball, divide, type Maybe, multiply, type Num, root, wholeNum } from "./arithmetic.ts";
import { piBall, type Precision } from "./ball.ts";
import { spend } from "./budget.ts";

/** Conventions under which functions are evaluated. */
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

/** Computes Γ of whole numbers and of halves of odd numbers, whose values have √π as a factor. */
export const gamma: Fn = ([a], setting) => {
  if (a?.kind !== "exact" || a.value.num <= 0n) return undefined;
  const { num, den } = a.value;
  if (den === 1n) return factorial([wholeNum(num - 1n)], setting);
  const pi = ball(piBall(setting));
  const odd = den === 2n && num <= FACTORIAL_MAX ? product(1n, num - 2n, 2n, setting) : undefined;
  const factor = odd && divide(odd, wholeNum(1n << ((num - 1n) / 2n)), setting);
  const half = pi && root(pi, 2n, true, setting);
  return factor && half && multiply(factor, half, setting);
};

const ZETA_MAX = 64n;

/** Computes Σ 1/n^s for whole s, by the alternating series with Chebyshev weights (Borwein, 1991). */
export const zeta: Fn = ([a], setting) => {
  const s = a && asWhole(a);
  if (s === undefined || s < 2n || s > ZETA_MAX) return undefined;
  const terms = Math.ceil((setting.bits + 32) / 2.54);
  if (!spend(setting.budget, 2 * terms)) return undefined;
  const scale = 1n << BigInt(setting.bits + 32);
  const n = BigInt(terms);
  const weights: bigint[] = [];
  let [weight, sum] = [1n, 0n];
  for (let i = 0n; i <= n; i++) {
    sum += weight;
    weights.push(sum);
    weight = (weight * 4n * (n + i) * (n - i)) / ((2n * i + 1n) * (2n * i + 2n));
  }
  const last = weights[terms] as bigint;
  let total = 0n;
  for (let k = 0n; k < n; k++) {
    const part = ((last - (weights[Number(k)] as bigint)) * scale) / (last * (k + 1n) ** s);
    total += k % 2n === 0n ? part : -part;
  }
  const power = 1n << (s - 1n);
  return ball({ re: ((total * power) / (power - 1n)) >> 32n, im: 0n, error: 4 });
};
