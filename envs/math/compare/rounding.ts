/** When a number may be equal to a rounded one: README.md has the rule. */
import type { Place } from "../evaluate.ts";
import { add, exact, negate, type Num, order } from "../numbers/arithmetic.ts";
import { absolute, type Rational } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";

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
