/** Decides when a rounded number counts as equal to the number that it rounds. README.md has the rule. */
import type { Scope } from "../evaluate.ts";
import { add, divide, exact, negate, type Num, order, signOf } from "../numbers/arithmetic.ts";
import { absolute, type Rational } from "../numbers/rational.ts";
import { type Node, some } from "../syntax.ts";
import { BITS, scopeOf, realValue } from "./points.ts";
import type { State } from "./outcome.ts";
import { assignmentOf } from "./shape.ts";

// Functions for expected answers that are rounded, e.g. 3.14 for π.

/**
 * Minimum number of digits of an expected decimal that may be a rounding. A decimal with fewer digits is taken as
 * exact.
 */
const DIGITS_MIN = 3;

type Decimal = Extract<Node, { kind: "number" }>;

/**
 * Returns the number in a node, without its sign and unit. Returns undefined if the node holds anything else, e.g. a
 * sum.
 */
function numberIn(node: Node): Decimal | undefined {
  if (node.kind === "number") return node;
  if (node.kind === "unit") return numberIn(node.node);
  const [only] = node.kind === "add" ? node.terms : [];
  return node.kind === "add" && node.terms.length === 1 && only !== undefined ? numberIn(only.node) : undefined;
}

/**
 * Returns whether the expected answer is a rounding of the given answer. The expected decimal needs three digits or
 * more, and the given answer must be an exact expression whose decimal is infinite. Two decimals must be equal, unless
 * the expected answer says ≈; then the answer may have more digits.
 */
export function roundsTo(
  gold: Node,
  answer: Node,
  goldValue: Num,
  value: Num,
  scope: Scope,
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
  const gap = add(value, negate(goldValue), scope);
  const half = exact({ num: 1n, den: 2n * 10n ** BigInt(rounded.decimals) });
  if (gap === undefined) return false;
  return (
    order(gap, half, scope) !== "greater" &&
    order(negate(gap), half, scope) !== "greater" &&
    order(gap, half, scope) !== "apart"
  );
}

/** Returns whether a fraction has a finite decimal expansion. */
function ends({ den }: Rational): boolean {
  let rest = den;
  for (const prime of [2n, 5n]) for (let i = 0; i < 2_000 && rest % prime === 0n; i++) rest /= prime;
  return rest === 1n;
}

// Functions for answers that state a rounded value themselves, as in "4π ≈ 12.57".

/** Maximum relative error (1%) of a rounding that is not a plain decimal, such as 1.27 · 10^30. */
const HUNDREDTH: Num = exact({ num: 1n, den: 100n });

/**
 * Returns whether each rounding that an answer states is its value, rounded or truncated at the last digit. An
 * expression that cannot be evaluated counts as correctly rounded.
 */
export function areRoundings(node: Node, roundings: readonly Node[], state: State): boolean {
  const value = roundings.length > 0 ? realValue(node, state) : undefined;
  return value === undefined || roundings.every((rounding) => isRounding(value, rounding, state));
}

function isRounding(value: Num, node: Node, state: State): boolean {
  const rounded = realValue(node, state);
  const scope = scopeOf(state, BITS.constant, true);
  const gap = rounded && add(value, negate(rounded), scope);
  if (gap === undefined) return true;
  const decimals = node.kind === "number" ? (node.decimals ?? (node.digits === undefined ? undefined : 0)) : undefined;
  const isWithin = (size: Num, limit: Num): boolean =>
    order(size, limit, scope) !== "greater" && order(negate(size), limit, scope) !== "greater";
  if (decimals !== undefined) {
    const unit = 10n ** BigInt(decimals);
    if (isWithin(gap, exact({ num: 1n, den: 2n * unit }))) return true;
    // A truncated number is nearer to 0 than the value, by less than one unit of its last digit. A difference of a
    // whole unit is not a truncation.
    const isNearer = signOf(gap) === signOf(value);
    const limit = exact({ num: 1n, den: unit });
    return (
      isNearer &&
      isWithin(gap, limit) &&
      order(gap, limit, scope) !== "equal" &&
      order(negate(gap), limit, scope) !== "equal"
    );
  }
  const share = divide(gap, value.kind === "exact" ? exact(absolute(value.value)) : value, scope);
  return share === undefined || isWithin(share, HUNDREDTH);
}

// Functions for answers that give a value only approximately, e.g. "about 5".

/** Returns whether an answer gives only an approximate value: ≈ 5, about 5, x ≈ 5. */
export function isHedged(node: Node): boolean {
  return node.kind === "list" ? node.items.some(isHedged) : assignmentOf(node)?.isApproximate === true;
}

/** Returns whether an expected answer may itself be rounded, because it has decimals or ≈. */
export function isRounded(node: Node): boolean {
  return some(node, (part) => (part.kind === "number" && (part.decimals ?? 0) > 0) || isHedged(part));
}
