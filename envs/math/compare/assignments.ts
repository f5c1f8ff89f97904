/**
 * Compares answers that assign values to names, as in "x = 5", and answers that give a value in several forms, as in
 * "4π ≈ 12.57".
 */
import { type Node, show, variablesOf } from "../syntax.ts";
import { areRoundings } from "./rounding.ts";
import { all, any, type Comparison, different, type State, undecided } from "./outcome.ts";
import { headOf } from "./renaming.ts";
import { compareRelations } from "./relations.ts";
import { type Assignment, assignmentOf, chainOf, isAskedFor } from "./shape.ts";

/** Facts about the whole expected answer that the comparison of its parts needs. */
export interface Context {
  readonly isApproximate: boolean;
}

/** Compares a part of the expected answer with a part of the given answer. */
export type Compare = (gold: Node, answer: Node, context?: Context) => Comparison;

export function compareAssignments(
  gold: Node,
  answer: Node,
  state: State,
  context: Context,
  compare: Compare,
): Comparison | undefined {
  const [left, right] = [assignmentOf(gold), assignmentOf(answer)];
  if (left !== undefined && isOfSeveral(left, compare))
    return gold.kind === "relation" && answer.kind === "relation"
      ? compareRelations(gold, answer, state)
      : undecided("a chain of equations is not compared with a value");
  if (left !== undefined && right !== undefined)
    return compareNamed(left, right, gold, answer, state, context, compare);
  const [golds, answers] = [left ?? chainOf(gold), right ?? chainOf(answer)];
  if (golds !== undefined) {
    const inner = { isApproximate: golds.isApproximate };
    if (answers !== undefined) return compareValues(golds.values, answers, state, inner, compare);
    if (answer.kind === "relation")
      return answer.operators.every((operator) => operator === "=") && left !== undefined && gold.kind === "relation"
        ? compareRelations(gold, answer, state)
        : undefined;
    return compareValues(golds.values, { values: [answer], roundings: [] }, state, inner, compare);
  }
  const isValue =
    gold.kind !== "relation" &&
    (right !== undefined || !(gold.kind === "list" && gold.items.some(({ kind }) => kind === "relation")));
  if (right !== undefined && isMoved(right.name))
    return undecided("it defines a function with reordered arguments or a shifted sequence");
  const asked = answers ?? (isValue && variablesOf(gold).size === 0 ? assignmentOf(answer, isAskedFor) : undefined);
  return asked === undefined || !isValue ? undefined : compareValues([gold], asked, state, context, compare);
}

/**
 * Returns whether a chain of equations has different values, as x = y = z does. A chain such as x = 1/2 = 0.5 gives one
 * value in several forms.
 */
function isOfSeveral({ values }: Assignment, compare: Compare): boolean {
  const [first, ...others] = values;
  const mayBe = first !== undefined && others.length > 0 && values.some((value) => variablesOf(value).size > 0);
  return mayBe && others.some((value) => compare(first, value).kind === "different");
}

/**
 * Compares the values of the given answer with those of the expected answer (`golds`). Each given value must equal an
 * expected one. The roundings that the answer states must be roundings of its first value.
 */
function compareValues(
  golds: readonly Node[],
  { values, roundings }: Pick<Assignment, "values" | "roundings">,
  state: State,
  context: Context,
  compare: Compare,
): Comparison {
  const found = all(values.length, (i) => any(golds.map((gold) => () => compare(gold, values[i] as Node, context))));
  if (found.kind !== "equal" || areRoundings(values[0] as Node, roundings, state)) return found;
  return different("its exact value and its rounding do not agree");
}

function compareNamed(
  left: Assignment,
  right: Assignment,
  gold: Node,
  answer: Node,
  state: State,
  context: Context,
  compare: Compare,
): Comparison {
  const inner = { isApproximate: left.isApproximate || context.isApproximate };
  const values = (): Comparison => compareValues(left.values, right, state, inner, compare);
  const isSame = nameText(left.name) === nameText(right.name);
  const mayBeSame = compareNames(left.name, right.name, isSame) && !isLetterForFunction(left, right);
  const found = mayBeSame ? values() : undefined;
  if (found?.kind === "equal") return found;
  // "y = 2x" and "x = y/2" are the same equation, so assignments to different names are compared as equations.
  const areEquations =
    gold.kind === "relation" && answer.kind === "relation" && gold.parts.length === 2 && answer.parts.length === 2;
  const hasVariables =
    left.values.some((value) => variablesOf(value).size > 0) &&
    right.values.some((value) => variablesOf(value).size > 0);
  if (!isSame && areEquations && hasVariables && isProduct(left.name) && isProduct(right.name))
    return compareRelations(gold, answer, state);
  return found ?? different("it names another quantity");
}

