/** Decides whether linear inequalities can hold together, by Fourier's elimination of one variable after another. */
import { gcd } from "../numbers/rational.ts";
import { type Budget, spend } from "../numbers/budget.ts";
import { exponentIn, type Polynomial } from "./polynomial.ts";

/** The inequality Σ c·x + constant > 0. Coefficients are keyed by the index of their atom. */
interface Half {
  readonly coefficients: ReadonlyMap<number, bigint>;
  readonly constant: bigint;
}

const HALVES_MAX = 200;

/**
 * Returns whether some point makes every polynomial positive. Undefined if one is not linear, or there are too many
 * inequalities.
 */
export function isFeasible(polynomials: readonly Polynomial[], budget: Budget): boolean | undefined {
  let halves: Half[] = [];
  for (const polynomial of polynomials) {
    const half = halfOf(polynomial);
    if (half === undefined) return undefined;
    halves.push(half);
  }
  for (;;) {
    const free = halves.filter(({ coefficients }) => coefficients.size === 0);
    if (free.some(({ constant }) => constant <= 0n)) return false;
    halves = halves.filter(({ coefficients }) => coefficients.size > 0);
    const [first] = halves;
    const [index] = first?.coefficients.keys() ?? [];
    if (index === undefined) return true;
    const coefficient = ({ coefficients }: Half): bigint => coefficients.get(index) ?? 0n;
    const [lower, upper] = [
      halves.filter((half) => coefficient(half) > 0n),
      halves.filter((half) => coefficient(half) < 0n),
    ];
    if (lower.length * upper.length > HALVES_MAX || !spend(budget, 1 + lower.length * upper.length * 2))
      return undefined;
    const joined = lower.flatMap((low) =>
      upper.map((high) => combined(low, -coefficient(high), high, coefficient(low))),
    );
    halves = [...halves.filter((half) => coefficient(half) === 0n), ...joined];
  }
}

function halfOf(polynomial: Polynomial): Half | undefined {
  const coefficients = new Map<number, bigint>();
  for (const [monomial, coefficient] of polynomial) {
    if (monomial === "") continue;
    const index = monomial.length - 1;
    const isLinear = exponentIn(monomial, index) === 1 && /^\0*$/.test(monomial.slice(0, -1));
    if (!isLinear) return undefined;
    coefficients.set(index, coefficient);
  }
  return { coefficients, constant: polynomial.get("") ?? 0n };
}

/** Returns a · times + b · others, divided by the common factor. Both multipliers are positive. */
function combined(a: Half, times: bigint, b: Half, others: bigint): Half {
  const constant = a.constant * times + b.constant * others;
  const sums = new Map<number, bigint>();
  for (const index of new Set([...a.coefficients.keys(), ...b.coefficients.keys()])) {
    const value = (a.coefficients.get(index) ?? 0n) * times + (b.coefficients.get(index) ?? 0n) * others;
    if (value !== 0n) sums.set(index, value);
  }
  let common = constant;
  for (const value of sums.values()) common = gcd(common, value);
  const divisor = common < 0n ? -common : common === 0n ? 1n : common;
  return {
    coefficients: new Map([...sums].map(([index, value]) => [index, value / divisor])),
    constant: constant / divisor,
  };
}
