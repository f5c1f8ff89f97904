/** Compares numbers with units. README.md has the rules for missing units, percent and degrees. */
import { UNIT_LETTERS } from "../read/names.ts";
import { besideUnit, type UnitInfo, UNITS } from "../read/unit-names.ts";
import { type Node, numberNode, productOf, variablesOf } from "../syntax.ts";
import { any, type Comparison, different, type State, undecided } from "./outcome.ts";
import { compareValues, realValue } from "./points.ts";
import { compareScalars } from "./scalars.ts";
import { wholeNum } from "../numbers/arithmetic.ts";

interface Measured {
  readonly node: Node;
  readonly unit: string | undefined;
}

/** Splits a value into its number and its unit, e.g. 5 and "cm". */
export function measuredOf(node: Node): Measured {
  if (node.kind === "unit") return { node: node.node, unit: node.unit === "" ? undefined : node.unit };
  // In "-5 cm" and "2\pi cm" the parser puts the unit inside the sum or the product.
  if (node.kind === "add" && node.terms.length === 1) {
    const [term] = node.terms;
    const inner = term === undefined ? undefined : measuredOf(term.node);
    if (term !== undefined && inner?.unit !== undefined)
      return { node: { kind: "add", terms: [{ ...term, node: inner.node }] }, unit: inner.unit };
  }
  if (node.kind === "multiply") {
    const last = node.factors.at(-1);
    if (last?.node.kind === "unit" && !last.inverse) {
      const factors = [...node.factors.slice(0, -1), { ...last, node: last.node.node }];
      return { node: { kind: "multiply", factors }, unit: last.node.unit };
    }
  }
  return { node, unit: undefined };
}

export function compareMeasured(gold: Node, answer: Node, state: State, isApproximate: boolean): Comparison {
  const [one, other] = withUnits(gold, answer);
  if (one !== gold || other !== answer) return compareMeasured(one, other, state, isApproximate);
  const [left, right] = [measuredOf(gold), measuredOf(answer)];
  const plain = (a: Node, b: Node): Comparison => compareScalars(a, b, state, isApproximate);
  const asIs = (): Comparison => plain(left.node, right.node);
  if (left.unit === right.unit) return asIs();
  if (isTurn(left.unit) || isTurn(right.unit)) return compareAngles(left, right, asIs, plain);
  if (isPercent(left.unit) || isPercent(right.unit)) return comparePercent(left, right, state, asIs, plain);
  // One of the two answers leaves out its unit.
  if (left.unit === undefined || right.unit === undefined) return asIs();
  return compareUnits(left.node, right.node, left.unit, right.unit, plain);
}

/**
 * Reads letters as units if that fits both answers. Letters of the given answer are units if the expected answer has no
 * variables. Letters of the expected answer are units only if the given answer has a unit. Otherwise 5 would equal an
 * expected 5m in which m is a variable.
 */
function withUnits(gold: Node, answer: Node): readonly [Node, Node] {
  const [unit, other] = [measuredOf(gold).unit, measuredOf(answer).unit];
  const letters = variablesOf(gold).size === 0 ? lettersAsUnit(answer, unit) : undefined;
  if (letters !== undefined) return [gold, letters];
  const own = unit === undefined ? lettersAsUnit(gold, other) : undefined;
  if (own === undefined) return [gold, answer];
  if (other !== undefined) return [own, answer];
  // Both answers may have letters as units: "5 J" and "5 N m".
  const given = lettersAsUnit(answer, own.unit);
  const areOthers = given !== undefined && given.unit !== own.unit && unitOf(own.unit) && unitOf(given.unit);
  return areOthers ? [own, given] : [gold, answer];
}

type Unit = Extract<Node, { kind: "unit" }>;

/**
 * Reads the letters of a product such as "12 m" or "9.8 m/s^2" as a unit. Returns undefined if they are not units.
 * `beside` is the unit of the answer that this one is compared with.
 */
function lettersAsUnit(node: Node, beside: string | undefined): Unit | undefined {
  if (node.kind !== "multiply") return undefined;
  const at = node.factors.findIndex(({ node: factor }) => variablesOf(factor).size > 0);
  const letters = node.factors.slice(at).map(({ node: factor, inverse }) => letterIn(factor, inverse));
  // 5K may mean 5000, and m in 5/m may be a variable.
  const isThousands = letters[0] === "K" && beside === undefined;
  if (at < 1 || letters.includes("") || isThousands || node.factors[at]?.inverse === true) return undefined;
  return { kind: "unit", node: { kind: "multiply", factors: node.factors.slice(0, at) }, unit: letters.join(" ") };
}

/**
 * Returns the unit that a factor of a product spells: "m", "/ s^2" or "s^-2". Returns "" if the factor is not a unit.
 * In "20 (m/s)" the fraction is one factor.
 */
