/** Relations that are no polynomials': equal where one side is a multiple of the other, or both say what one variable is. */
import { evaluate } from "../evaluate.ts";
import { nodeOf } from "../exact/node.ts";
import { fractionOf } from "../exact/normal.ts";
import { asConstant, coefficientsIn, degreeIn } from "../exact/polynomial.ts";
import { isWithin, newRing } from "../exact/ring.ts";
import { divide, type Maybe, type Num, negate, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { type Node, replaced } from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { pointPlace, points } from "./places.ts";
import { variablesOf } from "../variables.ts";
import { compareScalars } from "./scalars.ts";

const UNLIKE = undecided("the relations are no multiples of each other");

export function compareProportions(gold: Node, answer: Node, isEquation: boolean, state: State): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  const at = sharedPoint(gold, answer, variables, state);
  if (at === undefined) return undecided("both relations are defined at too few points to compare them");
  const [goldThere, answerThere] = [gold, answer].map((node) => placed(node, at.point)) as [Node, Node];
  const found = compareScalars(timesNode(gold, answerThere), timesNode(answer, goldThere), state);
  if (found.kind === "equal") return at.isPositive || isEquation ? EQUAL : different("it is the opposite relation");
  if (found.kind === "undecided") return found;
  if (!isEquation) return haveOtherSigns(gold, answer, variables, state) ? different("it is another relation") : UNLIKE;
  return compareGraphs(gold, answer, variables, state);
}

function timesNode(node: Node, factor: Node): Node {
  return {
    kind: "multiply",
    factors: [
      { inverse: false, node },
      { inverse: false, node: factor },
    ],
  };
}

/** With whole numbers for its variables. */
function placed(node: Node, point: ReadonlyMap<string, bigint>): Node {
  return [...point].reduce(
    (rest, [name, num]) => replaced(rest, name, { kind: "number", value: { num, den: 1n } }),
    node,
  );
}

/** A point of whole numbers where neither side is 0. */
function sharedPoint(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
): { readonly point: ReadonlyMap<string, bigint>; readonly isPositive: boolean } | undefined {
  for (let turn = 0n; turn < 8n; turn++) {
    const sign = turn % 2n === 0n ? 1n : -1n;
    const point = new Map(variables.map((name, i) => [name, sign * (2n + turn + 3n * BigInt(i))]));
    const numbers = new Map([...point].map(([name, value]) => [name, wholeNum(value)]));
    const place = pointPlace(state, true, "e", numbers);
    const signs = [gold, answer].map((node) => {
      const value = evaluate(node, place);
      return value && signOf(value);
    });
    if (signs.every((each) => each !== undefined && each !== 0)) return { point, isPositive: signs[0] === signs[1] };
  }
  return undefined;
}

function haveOtherSigns(gold: Node, answer: Node, variables: readonly string[], state: State): boolean {
  for (const point of points(variables, state)) {
    const place = pointPlace(state, true, "e", point);
    const [left, right] = [gold, answer].map((node) => {
      const value = evaluate(node, place);
      return value && signOf(value);
    });
    if (left !== undefined && right !== undefined && left !== right) return true;
  }
  return false;
}

// Equations that say what one variable is.

const AGREED_MIN = 8;

/** Whether each holds wherever the other does: both are graphs, so that all that solves one is a value of it. */
function compareGraphs(gold: Node, answer: Node, variables: readonly string[], state: State): Comparison {
  const [forth, back] = [holdsOn(gold, answer, variables, state), holdsOn(answer, gold, variables, state)];
  if (forth === false || back === false) return different("it is another equation");
  return forth === true && back === true ? EQUAL : UNLIKE;
}

/** Whether `other` is 0 on the graph that `equation` is; undefined: it is none that is seen, or too few points tell. */
function holdsOn(equation: Node, other: Node, variables: readonly string[], state: State): boolean | undefined {
  const graph = variables.flatMap((name) => graphOver(equation, name, state) ?? [])[0];
  if (graph === undefined) return undefined;
  let agreed = 0;
  for (const point of points(variables, state)) {
    const solution = graph.at(point);
    if (solution === undefined) continue;
    const place = pointPlace(state, true, "e", new Map([...point, [graph.name, solution]]));
    const value = evaluate(other, place);
    const found = value && order(value, wholeNum(0n), place);
    if (found === "equal" || found === "near") agreed++;
    else if (found !== undefined && found !== "unclear") return false;
  }
  return agreed >= AGREED_MIN ? true : undefined;
}

interface Graph {
  readonly name: string;
  readonly at: (point: ReadonlyMap<string, Num>) => Maybe<Num>;
}

/** Of an equation c·y + rest = 0 with a number c: what y is. */
function graphOver(equation: Node, name: string, state: State): Graph | undefined {
  const ring = newRing(state.budget, true);
  const fraction = fractionOf(equation, ring);
  const index = ring.indices.get(`the variable ${name}`);
  if (fraction === undefined || index === undefined || degreeIn(fraction.num, index) !== 1) return undefined;
  const isInside = isWithin(name, index, ring);
  const [rest, factor] = coefficientsIn(fraction.num, index);
  const slope = factor && asConstant(factor);
  if (isInside || rest === undefined || slope === undefined || asConstant(fraction.den) === undefined) return undefined;
  const node = nodeOf(rest, ring);
  const at = (point: ReadonlyMap<string, Num>): Maybe<Num> => {
    const place = pointPlace(state, true, "e", point);
    const value = evaluate(node, place);
    return value && divide(negate(value), wholeNum(slope), place);
  };
  return { name, at };
}
