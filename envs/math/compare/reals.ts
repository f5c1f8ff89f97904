/** Represents sets of real numbers as lists of segments: intervals, unions, and the solutions of relations. */
import { type Num, wholeNum } from "../numbers/arithmetic.ts";
import { type Node, type Relation, variablesOf } from "../syntax.ts";
import { type Comparison, different, EQUAL, type State } from "./outcome.ts";
import { plain } from "./shape.ts";
import { compareValues, realValue } from "./points.ts";
import { ALL, type End, OPEN, type Reals, type Segment, solutionsOf } from "./solutions.ts";

const ZERO: End = { value: wholeNum(0n), closed: false };
const NAMED: Readonly<Record<string, Reals>> = {
  ℝ: ALL,
  "∅": [],
  "ℝ+": [{ low: ZERO, high: OPEN }],
  "ℝ-": [{ low: OPEN, high: ZERO }],
  "ℝ≥0": [{ low: { ...ZERO, closed: true }, high: OPEN }],
  "ℝ*": [
    { low: OPEN, high: ZERO },
    { low: ZERO, high: OPEN },
  ],
};
/** Maximum number of parts of a union, or of a list of conditions. */
export const PARTS_MAX = 60;

/**
 * Returns the set of real numbers that a node describes, e.g. by an inequality. Returns undefined if it describes no
 * set, or one that cannot be computed.
 */
export function realsOf(node: Node, state: State): Reals | undefined {
  switch (node.kind) {
    case "symbol":
      return NAMED[node.name];
    case "bracket":
      return node.items.length === 2 ? interval(node, state) : undefined;
    case "text": {
      const meant = plain(node);
      return meant.kind === "text" ? undefined : realsOf(meant, state);
    }
    case "set":
      if (node.items.length > PARTS_MAX) return undefined;
      return joined(
        node.items.map((item) => pointOf(item, state)),
        state,
      );
    case "sets":
      return combined(node, state);
    case "builder": {
      const { element, condition } = node;
      if (element.kind === "symbol") return realsOf(condition, state);
      // In {x ∈ (0, 1) | …} the membership x ∈ (0, 1) is a condition too.
      return element.kind === "relation" ? met([realsOf(element, state), realsOf(condition, state)], state) : undefined;
    }
    case "relation":
      return ofRelation(node.parts, node.operators, state);
    case "list": {
      // The size is checked before any part is computed, to bound the work.
      if (node.items.length > PARTS_MAX || lettersOf(node).size > 1) return undefined;
      const parts = node.items.map((item) => realsOf(item, state));
      const isUnion = node.joiner === "or" || node.items.every(({ kind }) => kind === "bracket" || kind === "sets");
      const found = isUnion ? joined(parts, state) : met(parts, state);
      // "x < -1, x > 1" means one or the other, because no number satisfies both.
      const isEither = node.joiner === "," && found?.length === 0 && parts.every((part) => part?.length !== 0);
      return isEither ? joined(parts, state) : found;
    }
    default:
      return undefined;
  }
}

/**
 * Returns the variables of an answer's conditions: x in "1 < x < 2". A set such as {x | 1 < x < 2} has none, because
 * its letter is arbitrary.
 */
function lettersOf(node: Node): ReadonlySet<string> {
  if (node.kind === "list") return new Set(node.items.flatMap((item) => [...lettersOf(item)]));
  return node.kind === "relation" ? variablesOf(node) : new Set();
}

/** Returns whether the conditions of two answers are about different letters, such as "x > 2" and "y > 2". */
export function areOfOthers(gold: Node, answer: Node): boolean {
  const [letters, others] = [lettersOf(gold), lettersOf(answer)];
  return letters.size > 0 && others.size > 0 && letters.isDisjointFrom(others);
}

function interval({ open, close, items }: Extract<Node, { kind: "bracket" }>, state: State): Reals | undefined {
  const [low, high] = items.map((item) => endOf(item, state));
  if (low === undefined || high === undefined || low === "∞" || high === "-∞") return undefined;
  // An interval cannot include infinity.
  if ((low === "-∞" && open === "[") || (high === "∞" && close === "]")) return undefined;
  return segment(
    low === "-∞" ? OPEN : { value: low, closed: open === "[" },
    high === "∞" ? OPEN : { value: high, closed: close === "]" },
    state,
  );
}

/**
 * Returns the segment between two ends. Returns undefined if no number lies between them, e.g. for (1, 0) and (2, 2).
 * An author who writes these means a pair of numbers, not an empty interval.
 */
function segment(low: End, high: End, state: State): Reals | undefined {
  if (low.value === undefined || high.value === undefined) return [{ low, high }];
  const found = compareValues(low.value, high.value, state);
  if (found === "less") return [{ low, high }];
  const isPoint = (found === "equal" || found === "near") && low.closed && high.closed;
  return isPoint ? [{ low, high }] : undefined;
}

function endOf(node: Node, state: State): Num | "∞" | "-∞" | undefined {
  if (node.kind === "symbol" && node.name === "∞") return "∞";
  const [term] = node.kind === "add" && node.terms.length === 1 ? node.terms : [];
  if (term?.node.kind === "symbol" && term.node.name === "∞") return term.sign === "-" ? "-∞" : "∞";
  return variablesOf(node).size === 0 ? realValue(node, state) : undefined;
}

