/**
 * Writes expressions as fractions of polynomials. Equal fractions mean equal expressions wherever both are defined.
 * Unequal fractions mean different expressions only if all atoms are variables.
 */
import type { Rational } from "../numbers/rational.ts";
import { type Factor, type Node, numberNode, quotientOf, show, some, type Term, variablesOf } from "../syntax.ts";
import {
  type Fraction,
  inverse,
  keyOfFraction,
  nodeOf,
  numberOf,
  ofPolynomial,
  POWER_MAX,
  product,
  type Ring,
  sum,
  tidied,
  whole,
  wholeFraction,
  written,
} from "./ring.ts";
import { absoluteOf, rootOf } from "./roots-and-absolutes.ts";
import { COEFFICIENT_BITS_MAX, constantOf, type Polynomial } from "./polynomial.ts";

type Maybe<T> = T | undefined;

/** Returns an expression as a fraction of polynomials. Undefined if it has no such form, or is too large. */
export function fractionOf(node: Node, ring: Ring): Maybe<Fraction> {
  if (--ring.budget.left < 0) return undefined;
  switch (node.kind) {
    case "number":
      return numberIn(node.value);
    case "symbol":
      return symbolIn(node.name, ring);
    case "add":
      return folded(node.terms, wholeFraction(0n), (total, { sign, node: term }: Term) => {
        const value = sign === "+" || sign === "-" ? fractionOf(term, ring) : undefined;
        return value && sum(total, value, sign === "-" ? -1n : 1n, ring);
      });
    case "multiply":
      return folded(node.factors, wholeFraction(1n), (total, factor: Factor) => {
        const value = fractionOf(factor.node, ring);
        const turned = value && factor.inverse ? inverse(value) : value;
        return turned && product(total, turned, ring);
      });
    case "power":
      return powerIn(node.base, node.exponent, ring);
    case "call":
      return callIn(node.name, node.args, ring);
    case "unit": {
      const [value, factor] = [fractionOf(node.node, ring), UNITS[node.unit]];
      const unit = factor && fractionOf(factor, ring);
      return value && unit && product(value, unit, ring);
    }
    case "ratio": {
      const [left, right] = node.parts.map((part) => fractionOf(part, ring));
      const under = right && inverse(right);
      return node.parts.length === 2 ? left && under && product(left, under, ring) : undefined;
    }
    case "bracket":
      return node.items.length === 1 ? fractionOf(node.items[0] as Node, ring) : undefined;
    case "cases":
    case "series":
      return other(`${show(node)}`, node, node.kind === "cases" ? endsOf(node, ring) : [], ring);
    default:
      return undefined;
  }
}

const UNITS: Readonly<Record<string, Node>> = {
  "%": numberNode(1n, 100n),
  "°": quotientOf({ kind: "symbol", name: "π" }, numberNode(180n)),
};

function folded<T>(items: readonly T[], start: Fraction, step: (total: Fraction, item: T) => Maybe<Fraction>) {
  let total: Maybe<Fraction> = start;
  for (const item of items) total = total && step(total, item);
  return total;
}

/** Returns a number as a fraction. Undefined if it has too many digits. */
function numberIn({ num, den }: Rational): Maybe<Fraction> {
  const isSmall = [num, den].every((part) => BigInt.asIntN(COEFFICIENT_BITS_MAX, part) === part);
  return isSmall ? { num: constantOf(num), den: constantOf(den) } : undefined;
}

function other(
  key: string,
  node: Node,
  turns: readonly Polynomial[],
  ring: Ring,
  names: () => ReadonlySet<string> = () => variablesOf(node),
): Maybe<Fraction> {
  return ofPolynomial(written(ring, key, () => ({ kind: "other", node, turns, names: names() })));
}

