/** Equations and inequalities that name no value. */
import { evaluate } from "../evaluate.ts";
import { add, divide, type Maybe, multiply, negate, type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { type Node, type Relation } from "../syntax.ts";
import { all, type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { pointPlace, points, variablesOf } from "./places.ts";

type RelationNode = Extract<Node, { kind: "relation" }>;

const AGREED_ENOUGH = 6;
const AGREED_MIN = 4;

function difference([left, right]: readonly Node[]): Node {
  return {
    kind: "add",
    terms: [
      { sign: "+", node: left as Node },
      { sign: "-", node: right as Node },
    ],
  };
}

const GREATER: Readonly<Partial<Record<Relation, Relation>>> = { "<": ">", "≤": "≥" };

/** Two relations between the same variables. */
export function compareRelations(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  if (gold.parts.length !== answer.parts.length)
    return undecided("chains of relations of different lengths are not compared");
  if (gold.parts.length > 2) return compareChains(gold, answer, state);
  const [left, right] = [directed(gold), directed(answer)];
  if (left.operator !== right.operator) return different("its sign of relation is another");
  const isEquation = left.operator === "=" || left.operator === "≠";
  if (!isEquation && left.operator !== ">" && left.operator !== "≥")
    return undecided(`"${left.operator}" is not compared`);
  const found = compareFactors(left.gap, right.gap, state, !isEquation);
  return found.kind !== "equal" && isEquation ? compareSolutions(left.gap, right.gap, state, found) : found;
}

/** As "something > 0" or "something = 0". */
function directed({ parts, operators }: RelationNode): { readonly operator: Relation; readonly gap: Node } {
  const operator = operators[0] as Relation;
  const turned = GREATER[operator];
  if (turned !== undefined) return { operator: turned, gap: difference(parts.toReversed()) };
  return { operator: operator === "≈" || operator === "≡" ? "=" : operator, gap: difference(parts) };
}

function compareChains(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  const pair = (node: RelationNode, i: number): RelationNode => ({
    kind: "relation",
    parts: node.parts.slice(i, i + 2),
    operators: node.operators.slice(i, i + 1),
  });
  const count = gold.operators.length;
  const straight = all(count, (i) => compareRelations(pair(gold, i), pair(answer, i), state));
  return straight.kind === "equal"
    ? straight
    : all(count, (i) => compareRelations(pair(gold, i), pair(answer, count - 1 - i), state));
}

/** Whether one is the other times a constant that is not 0; `positive`: that is above 0. */
function compareFactors(gold: Node, answer: Node, state: State, positive: boolean): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  let ratio: Maybe<Num>;
  let agreed = 0;
  for (const point of points(variables, state)) {
    const place = pointPlace(state, true, "e", point);
    const [left, right] = [evaluate(gold, place), evaluate(answer, place)];
    if (state.budget.left < 0) return undecided("it takes too many steps to compare");
    const here = left && right && divide(right, left, place);
    if (here === undefined) continue;
    ratio ??= here;
    const found = order(ratio, here, place);
    if (found === "equal" || found === "near") agreed++;
    else if (found !== "unclear") return different("it is another relation");
    if (agreed >= AGREED_ENOUGH) break;
  }
  const sign = ratio && signOf(ratio);
  if (agreed < AGREED_MIN || sign === undefined)
    return undecided("both relations are defined at too few points to compare them");
  if (sign === 0 || (positive && sign < 0)) return different("it is another relation");
  return EQUAL;
}

function isPolynomial(node: Node): boolean {
  if (variablesOf(node).size === 0) return true;
  if (node.kind === "power")
    return node.exponent.kind === "number" && node.exponent.value.den === 1n && isPolynomial(node.base);
  if (node.kind === "multiply")
    return node.factors.every(
      (factor) => isPolynomial(factor.node) && (!factor.inverse || variablesOf(factor.node).size === 0),
    );
  return node.kind === "symbol" || (node.kind === "add" && node.terms.every((term) => isPolynomial(term.node)));
}

/** Whether each is 0 where the other is, found by a variable in which one of them is linear. */
function compareSolutions(gold: Node, answer: Node, state: State, otherwise: Comparison): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  const forth = vanishes(gold, answer, variables, state);
  if (forth === undefined) {
    if (otherwise.kind !== "different" || (isPolynomial(gold) && isPolynomial(answer))) return otherwise;
    return undecided("the equations are no multiples of each other");
  }
  if (!forth) return different("it is another equation");
  const back = vanishes(answer, gold, variables, state);
  return back === true
    ? EQUAL
    : back === false
      ? different("it is another equation")
      : undecided("the equations are no multiples of each other");
}

/** Whether `other` is 0 at solutions of `equation` = 0; undefined: it is linear in no variable. */
function vanishes(equation: Node, other: Node, variables: readonly string[], state: State): boolean | undefined {
  for (const name of variables) {
    let agreed = 0;
    for (const point of points(variables, state)) {
      const solution = solutionFor(equation, name, point, state);
      if (solution === "not linear") break;
      if (solution === undefined) continue;
      const place = pointPlace(state, true, "e", new Map([...point, [name, solution]]));
      const value = evaluate(other, place);
      if (value === undefined) continue;
      const found = order(value, wholeNum(0n), place);
      if (found === "equal" || found === "near") agreed++;
      else if (found !== "unclear") return false;
      if (agreed >= AGREED_MIN) return true;
    }
  }
  return undefined;
}

function solutionFor(
  equation: Node,
  name: string,
  point: ReadonlyMap<string, Num>,
  state: State,
): Num | "not linear" | undefined {
  const at = (x: bigint): Maybe<Num> =>
    evaluate(equation, pointPlace(state, true, "e", new Map([...point, [name, wholeNum(x)]])));
  const place = pointPlace(state, true, "e", point);
  const [one, two] = [at(1n), at(2n)];
  const slope = one && two && add(two, negate(one), place);
  if (one === undefined || slope === undefined) return undefined;
  // Below 0 too, where |x| turns.
  for (const x of [5n, -3n]) {
    const [climbed, found] = [multiply(slope, wholeNum(x - 1n), place), at(x)];
    const foretold = climbed && add(one, climbed, place);
    if (foretold === undefined || found === undefined) return undefined;
    const compared = order(foretold, found, place);
    if (compared !== "equal" && compared !== "near") return "not linear";
  }
  // 1 − f(1) / slope
  const steps = divide(one, slope, place);
  return steps === undefined ? "not linear" : add(wholeNum(1n), negate(steps), place);
}
