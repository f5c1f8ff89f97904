/** "4π ≈ 12.57": whether what a value is said to be rounded to is so. */
import { add, divide, exact, type Num, negate, order, signOf } from "../numbers/arithmetic.ts";
import { absolute } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";
import { BITS, placeOf, realValue } from "./places.ts";
import type { State } from "./outcome.ts";

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