function symbolIn(name: string, ring: Ring): Maybe<Fraction> {
  if (name === "i")
    return ring.real
      ? undefined
      : ofPolynomial(written(ring, "i", () => ({ kind: "root", degree: 2, of: constantOf(-1n) })));
  if (name === "π" || name === "e") return other(name, { kind: "symbol", name }, [], ring);
  if (/^[∞∅…ℝℤℕℚℂ]/u.test(name)) return undefined;
  return ofPolynomial(written(ring, `the variable ${name}`, () => ({ kind: "variable", name })));
}

function powerIn(base: Node, exponent: Node, ring: Ring): Maybe<Fraction> {
  const [from, to] = [tidyOf(base, ring), tidyOf(exponent, ring)];
  if (from === undefined || to === undefined) return undefined;
  const constant = numberOf(to);
  if (constant === undefined) return exponential(from, to, { base, exponent }, ring);
  const { num, den } = constant;
  if (num > POWER_MAX || num < -POWER_MAX || den > POWER_MAX) return opaque(from, to, { base, exponent }, ring);
  const rooted = den === 1n ? from : rootOf(from, Number(den), ring);
  return rooted && whole(rooted, Number(num), ring);
}

/** Base and exponent as they were written. */
type Power = Pick<Extract<Node, { kind: "power" }>, "base" | "exponent">;

/** Expands a power whose exponent has variables: a^(2u + v + 1) becomes (a^u)² · a^v · a, for terms u and v. */
function exponential(from: Fraction, to: Fraction, power: Power, ring: Ring): Maybe<Fraction> {
  const den = to.den.size === 1 ? to.den.get("") : undefined;
  if (den === undefined || den === 0n) return opaque(from, to, power, ring);
  return folded([...to.num], wholeFraction(1n), (total, [monomial, coefficient]) => {
    if (coefficient > POWER_MAX || coefficient < -POWER_MAX) return undefined;
    const isWhole = monomial === "" && den === 1n;
    const unit: Fraction = { num: new Map([[monomial, 1n]]), den: constantOf(den) };
    const part = isWhole ? from : opaque(from, unit, power, ring);
    const raised = part && whole(part, Number(coefficient), ring);
    return raised && product(total, raised, ring);
  });
}

function opaque(from: Fraction, to: Fraction, power: Power, ring: Ring): Maybe<Fraction> {
  const key = `(${keyOfFraction(from)})^(${keyOfFraction(to)})`;
  const exponent = quotientOf(nodeOf(to.num, ring), nodeOf(to.den, ring));
  const node: Node = { kind: "power", base: power.base, exponent };
  const names = (): ReadonlySet<string> => new Set([...variablesOf(power.base), ...variablesOf(power.exponent)]);
  return other(key, node, [from.num, from.den], ring, names);
}

/** Functions that are defined only on one side of a zero of their argument. */
const BROKEN: ReadonlySet<string> = new Set(["ln", "log", "log10", "logbase"]);
/** Functions that end at 1 and −1, or have their first jumps there. `mod` has its first jumps at its modulus. */
const STEPPED: ReadonlyMap<string, Fraction | undefined> = new Map([
  ...["arcsin", "arccos", "floor", "ceil"].map((name) => [name, wholeFraction(1n)] as const),
  ["mod", undefined],
]);

/** Returns a + end and a − end. */
function ends(a: Fraction, end: Fraction | undefined, ring: Ring): readonly Fraction[] {
  return ([1n, -1n] as const).flatMap((sign) => (end && sum(a, end, sign, ring)) ?? []);
}