function pointOf(node: Node, state: State): Reals | undefined {
  const value = variablesOf(node).size === 0 ? realValue(node, state) : undefined;
  return value && [{ low: { value, closed: true }, high: { value, closed: true } }];
}

// Functions for unions, complements and intersections of sets of real numbers.

export function joined(parts: readonly (Reals | undefined)[], state: State): Reals | undefined {
  if (parts.length > PARTS_MAX || parts.some((part) => part === undefined)) return undefined;
  const segments = (parts as readonly Reals[]).flat();
  let isClear = true;
  const sorted = segments.toSorted((a, b) => {
    const found = compareLows(a.low, b.low, state);
    isClear &&= found !== undefined;
    return found ?? 0;
  });
  const merged: Segment[] = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    const touches = last === undefined ? false : meets(last.high, next.low, state);
    if (touches === undefined) return undefined;
    if (last === undefined || !touches) {
      merged.push(next);
      continue;
    }
    const found = compareHighs(last.high, next.high, state);
    if (found === undefined) return undefined;
    merged[merged.length - 1] = { low: last.low, high: found < 0 ? next.high : last.high };
  }
  return isClear ? merged : undefined;
}

function compareEnds(a: Num, b: Num, state: State): number | undefined {
  const found = compareValues(a, b, state);
  if (found === "equal" || found === "near") return 0;
  return found === "less" ? -1 : found === "greater" ? 1 : undefined;
}

function compareLows(a: End, b: End, state: State): number | undefined {
  if (a.value === undefined || b.value === undefined)
    return Number(a.value !== undefined) - Number(b.value !== undefined);
  const found = compareEnds(a.value, b.value, state);
  return found === 0 ? Number(b.closed) - Number(a.closed) : found;
}

function compareHighs(a: End, b: End, state: State): number | undefined {
  if (a.value === undefined || b.value === undefined)
    return Number(b.value !== undefined) - Number(a.value !== undefined);
  const found = compareEnds(a.value, b.value, state);
  return found === 0 ? Number(a.closed) - Number(b.closed) : found;
}

/**
 * Returns whether no gap lies between the upper end of a segment and the lower end of the next one. Undefined if the
 * ends cannot be compared.
 */
function meets(high: End, low: End, state: State): boolean | undefined {
  if (high.value === undefined || low.value === undefined) return true;
  const found = compareEnds(high.value, low.value, state);
  return found === undefined ? undefined : found > 0 || (found === 0 && (high.closed || low.closed));
}

export function complement(reals: Reals): Reals {
  const ends = reals.flatMap(({ low, high }) => [low, high]);
  const flipped = ends.map(({ value, closed }): End => ({ value, closed: value !== undefined && !closed }));
  const bounds = [OPEN, ...flipped, OPEN];
  const gaps: Segment[] = [];
  for (let i = 0; i < bounds.length; i += 2) {
    const [low, high] = [bounds[i] as End, bounds[i + 1] as End];
    // Nothing lies below a segment without a lower end, or above a segment without an upper end.
    if (reals.length > 0 && i === 0 && high.value === undefined) continue;
    if (reals.length > 0 && i === bounds.length - 2 && low.value === undefined) continue;
    gaps.push({ low, high });
  }
  return gaps;
}

export function met(parts: readonly (Reals | undefined)[], state: State): Reals | undefined {
  const union = joined(
    parts.map((part) => part && complement(part)),
    state,
  );
  return union && complement(union);
}

function combined({ operator, left, right }: Extract<Node, { kind: "sets" }>, state: State): Reals | undefined {
  const [a, b] = [realsOf(left, state), realsOf(right, state)];
  if (a === undefined || b === undefined) return undefined;
  if (operator === "∪") return joined([a, b], state);
  return met([a, operator === "∩" ? b : complement(b)], state);
}

// Functions that find the set of real numbers for which a relation in one variable holds, e.g. x > 2.

function ofRelation(parts: readonly Node[], operators: readonly Relation[], state: State): Reals | undefined {
  const [first, second] = parts;
  if (first === undefined || second === undefined) return undefined;
  if (operators[0] === "∈") return parts.length === 2 && first.kind === "symbol" ? realsOf(second, state) : undefined;
  const names = new Set(parts.flatMap((part) => [...variablesOf(part)]));
  if (names.size !== 1) return undefined;
  const [name] = names as Set<string> & Iterable<string>;
  const pieces = operators.map((operator, i) =>
    solutionsOf(parts[i] as Node, operator, parts[i + 1] as Node, name as string, state),
  );
  return pieces.length === 1 ? pieces[0] : met(pieces, state);
}

export function compareReals(gold: Reals, answer: Reals, state: State): Comparison {
  const same = (a: End, b: End): boolean => {
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return a.closed === b.closed && compareEnds(a.value, b.value, state) === 0;
  };
  const isSame =
    gold.length === answer.length &&
    gold.every(({ low, high }, i) => {
      const other = answer[i] as Segment;
      return same(low, other.low) && same(high, other.high);
    });
  return isSame ? EQUAL : different("it is another set of numbers");
}