function letterIn(node: Node, inverse: boolean): string {
  if (node.kind === "multiply" && !inverse)
    return node.factors.every((factor) => letterIn(factor.node, factor.inverse) !== "")
      ? node.factors.map((factor) => letterIn(factor.node, factor.inverse)).join(" ")
      : "";
  const [base, exponent] = node.kind === "power" ? [node.base, wholeOf(node.exponent)] : [node, 1n];
  const isUnit = base.kind === "symbol" && base.name.length === 1 && UNIT_LETTERS.includes(base.name);
  if (!isUnit || exponent === undefined) return "";
  return `${inverse ? "/ " : ""}${base.name}${exponent === 1n ? "" : `^${exponent}`}`;
}

/** Returns the value of a whole number with or without a sign. Returns undefined for other nodes. */
function wholeOf(node: Node): bigint | undefined {
  if (node.kind === "number") return node.value.den === 1n ? node.value.num : undefined;
  const [term, ...others] = node.kind === "add" ? node.terms : [];
  const size = term && others.length === 0 ? wholeOf(term.node) : undefined;
  return size === undefined ? undefined : term?.sign === "-" ? -size : size;
}

const isOf = (unit: string | undefined, dimension: string): boolean => UNITS.get(unit ?? "")?.dimension === dimension;
const isPercent = (unit: string | undefined): boolean => isOf(unit, "percent");
const isTurn = (unit: string | undefined): boolean => isOf(unit, "angle");

type Plain = (a: Node, b: Node) => Comparison;

const withUnit = ({ node }: Measured, unit: string): Node => ({ kind: "unit", node, unit });

/** Compares angles. 90° equals both the bare number 90 and π/2. */
function compareAngles(left: Measured, right: Measured, asIs: () => Comparison, plain: Plain): Comparison {
  const [other, isLeft] = isTurn(left.unit) ? [right.unit, true] : [left.unit, false];
  const radians = (): Comparison =>
    isLeft ? plain(withUnit(left, "°"), right.node) : plain(left.node, withUnit(right, "°"));
  if (other !== undefined) return isOf(other, "radian") ? radians() : different("it has another unit");
  return any([asIs, radians]);
}

/**
 * Compares percentages. 50% equals 0.5, and also a bare 50. A bare number from −1 to 1 is never read as a percentage
 * whose % was left out.
 */
function comparePercent(
  left: Measured,
  right: Measured,
  state: State,
  asIs: () => Comparison,
  plain: Plain,
): Comparison {
  const [bare, isLeft] = isPercent(left.unit) ? [right, true] : [left, false];
  if (bare.unit !== undefined) return undecided("a percentage is not compared with another unit");
  const share = (): Comparison =>
    isLeft ? plain(withUnit(left, "%"), right.node) : plain(left.node, withUnit(right, "%"));
  const value = realValue(bare.node, state);
  const isLarge =
    value !== undefined &&
    (compareValues(value, wholeNum(1n), state) === "greater" || compareValues(value, wholeNum(-1n), state) === "less");
  return isLarge ? any([asIs, share]) : share();
}

function compareUnits(gold: Node, answer: Node, unit: string, other: string, plain: Plain): Comparison {
  const [known, otherKnown] = [unitOf(besideUnit(unit, other)), unitOf(besideUnit(other, unit))];
  if (known === undefined || otherKnown === undefined) {
    const found = plain(gold, answer);
    return found.kind === "equal" ? undecided(`it is not known whether its unit is the expected one`) : found;
  }
  // An amount of money may omit what it pays for, e.g. "$9.50" instead of "$9.50 per hour".
  const isMoney = "$€£¥₹".includes(unit.charAt(0)) && unit.charAt(0) === other.charAt(0);
  if (isMoney && (unit.length === 1 || other.length === 1)) return plain(gold, answer);
  if (known.dimension !== otherKnown.dimension) return different("it has another unit");
  return plain(scaled(gold, known), scaled(answer, otherKnown));
}

function scaled(node: Node, { num, den }: Omit<UnitInfo, "name">): Node {
  return productOf(node, numberNode(num, den));
}

/**
 * Returns the dimension and scale of a unit such as "cm^2" or "km / h". Returns undefined if a part of it is unknown.
 */
function unitOf(unit: string): Omit<UnitInfo, "name"> | undefined {
  const powers = new Map<string, bigint>();
  let [num, den, sign] = [1n, 1n, 1n];
  for (const part of unit.split(" ")) {
    if (part === "/") {
      sign = -1n;
      continue;
    }
    const [name = "", exponent = "1"] = part.split("^");
    const base = UNITS.get(name);
    const power = sign * BigInt(exponent);
    if (base === undefined || power > 9n || power < -9n) return undefined;
    const size = power < 0n ? -power : power;
    const [up, down] = power < 0n ? [base.den, base.num] : [base.num, base.den];
    [num, den, sign] = [num * up ** size, den * down ** size, 1n];
    for (const each of base.dimension.split(" ")) {
      const [of = "", times = "1"] = each.split("^");
      powers.set(of, (powers.get(of) ?? 0n) + power * BigInt(times));
    }
  }
  const left = [...powers].filter(([, power]) => power !== 0n).map(([of, power]) => `${of}^${power}`);
  return { dimension: left.sort().join(" "), num, den };
}
