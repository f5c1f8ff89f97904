/** Compares expressions: constants by exact values or by about seventy digits, others by functions.ts. */
import { evaluate } from "../evaluate.ts";
import { order } from "../numbers/arithmetic.ts";
import { type Node, some, variablesOf } from "../syntax.ts";
import { BITS, depthOf, isTiny, scopeOf } from "./points.ts";
import { compareFunctions } from "./functions.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { roundsTo } from "./rounding.ts";

/** Returns whether a node holds an integral, or a derivative of more than a letter. Neither is worked out. */
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
    return undecided("integrals and derivatives are not worked out");
  // A letter with a bar or an arrow may be related to the same letter without it, so the answers are not called
  // different.
  const isMarked = variables.some((name) => name.startsWith("⃗") && variables.includes(name.slice(1)));
  return isMarked ? undecided("it has a letter both with and without a mark") : found;
}

// Constants.

/** Maximum depth, in bits, of a constant that the usual precision can hold. */
const DEPTH_MAX = 40;

function compareConstants(gold: Node, answer: Node, state: State, isApproximate: boolean): Comparison {
  const scope = scopeOf(state, BITS.constant, false);
  const [left, right] = [evaluate(gold, scope), evaluate(answer, scope)];
  if (left === undefined || right === undefined) return noValue(state, right === undefined);
  const found = order(left, right, scope);
  if (found === "equal") return EQUAL;
  if (found === "near" || found === "unclear") {
    const depth = Math.max(depthOf(gold, scope), depthOf(answer, scope));
    const isSure = found === "near" && depth <= DEPTH_MAX && !isTiny(left, right, scope);
    return isSure ? EQUAL : compareClose(gold, answer, depth, state);
  }
  if (roundsTo(gold, answer, left, right, scope, isApproximate)) return EQUAL;
  return different("its value differs");
}

function noValue({ budget }: State, isAnswers: boolean): Comparison {
  if (budget.left < 0) return undecided("it takes too many steps to compare");
  return undecided(`${isAnswers ? "it" : "the expected answer"} has no value that can be worked out`);
}

/** Compares again with more binary digits, as many as the powers in the expressions need. */
function compareClose(gold: Node, answer: Node, depth: number, state: State): Comparison {
  const wanted = BITS.constant + 64 + depth;
  const scope = scopeOf(state, Math.ceil(Math.min(BITS.most, Math.max(BITS.close, wanted))), false);
  const [left, right] = [evaluate(gold, scope), evaluate(answer, scope)];
  if (left === undefined || right === undefined) return noValue(state, right === undefined);
  switch (order(left, right, scope)) {
    case "equal":
      return EQUAL;
    case "near":
      if (wanted <= BITS.most) return EQUAL;
      return undecided("its powers are too large or too small to tell them from the expected ones");
    case "unclear":
      return undecided("its value is too close to the expected one to tell them apart");
    case "less":
    case "greater":
    case "apart":
      return different("its value differs");
  }
}
