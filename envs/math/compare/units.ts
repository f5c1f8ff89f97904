/** Numbers with their units: README.md has the rules for those left out, for percent and for degrees. */
import { UNIT_LETTERS } from "../read/names.ts";
import { type UnitInfo, UNITS } from "../read/unit.ts";
import { whole } from "../numbers/rational.ts";
import { type Node, numberNode, productOf, variablesOf } from "../syntax.ts";
import { any, type Comparison, different, type State, undecided } from "./outcome.ts";
import { compareValues, realValue } from "./places.ts";
import { compareScalars } from "./scalars.ts";
import { exact, wholeNum } from "../numbers/arithmetic.ts";

interface Measured {
  readonly node: Node;
  readonly unit: string | undefined;
}

/** The number and its unit. */
export function measuredOf(node: Node): Measured {
  if (node.kind === "unit") return { node: node.node, unit: node.unit === "" ? undefined : node.unit };
  // "-5 cm" and "2\pi cm" have their units inside.
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
  const letters = answerUnit(gold, answer);
  if (letters !== undefined) return compareMeasured(gold, letters, state, isApproximate);
  const [left, right] = [measuredOf(gold), measuredOf(answer)];
  const plain = (a: Node, b: Node): Comparison => compareScalars(a, b, state, isApproximate);
  const asIs = (): Comparison => plain(left.node, right.node);
  const [unit, other] = [left.unit, right.unit];
  if (unit === other) return asIs();
  if (isTurn(unit) || isTurn(other)) return compareAngles(left, right, state, asIs, plain);
  if (isPercent(unit) || isPercent(other)) return comparePercent(left, right, state, asIs, plain);
  // A unit that one of them leaves out.
  if (unit === undefined || other === undefined) return asIs();
  return compareUnits(left.node, right.node, unit, other, plain);
}

/**
 * "12 m" with its letter as a unit, where the gold answer has no variables. A gold answer's own letters stay what they are,
 * or whoever leaves a variable out would be right.
 */
function answerUnit(gold: Node, answer: Node): Node | undefined {
  if (answer.kind !== "multiply" || variablesOf(gold).size > 0) return undefined;
  const at = answer.factors.findIndex(({ node }) => variablesOf(node).size > 0);
  const letters = answer.factors.slice(at).map(({ node, inverse }) => {
    const [base, exponent] = node.kind === "power" ? [node.base, node.exponent] : [node, undefined];
    const isUnit = base.kind === "symbol" && base.name.length === 1 && UNIT_LETTERS.includes(base.name);
    if (!isUnit || (exponent !== undefined && !(exponent.kind === "number" && exponent.value.den === 1n))) return "";
    const power = exponent?.kind === "number" ? `^${exponent.value.num}` : "";
    return `${inverse ? "/ " : ""}${base.name}${power}`;
  });
  // 5K may be 5000, and 5/m what an m that is not known goes into.
  const isThousands = letters[0] === "K" && measuredOf(gold).unit === undefined;
  if (at < 1 || letters.includes("") || isThousands || answer.factors[at]?.inverse === true) return undefined;
  const factors = answer.factors.slice(0, at);
  return { kind: "unit", node: { kind: "multiply", factors }, unit: letters.join(" ") };
}

const isPercent = (unit: string | undefined): boolean => unit !== undefined && UNITS.get(unit)?.dimension === "percent";
const isTurn = (unit: string | undefined): boolean => unit !== undefined && UNITS.get(unit)?.dimension === "angle";
const isRadian = (unit: string | undefined): boolean => unit !== undefined && UNITS.get(unit)?.dimension === "radian";

type Plain = (a: Node, b: Node) => Comparison;

/** 90°, 90 and π/2. */
function compareAngles(
  left: Measured,
  right: Measured,
  _state: State,
  asIs: () => Comparison,
  plain: Plain,
): Comparison {
  const degrees = ({ node }: Measured): Node => ({ kind: "unit", node, unit: "°" });
  if (isTurn(left.unit) && isTurn(right.unit)) return asIs();
  const radians = isTurn(left.unit)
    ? (): Comparison => plain(degrees(left), right.node)
    : (): Comparison => plain(left.node, degrees(right));
  const other = isTurn(left.unit) ? right.unit : left.unit;
  if (other !== undefined) return isRadian(other) ? radians() : different("it has another unit");
  return any([asIs, radians]);
}

/** 50% is 0.5, and it is 50 where "percent" is left out; but a number of at most 1 is no percentage that lost its sign. */
function comparePercent(
  left: Measured,
  right: Measured,
  state: State,
  asIs: () => Comparison,
  plain: Plain,
): Comparison {
  const percent = ({ node }: Measured): Node => ({ kind: "unit", node, unit: "%" });
  if (isPercent(left.unit) && isPercent(right.unit)) return asIs();
  const bare = isPercent(left.unit) ? right : left;
  if (bare.unit !== undefined) return undecided("percent and another unit are not compared");
  const share = isPercent(left.unit)
    ? (): Comparison => plain(percent(left), right.node)
    : (): Comparison => plain(left.node, percent(right));
  const value = realValue(bare.node, state);
  const isLarge =
    value !== undefined &&
    (compareValues(value, wholeNum(1n), state) === "greater" ||
      compareValues(value, exact(whole(-1n)), state) === "less");
  return isLarge ? any([asIs, share]) : share();
}

function compareUnits(gold: Node, answer: Node, unit: string, other: string, plain: Plain): Comparison {
  const [known, otherKnown] = [unitOf(unit), unitOf(other)];
  if (known === undefined || otherKnown === undefined) {
    const found = plain(gold, answer);
    return found.kind === "equal" ? undecided(`it is not known whether its unit is the expected one`) : found;
  }
  // "$9.50" and "$9.50 per hour"
  const isMoney = "$€£¥".includes(unit.charAt(0)) && unit.charAt(0) === other.charAt(0);
  if (isMoney && (unit.length === 1 || other.length === 1)) return plain(gold, answer);
  if (known.dimension !== otherKnown.dimension) return different("it has another unit");
  return plain(scaled(gold, known), scaled(answer, otherKnown));
}

function scaled(node: Node, { num, den }: UnitInfo): Node {
  return productOf(node, numberNode(num, den));
}

/** Of units such as "cm^2" and "km / h", by their parts; undefined: one of them is not known. */
function unitOf(unit: string): UnitInfo | undefined {
  let found: UnitInfo = { dimension: "", num: 1n, den: 1n };
  let sign = 1n;
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
    found = {
      dimension: `${found.dimension} ${base.dimension}^${power}`,
      num: found.num * up ** size,
      den: found.den * down ** size,
    };
    sign = 1n;
  }
  return found;
}
