/** When a number may stand for another that it is the rounding of: README.md has the rule. */
import type { Place } from "../evaluate.ts";
import { add, divide, exact, negate, type Num, order, signOf } from "../numbers/arithmetic.ts";
import { absolute, type Rational } from "../numbers/rational.ts";
import { type Node, some } from "../syntax.ts";
import { BITS, placeOf, realValue } from "./places.ts";
import type { State } from "./outcome.ts";
import { assignmentOf } from "./shape.ts";

// When a number may be equal to a rounded one: README.md has the rule.

/** Fewer digits are no rounded value but a number. */
const DIGITS_MIN = 3;

type Decimal = Extract<Node, { kind: "number" }>;

/** The number that an expression is, its sign apart; undefined: it is more than a number. */
function numberIn(node: Node): Decimal | undefined {
  if (node.kind === "number") return node;
  if (node.kind === "unit") return numberIn(node.node);
  const [only] = node.kind === "add" ? node.terms : [];
  return node.kind === "add" && node.terms.length === 1 && only !== undefined ? numberIn(only.node) : undefined;
}

/**
 * Whether the gold is a decimal of three digits or more, and the answer an exact expression for a number without end that
 * it is the rounding of. Two decimals are equal or not. Where the gold says ≈, decimals may be more exact, too.
 */
export function roundsTo(
  gold: Node,
  answer: Node,
  goldValue: Num,
  value: Num,
  place: Place,
  isApproximate: boolean,
): boolean {
  const rounded = numberIn(gold);
  const written = numberIn(answer);
  if (rounded?.decimals === undefined || goldValue.kind !== "exact") return false;
  if (!isApproximate) {
    if (`${(absolute(rounded.value).num * 10n ** BigInt(rounded.decimals)) / rounded.value.den}`.length < DIGITS_MIN)
      return false;
    if (written?.decimals !== undefined || (value.kind === "exact" && ends(value.value))) return false;
  } else if (written !== undefined && (written.decimals ?? 0) < rounded.decimals) return false;
  const gap = add(value, negate(goldValue), place);
  const half = exact({ num: 1n, den: 2n * 10n ** BigInt(rounded.decimals) });
  if (gap === undefined) return false;
  return (
    order(gap, half, place) !== "greater" &&
    order(negate(gap), half, place) !== "greater" &&
    order(gap, half, place) !== "apart"
  );
}

/** Whether a fraction is a decimal with an end. */
function ends({ den }: Rational): boolean {
  let rest = den;
  for (const prime of [2n, 5n]) for (let i = 0; i < 2_000 && rest % prime === 0n; i++) rest /= prime;
  return rest === 1n;
}

// "4π ≈ 12.57": whether what a value is said to be rounded to is so.

/** Of a rounding that is no number with digits, such as 1.27 · 10^30. */
const HUNDREDTH: Num = exact({ num: 1n, den: 100n });

/** Whether each is the value, rounded to its last place or cut behind it. What has no value refutes nothing. */
export function areRoundings(node: Node, roundings: readonly Node[], state: State): boolean {
  const value = roundings.length > 0 ? realValue(node, state) : undefined;
  return value === undefined || roundings.every((rounding) => isRounding(value, rounding, state));
}

function isRounding(value: Num, node: Node, state: State): boolean {
  const rounded = realValue(node, state);
  const place = placeOf(state, BITS.constant, true);
  const gap = rounded && add(value, negate(rounded), place);
  if (gap === undefined) return true;
  const decimals = node.kind === "number" ? (node.decimals ?? (node.digits === undefined ? undefined : 0)) : undefined;
  const isWithin = (size: Num, limit: Num): boolean =>
    order(size, limit, place) !== "greater" && order(negate(size), limit, place) !== "greater";
  if (decimals !== undefined) {
    const unit = 10n ** BigInt(decimals);
    if (isWithin(gap, exact({ num: 1n, den: 2n * unit }))) return true;
    // Cut: nearer to 0 than the value, by less than a unit. A whole number that is another is neither.
    const isNearer = signOf(gap) === signOf(value);
    const limit = exact({ num: 1n, den: unit });
    return (
      isNearer &&
      isWithin(gap, limit) &&
      order(gap, limit, place) !== "equal" &&
      order(negate(gap), limit, place) !== "equal"
    );
  }
  const share = divide(gap, value.kind === "exact" ? exact(absolute(value.value)) : value, place);
  return share === undefined || isWithin(share, HUNDREDTH);
}

// Hedges.

/** Whether an answer gives a value only about: ≈ 5, about 5, x ≈ 5. */
export function isHedged(node: Node): boolean {
  return node.kind === "list" ? node.items.some(isHedged) : assignmentOf(node)?.isApproximate === true;
}

/** Whether an expected answer may itself be rounded: it has decimals, or says ≈. */
export function isRounded(node: Node): boolean {
  return some(node, (part) => (part.kind === "number" && (part.decimals ?? 0) > 0) || isHedged(part));
}
