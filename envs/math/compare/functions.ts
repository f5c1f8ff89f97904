/**
 * Compares expressions with variables at random test points, seeded by both texts. A point where the values differ
 * refutes equality; a point where one has no value tells nothing. Kinks of |u| or max, and jumps of floor, may lie
 * between the points; two rules cover them: see `veiled` and `hasJumps`.
 */
import { evaluate } from "../evaluate.ts";
import { type Num, order, signOf } from "../numbers/arithmetic.ts";
import {
  differenceOf,
  type Factor,
  type Node,
  numberNode,
  productOf,
  quotientOf,
  some,
  sumOf,
  variablesOf,
  withChildren,
} from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, depthOf, hasJumps, isTiny, pointScope, pointsOf, scopeOf } from "./points.ts";

/**
 * Maximum depth, in bits, of an expression for which approximate values suffice. The depth (see `depthOf`) is the
 * number of bits that very large or very small parts need. Beyond the maximum one term dwarfs the others, and only
 * points with exact values can show equality.
 */
const POINT_DEPTH_MAX = 64;
const AGREED_MIN = 5;
/** Number of test points with equal values after which no further points with whole coordinates are tried. */
const AGREED_ENOUGH = 8;
/**
 * Maximum number of budget steps for one test point with whole coordinates. Factorials of large numbers exceed it, and
 * the point is skipped.
 */
const WHOLE_STEPS_MAX = 300;
/**
 * Maximum number of budget steps for one test point made of numbers in the answers. Such points matter because, for
 * example, C(n, 100) is 0 below n = 100.
 */
const NAMED_STEPS_MAX = 1_000;
const WHOLE_FUNCTIONS: ReadonlySet<string> = new Set(["factorial", "factorial2", "binom", "arrangements"]);
const isOfWholes = (part: Node): boolean =>
  part.kind === "series" || (part.kind === "call" && WHOLE_FUNCTIONS.has(part.name));

const hasI = (node: Node): boolean => some(node, (part) => part.kind === "symbol" && part.name === "i");

/** Number of test points with each result. */
interface Seen {
  agreed: number;
  /** Test points at which both values are exact and equal. */
  exact: number;
  /**
   * Test points where the values differ, but may: a variable is negative, and the expressions have roots or logarithms.
   */
  differing: number;
}

export function compareFunctions(gold: Node, answer: Node, variables: readonly string[], state: State): Comparison {
  const nodes = [gold, answer];
  if (nodes.some(hasJumps))
    return undecided("floor, ceiling, remainder, gcd, lcm and functions by cases are compared only by their text");
  const found = compareAtPoints(gold, answer, variables, state);
  if (found.kind !== "equal") return found;
  const areTurning = nodes.some((node) => some(node, isTurning));
  if (!areTurning) return EQUAL;
  return compareAtPoints(veiled(gold), veiled(answer), variables, state, AGREED_ENOUGH).kind === "equal"
    ? EQUAL
    : undecided("it is equal at all test points, but may differ between them because of an absolute value");
}

