/**
 * Compares two expressions by their values. Constants are compared exactly or to about seventy digits; functions.ts
 * compares expressions with variables.
 */
import { evaluate } from "../evaluate.ts";
import { order } from "../numbers/arithmetic.ts";
import { type Node, some, variablesOf } from "../syntax.ts";
import { BITS, depthOf, isTiny, scopeOf } from "./points.ts";
import { compareFunctions } from "./functions.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { roundsTo } from "./rounding.ts";

/**
 * Returns whether a node has an integral or a derivative of an expression other than a single letter. Such integrals
 * and derivatives are not computed.
 */
const hasUnworked = (node: Node): boolean =>
  some(node, (part) => {
    const [of] = part.kind === "call" && (part.name === "integral" || /^[d∂]\//u.test(part.name)) ? part.args : [];
    return of !== undefined && of.kind !== "symbol";
  });

export function compareScalars(gold: Node, answer: Node, state: State, isApproximate = false): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  const found =
    variables.length === 0
      ? compareConstants(gold, answer, state, isApproximate)
      : compareFunctions(gold, answer, variables, state);
  if (found.kind === "equal") return found;
  if (found.kind === "different" && [gold, answer].some(hasUnworked))
    return undecided("integrals and derivatives are not evaluated");
  // A letter with a bar or an arrow may be related to the same letter without it, so such answers are not called
  // different.
  const isMarked = variables.some((name) => name.startsWith("⃗") && variables.includes(name.slice(1)));
  return isMarked ? undecided("a letter occurs both with and without a bar or an arrow") : found;
}

// Functions that compare expressions without variables.

/**
 * Maximum depth of a constant, in bits, at which the usual precision of 256 bits can show that two constants are equal.
 * The depth (see `depthOf`) is the number of bits that very large and very small parts of the constant may need. Nearly
 * equal constants of a greater depth are compared again with more bits, because 1 − 2^-2024 looks like 1 at 256 bits.
 */
const DEPTH_MAX = 40;

/**
 * Compares constants at `bits` binary digits. If they are too close to distinguish, compares them again at the
 * precision that their powers need.
 */
function compareConstants(
  gold: Node,
  answer: Node,
  state: State,
  isApproximate: boolean,
  bits: number = BITS.constant,
): Comparison {
  const scope = scopeOf(state, bits, false);
  const [left, right] = [evaluate(gold, scope), evaluate(answer, scope)];
  if (left === undefined || right === undefined) return noValue(state, right === undefined);
  const found = order(left, right, scope);
  const isFirst = bits === BITS.constant;
  if (found === "equal") return EQUAL;
  if (found !== "near" && found !== "unclear") {
    const isRounded = isFirst && roundsTo(gold, answer, left, right, scope, isApproximate);
    return isRounded ? EQUAL : different("its value differs");
  }
  const depth = Math.max(...[gold, answer].map((node) => depthOf(node, scopeOf(state, BITS.constant, false))));
  const wanted = BITS.constant + 64 + depth;
  const isEnough = isFirst ? depth <= DEPTH_MAX && !isTiny(left, right, scope) : wanted <= BITS.most;
  if (found === "near" && isEnough) return EQUAL;
  if (!isFirst) return undecided("its value is too close to the expected one to tell them apart");
  const more = Math.ceil(Math.min(BITS.most, Math.max(BITS.close, wanted)));
  return compareConstants(gold, answer, state, isApproximate, more);
}

function noValue({ budget }: State, isAnswers: boolean): Comparison {
  if (budget.left < 0) return undecided("it takes too many steps to compare");
  return undecided(`${isAnswers ? "it" : "the expected answer"} has no value that can be computed`);
}
