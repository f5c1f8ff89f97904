/**
 * Compares equations and inequalities that assign no value, such as x + y = 1. They are equal if one is a multiple of
 * the other.
 */
import {
  differenceOf,
  type Node,
  numberNode,
  productOf,
  type Relation,
  replaced,
  type Term,
  variablesOf,
} from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { evaluate, type Scope } from "../evaluate.ts";
import { add, divide, negate, type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { pointScope, points } from "./points.ts";
import { compareScalars } from "./scalars.ts";

type RelationNode = Extract<Node, { kind: "relation" }>;

const GREATER: Readonly<Partial<Record<Relation, Relation>>> = { "<": ">", "≤": "≥" };

/** Compares two equations or inequalities. They are equal if one is a multiple of the other. */
export function compareRelations(gold: RelationNode, answer: RelationNode, state: State): Comparison {
  if (gold.parts.length > 2 || answer.parts.length > 2) return undecided("chains of relations are not compared");
  const [left, right] = [directed(gold), directed(answer)];
  if (left.operator !== right.operator)
    return variablesOf(gold).size > 1
      ? different("its relation sign differs")
      : undecided("only linear equations and inequalities are solved");
  const isEquation = left.operator === "=" || left.operator === "≠";
  if (!isEquation && left.operator !== ">" && left.operator !== "≥")
    return undecided(`relations with "${left.operator}" are not compared`);
  // An equation may be multiplied by its denominators. Points at which a denominator is 0 are ignored.
  const [one, other] = [left, right].map(({ gap }) => (isEquation ? fractionOf(gap)[0] : gap)) as [Node, Node];
  return compareProportions(one, other, isEquation, state);
}

const ONE = numberNode(1n);
const isOne = (node: Node): boolean => node === ONE;

/** Returns the product of two expressions. Leaves out a factor that is the node ONE. */
function timesOf(left: Node, right: Node): Node {
  return isOne(left) ? right : isOne(right) ? left : productOf(left, right);
}

/** Splits an expression into numerator and denominator. */
function fractionOf(node: Node): readonly [over: Node, under: Node] {
  if (node.kind === "bracket" && node.items.length === 1) return fractionOf(node.items[0] as Node);
  if (node.kind === "multiply")
    return node.factors.reduce<readonly [Node, Node]>(
      ([over, under], factor) => {
        const [top, bottom] = fractionOf(factor.node);
        const [more, less] = factor.inverse ? [bottom, top] : [top, bottom];
        return [timesOf(over, more), timesOf(under, less)];
      },
      [ONE, ONE],
    );
  const parts = node.kind === "add" ? node.terms.map((term) => fractionOf(term.node)) : [];
  if (node.kind !== "add" || parts.every(([, under]) => isOne(under))) return [node, ONE];
  const terms = node.terms.map(({ sign }, i): Term => {
    const [over] = parts[i] as readonly [Node, Node];
    return { sign, node: parts.reduce((top, [, under], j) => (j === i ? top : timesOf(top, under)), over) };
  });
  return [{ kind: "add", terms }, parts.reduce<Node>((bottom, [, under]) => timesOf(bottom, under), ONE)];
}

/** Rewrites a relation so that it compares the difference of its sides with 0: a < b becomes b − a > 0. */
function directed({ parts, operators }: RelationNode): { readonly operator: Relation; readonly gap: Node } {
  const [operator, left, right] = [operators[0] as Relation, parts[0] as Node, parts[1] as Node];
  const turned = GREATER[operator];
  if (turned !== undefined) return { operator: turned, gap: differenceOf(right, left) };
  return { operator: operator === "≈" || operator === "≡" ? "=" : operator, gap: differenceOf(left, right) };
}

const UNLIKE = undecided("neither relation is a multiple of the other");

function compareProportions(gold: Node, answer: Node, isEquation: boolean, state: State): Comparison {
  const variables = [...new Set([...variablesOf(gold), ...variablesOf(answer)])].sort();
  const there = sharedValues(gold, answer, variables, state);
  if (there === undefined) return undecided("both relations are defined at too few points to compare them");
  const [goldThere, answerThere] = there.values;
  const found = compareScalars(productOf(gold, answerThere), productOf(answer, goldThere), state);
  if (found.kind === "equal")
    return there.isPositive || isEquation ? EQUAL : different("its relation sign is the opposite of the expected one");
  if (found.kind === "undecided") return found;
  if (!isEquation)
    return areSeenToDiffer(gold, answer, variables, state) ? different("it is another relation") : UNLIKE;
  return areSeenApart(gold, answer, variables, state) ? different("it is another equation") : UNLIKE;
}

/**
 * Returns the values of both expressions at a point with whole coordinates at which neither value is 0, and whether the
 * values have the same sign.
 */
function sharedValues(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
): { readonly values: readonly [Node, Node]; readonly isPositive: boolean } | undefined {
  for (let turn = 0n; turn < 8n; turn++) {
    const sign = turn % 2n === 0n ? 1n : -1n;
    const point = variables.map((name, i) => [name, sign * (2n + turn + 3n * BigInt(i))] as const);
    const scope = pointScope(state, true, new Map(point.map(([name, value]) => [name, wholeNum(value)])));
    const values = [gold, answer].map((node): readonly [Node, number | undefined] => {
      const value = evaluate(node, scope);
      if (value?.kind === "exact") return [{ kind: "number", value: value.value }, signOf(value)];
      const placed = point.reduce((rest, [name, num]) => replaced(rest, name, numberNode(num)), node);
      return [placed, value && signOf(value)];
    });
    const [[one, first], [other, second]] = values as [(typeof values)[0], (typeof values)[0]];
    if (first && second) return { values: [one, other], isPositive: first === second };
  }
  return undefined;
}

function signThere(node: Node, scope: Scope): ReturnType<typeof signOf> | undefined {
  const value = evaluate(node, scope);
  return value && signOf(value);
}

/** Returns whether the values of two expressions have different signs at some test point. */
function areSeenToDiffer(gold: Node, answer: Node, variables: readonly string[], state: State): boolean {
  for (const point of points(variables, state)) {
    const scope = pointScope(state, true, point);
    const [left, right] = [gold, answer].map((node) => signThere(node, scope));
    if (left !== undefined && right !== undefined && left !== right) return true;
  }
  return false;
}

/**
 * Returns whether one equation fails at a point where the other one holds. The points are test points, moved along one
 * variable until the first equation holds; that equation must be linear in the variable.
 */
function areSeenApart(gold: Node, answer: Node, variables: readonly string[], state: State): boolean {
  for (const point of points(variables, state))
    for (const [equation, other] of [
      [gold, answer],
      [answer, gold],
    ] as const)
      for (const name of variables) {
        const solved = solvedAt(equation, name, point, state);
        const sign = solved && signThere(other, pointScope(state, true, solved));
        if (sign === 1 || sign === -1) return true;
        if (state.budget.left < 0) return false;
      }
  return false;
}

/**
 * Returns the point with one coordinate changed so that the equation holds there. Returns undefined if the equation is
 * not linear in that variable.
 */
function solvedAt(
  equation: Node,
  name: string,
  point: ReadonlyMap<string, Num>,
  state: State,
): ReadonlyMap<string, Num> | undefined {
  const moved = (value: Num): Scope => pointScope(state, true, new Map([...point, [name, value]]));
  const [rest, one] = [0n, 1n].map((value) => evaluate(equation, moved(wholeNum(value))));
  const scope = moved(wholeNum(0n));
  const rise = rest && one && add(one, negate(rest), scope);
  const value = rest && rise && divide(negate(rest), rise, scope);
  const there = value && evaluate(equation, moved(value));
  const found = there && order(there, wholeNum(0n), scope);
  return value && (found === "equal" || found === "near") ? moved(value).variables : undefined;
}