function callIn(name: string, args: readonly Node[], ring: Ring): Maybe<Fraction> {
  const [first, second] = args;
  if (name === "det" || first === undefined) return undefined;
  if (name === "exp") return powerIn({ kind: "symbol", name: "e" }, first, ring);
  if (ring.real && name === "abs" && second === undefined) return absoluteIn(first, ring);
  const values = args.map((argument) => tidyOf(argument, ring));
  const [a, b] = values;
  if (a === undefined || values.includes(undefined)) return undefined;
  if (name === "sqrt") return rootOf(a, 2, ring);
  const degree = name === "root" && b !== undefined ? numberOf(b) : undefined;
  if (degree?.den === 1n && degree.num > 0n && degree.num <= POWER_MAX) return rootOf(a, Number(degree.num), ring);
  if (ring.real && name === "sgn" && second === undefined) {
    const [absolute, under] = [absoluteOf(a, ring), inverse(a)];
    return absolute && under && product(absolute, under, ring);
  }
  if (ring.real && (name === "max" || name === "min"))
    return folded((values as Fraction[]).slice(1), a, (best, each) => extreme(best, each, name, ring));
  const zeros = [...(values as Fraction[]), ...(STEPPED.has(name) ? ends(a, STEPPED.get(name) ?? b, ring) : [])];
  const turns = BROKEN.has(name) || STEPPED.has(name) ? zeros.flatMap(({ num, den }) => [num, den]) : [a.den];
  const keys = (values as Fraction[]).map(keyOfFraction);
  const key = `${name}(${(name === "gcd" || name === "lcm" ? keys.sort() : keys).join(";")})`;
  return other(key, { kind: "call", name, args }, turns, ring);
}

/** Returns the normal form of a part that is enclosed in an atom. */
function tidyOf(node: Node, ring: Ring): Maybe<Fraction> {
  const value = fractionOf(node, ring);
  return value && tidied(value, ring);
}

/** Returns the absolute value of a node. A product is treated factor by factor, before it is expanded. */
function absoluteIn(node: Node, ring: Ring): Maybe<Fraction> {
  if (node.kind === "multiply")
    return folded(node.factors, wholeFraction(1n), (total, factor: Factor) => {
      const absolute = absoluteIn(factor.node, ring);
      const turned = absolute && factor.inverse ? inverse(absolute) : absolute;
      return turned && product(total, turned, ring);
    });
  if (node.kind === "power" && node.exponent.kind === "number" && node.exponent.value.den === 1n) {
    const base = absoluteIn(node.base, ring);
    return base && whole(base, Number(node.exponent.value.num), ring);
  }
  const [term, ...others] = node.kind === "add" ? node.terms : [];
  if (term !== undefined && others.length === 0) return absoluteIn(term.node, ring);
  const value = tidyOf(node, ring);
  return value && absoluteOf(value, ring);
}

/** Computes the maximum or minimum as (a + b ± |a − b|) / 2. */
function extreme(a: Fraction, b: Fraction, name: "max" | "min", ring: Ring): Maybe<Fraction> {
  const [both, apart] = [sum(a, b, 1n, ring), sum(a, b, -1n, ring)];
  const tidy = apart && tidied(apart, ring);
  const absolute = tidy && absoluteOf(tidy, ring);
  const doubled = both && absolute && sum(both, absolute, name === "max" ? 1n : -1n, ring);
  return doubled && product(doubled, { num: constantOf(1n), den: constantOf(2n) }, ring);
}

/**
 * Returns whether a condition is about remainders. "n is even" recurs, so that any few whole numbers show it. "x = 7"
 * shows at one place only.
 */
function isOfRemainders(relation: Node): boolean {
  return some(relation, (part) => part.kind === "call" && part.name === "mod");
}

/** Returns polynomials that are zero where the conditions of the cases change. */
function endsOf({ pieces }: Extract<Node, { kind: "cases" }>, ring: Ring): readonly Polynomial[] {
  return pieces.flatMap(({ value, condition }) => {
    // Reading the value records its own turns in the ring.
    fractionOf(value, ring);
    const relations = condition?.kind === "list" ? condition.items : condition ? [condition] : [];
    return relations.flatMap((relation) => {
      if (relation.kind !== "relation") return [];
      return relation.operators.flatMap((operator, i) => {
        if (!"<>≤≥".includes(operator) && (!"=≠".includes(operator) || isOfRemainders(relation))) return [];
        const [left, right] = [relation.parts[i], relation.parts[i + 1]].map((part) => part && fractionOf(part, ring));
        const found = left && right && sum(left, right, -1n, ring);
        return found ? [found.num, found.den] : [];
      });
    });
  });
}