/** Compares two expressions at test points until `enough` points have shown equal values. */
function compareAtPoints(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  enough = Infinity,
): Comparison {
  const nodes = [gold, answer];
  const seen: Seen = { agreed: 0, exact: 0, differing: 0 };
  const look = lookingAt(gold, answer, seen, state);
  const lookAt = (
    points: Iterable<ReadonlyMap<string, Num>>,
    stepsMax = Infinity,
    agreedMax = enough,
  ): Comparison | undefined => {
    for (const point of points) {
      if (seen.agreed >= agreedMax) return undefined;
      const found = look(point, stepsMax);
      if (state.budget.left < 0) return undecided("it takes too many steps to compare");
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const constants = scopeOf(state, BITS.constant, false);
  const isDeep = nodes.some((node) => depthOf(node, constants) > POINT_DEPTH_MAX);
  const { everyday, tiny, wide, whole, named } = pointsOf(variables, state, nodes);
  const refuted = lookAt(everyday()) ?? lookAt(tiny()) ?? lookAt(wide());
  if (refuted !== undefined) return refuted;
  const ofWholes = isDeep || nodes.some((node) => some(node, isOfWholes)) ? enough : AGREED_ENOUGH;
  const found = lookAt(named(), NAMED_STEPS_MAX, ofWholes) ?? lookAt(whole(), WHOLE_STEPS_MAX, ofWholes);
  if (found !== undefined) return found;
  if (seen.agreed < AGREED_MIN)
    return seen.differing > 0
      ? different("it has another value at a test point")
      : undecided("the two answers have values at too few of the test points");
  if (isDeep && seen.exact < AGREED_MIN)
    return undecided("one of the two answers has powers that are too large or too small to compare");
  if (seen.differing > 0) return undecided("it is equal only where its variables are positive");
  return EQUAL;
}

/**
 * Returns a function that evaluates both expressions at one test point. If the values differ, the function returns a
 * refutation. Otherwise it updates `seen` and returns undefined.
 */
function lookingAt(gold: Node, answer: Node, seen: Seen, state: State) {
  const real = !hasI(gold) && !hasI(answer);
  const haveRoots = hasRoots(gold) || hasRoots(answer);
  return (point: ReadonlyMap<string, Num>, stepsMax: number): Comparison | undefined => {
    const budget = { left: Math.min(state.budget.left, stepsMax) };
    const before = budget.left;
    const scope = { ...pointScope(state, real, point), budget };
    const left = evaluate(gold, scope);
    const right = evaluate(answer, scope);
    // A point that exceeds its own step limit costs the budget at most that limit, because the steps beyond it are not
    // done.
    state.budget.left -= before === stepsMax ? before - Math.max(0, budget.left) : before - budget.left;
    if (budget.left < 0) return undefined;
    if (left === undefined || right === undefined) return undefined;
    const found = order(left, right, scope);
    // If both values are 0 within the precision, their equality tells nothing.
    if (found === "unclear" || (found === "near" && isTiny(left, right, scope))) return undefined;
    if (found === "equal" || found === "near") {
      seen.agreed++;
      if (found === "equal") seen.exact++;
      return undefined;
    }
    const isNegative = [...point.values()].some((value) => signOf(value) === -1);
    if (!isNegative || !haveRoots) return different("it has another value at a test point");
    seen.differing++;
    return undefined;
  };
}

/** Returns whether a node has roots or logarithms. Authors simplify these as if all variables were positive. */
function hasRoots(node: Node): boolean {
  return some(node, (part) => {
    if (part.kind === "call") return ["sqrt", "root", "ln", "log", "log10", "logbase"].includes(part.name);
    return part.kind === "power" && !(part.exponent.kind === "number" && part.exponent.value.den === 1n);
  });
}

// Functions with kinks, such as |u|.

const TURNING: ReadonlySet<string> = new Set(["abs", "max", "min", "sgn"]);
const isTurning = (part: Node): boolean =>
  part.kind === "call" && (TURNING.has(part.name) || squaredIn(part) !== undefined) && variablesOf(part).size > 0;

/** Returns u if the node is √(u²), which equals |u|. */
function squaredIn(node: Node): Node | undefined {
  const [of] = node.kind === "call" && node.name === "sqrt" ? node.args : [];
  const inside = of?.kind === "bracket" && of.items.length === 1 ? of.items[0] : of;
  const isSquare = inside?.kind === "power" && inside.exponent.kind === "number" && inside.exponent.value.num === 2n;
  return isSquare && inside.exponent.value.den === 1n ? inside.base : undefined;
}

/**
 * Replaces |u| by √(u² + 7/3), which has no kink, after rewriting max, min and sgn in terms of |u|. If two expressions
 * stay equal under this replacement, they agree on both sides of each kink.
 */
function veiled(node: Node): Node {
  const inside = withChildren(node, veiled);
  if (!isTurning(node) || inside.kind !== "call") return inside;
  const [first, ...others] = inside.args as [Node, ...Node[]];
  switch (inside.name) {
    case "abs":
      return evenOf(first);
    case "sqrt":
      return evenOf(squaredIn(inside) ?? first);
    case "sgn":
      return quotientOf(first, evenOf(first));
    default:
      return others.reduce((one, other) => {
        const [both, apart] = [sumOf(one, other), evenOf(differenceOf(one, other))];
        return productOf(numberNode(1n, 2n), (inside.name === "max" ? sumOf : differenceOf)(both, apart));
      }, first);
  }
}

/**
 * Returns √(u² + 7/3) as a stand-in for |u|. For a product, returns the product of the factors' stand-ins, because
 * |2xy| is 2|x||y|.
 */
function evenOf(node: Node): Node {
  if (variablesOf(node).size === 0) return { kind: "call", name: "abs", args: [node] };
  const [term, ...others] = node.kind === "add" ? node.terms : [];
  if (term !== undefined && others.length === 0) return evenOf(term.node);
  if (node.kind === "multiply")
    return { ...node, factors: node.factors.map((factor: Factor) => ({ ...factor, node: evenOf(factor.node) })) };
  return { kind: "call", name: "sqrt", args: [sumOf(productOf(node, node), numberNode(7n, 3n))] };
}