/** Returns whether a name is a letter or a product of letters. */
function isProduct(name: Node): boolean {
  return name.kind === "symbol" || name.kind === "multiply";
}

/**
 * Returns the text by which two names are compared. Case matters for single letters, but not for names such as p(x) and
 * P(x).
 */
function nameText(name: Node): string {
  return name.kind === "symbol" ? name.name : show(name).toLowerCase();
}

/** Returns whether a name is a derivative such as dy/dx. */
const isQuotient = (name: Node): boolean => name.kind === "call" && /^[d∂]\//.test(name.name);

/** Returns the order of the derivative that a name such as dy/dx, y' or f''(x) denotes. Returns 0 for other names. */
function orderOf(name: Node): number {
  const text = show(name);
  return isQuotient(name) ? Number(/\^(\d)/.exec(text)?.[1] ?? 1) : (text.match(/'/g) ?? []).length;
}

/** Returns whether a letter is the argument of a function in a name: the x of f(x), but not the f. */
function isArgument(letter: Node, name: Node): boolean {
  const inside = name.kind === "call" ? name.args : name.kind === "multiply" ? name.factors.slice(1).map(nodeOf) : [];
  return letter.kind === "symbol" && inside.some((node) => variablesOf(node).has(letter.name));
}

const nodeOf = ({ node }: { readonly node: Node }): Node => node;

/** Returns whether a name has its arguments out of alphabetical order, as F(y, x), or is a shifted term, as a_{n+1}. */
function isMoved(name: Node): boolean {
  const [, names] = headOf(name);
  return (
    names.some((each, i) => i > 0 && each < (names[i - 1] as string)) ||
    (name.kind === "symbol" && /_.*[+-]/.test(name.name))
  );
}

/**
 * Returns whether one answer defines a function, f(x) = 2x, and the other assigns a value to a letter, k = 2x. The
 * letter y does not count, because y = 2x is the function's graph.
 */
function isLetterForFunction(left: Assignment, right: Assignment): boolean {
  const [letter, other] = left.name.kind === "symbol" ? [left, right] : [right, left];
  if (letter.name.kind !== "symbol" || other.name.kind === "symbol") return false;
  const [head, names] = isQuotient(other.name) ? ["", []] : headOf(other.name);
  const [first = ""] = names;
  // The argument shows whether a name means a function or a product: h(x) = 5 defines a function, PA = 5 is about a
  // segment.
  const isDefinition =
    other.name.kind === "call" ||
    /^[nstxyz]$/.test(first) ||
    other.values.some((value) => variablesOf(value).has(first));
  return first !== "" && isDefinition && ![head, names.length > 1 ? "z" : "y"].includes(letter.name.name);
}

/**
 * Returns whether the names to which two answers assign values may denote the same quantity: e.g. a letter and f(x), or
 * a phrase and any name.
 */
function compareNames(left: Node, right: Node, isSame: boolean): boolean {
  if (isSame || left.kind === "text" || right.kind === "text") return true;
  const isDerivative = [left, right].filter(isQuotient).length === 1 && orderOf(left) > 0;
  if (isDerivative && orderOf(left) === orderOf(right)) return true;
  // An expression such as "sin x" is never another name for a quantity.
  if (
    [left, right].some(
      (name) => name.kind === "ratio" || (name.kind === "call" && !/^\p{L}(?:['_⁻]|$)/u.test(name.name)),
    )
  )
    return false;
  // A value of x is not a value of f(x).
  if (isArgument(left, right) || isArgument(right, left)) return false;
  return (
    (left.kind === "symbol") !== (right.kind === "symbol") ||
    (left.kind !== "symbol" && show(left) !== show(right) && left.kind !== right.kind)
  );
}
