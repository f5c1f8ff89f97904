/**
 * Compares families of values that have a member for each whole number, such as π/2 + kπ or ±1 (mod 5). A family is one
 * or more arithmetic progressions. Two families are equal if they contain the same numbers within their common period,
 * in whatever order these are numbered.
 */
import { gcd, reduced } from "../numbers/rational.ts";
import { evaluate } from "../evaluate.ts";
import { add, divide, type Maybe, multiply, negate, type Num, order, signOf, wholeNum } from "../numbers/arithmetic.ts";
import {
  differenceOf,
  hasDoubleSign,
  negated,
  type Node,
  numberNode,
  replaced,
  show,
  splitModulus,
  sumOf,
  symbol,
  variablesOf,
} from "../syntax.ts";
import { type Comparison, different, EQUAL, type State, undecided } from "./outcome.ts";
import { BITS, scopeOf, realValue, WHOLE } from "./points.ts";
import { doubled } from "./double-signs.ts";
import { assignmentOf } from "./shape.ts";

interface Progression {
  readonly offset: Num;
  /** Distance between neighbouring numbers, above 0. */
  readonly period: Num;
}

type Compare = (gold: Node, answer: Node) => Comparison;

export function compareFamilies(gold: Node, answer: Node, state: State, compare: Compare): Comparison {
  const [left, right] = [progressionsOf(gold, state), progressionsOf(answer, state)];
  if (left !== undefined && right !== undefined && areOfOneName(gold, answer))
    return compareProgressions(left, right, state);
  const straight = compare(gold, answer);
  if (straight.kind !== "different" || ![gold, answer].every((node) => variablesOf(node).has(WHOLE))) return straight;
  // The components of a tuple share one parameter. Each component must take the same numbers in both answers, and one
  // shift of the parameter must fit all components.
  if (gold.kind === "bracket" && answer.kind === "bracket" && gold.items.length === answer.items.length) {
    const isOther = gold.items.some((item, i) => {
      const parts = [progressionsOf(item, state), progressionsOf(answer.items[i] as Node, state)] as const;
      return parts[0] && parts[1] && compareProgressions(parts[0], parts[1], state).kind === "different";
    });
    if (isOther) return straight;
  }
  const isMoved = MOVED.some((moved) => compare(gold, replaced(answer, WHOLE, moved)).kind === "equal");
  return isMoved ? EQUAL : undecided("it may be the expected family of values, numbered from another start");
}

/**
 * Returns whether both answers give values to the same name. If each has one name, the names must be equal. Otherwise
 * names that differ only in their subscript, such as x_1 and x_2, count as one.
 */
function areOfOneName(gold: Node, answer: Node): boolean {
  const [left, right] = [namesOf(gold), namesOf(answer)];
  const areAlone = left.length === 1 && right.length === 1;
  if (areAlone) return left[0] === right[0];
  return new Set([...left, ...right].map((name) => name.replace(/_.*$/, ""))).size <= 1;
}

/** Returns the names to which an answer assigns values: x and y of "x = kπ, y = 2kπ", and x of "x ≡ 1 (mod 3)". */
function namesOf(node: Node): readonly string[] {
  const items = node.kind === "list" ? node.items : [node];
  const names = items.map(asClass).map((item) => assignmentOf(item.kind === "residue" ? item.node : item)?.name);
  return [...new Set(names.flatMap((name) => (name?.kind === "symbol" ? [name.name] : [])))];
}

/**
 * Terms that are tried in place of the parameter k, because two authors may count a family of values from different
 * numbers: k + 1, k − 1, k + 2, k − 2 and −k.
 */
const MOVED: readonly Node[] = [
  ...[1n, 2n].flatMap((num) => [sumOf(symbol(WHOLE), numberNode(num)), differenceOf(symbol(WHOLE), numberNode(num))]),
  negated(symbol(WHOLE)),
];

/** Rewrites "x = 6 mod 8", "x mod 8 = 6" and "6 mod 8" as a congruence class. Returns other nodes unchanged. */
function asClass(node: Node): Node {
  if (node.kind !== "relation") {
    const [rest, modulus] = splitModulus(node);
    return modulus === undefined ? node : { kind: "residue", node: rest, modulus };
  }
  const [left, right, ...more] = node.parts.map(splitModulus);
  const modulus = left?.[1] ?? right?.[1];
  if (left === undefined || right === undefined || modulus === undefined || more.length > 0) return node;
  return { kind: "residue", node: { ...node, parts: [left[0], right[0]] }, modulus };
}

/**
 * Returns the arithmetic progressions that an answer describes. Returns undefined if the answer cannot be read as
 * progressions.
 */
function progressionsOf(given: Node, state: State): readonly Progression[] | undefined {
  const node = asClass(given);
  switch (node.kind) {
    case "residue": {
      const period = positive(realValue(node.modulus, state));
      return period && joined(residuesOf(node.node), (each) => constant(each, period, state));
    }
    case "list":
    case "set":
      if (node.kind === "list" && node.joiner !== "or" && areOfSeveralModuli(node.items)) return undefined;
      return joined(node.items, (item) => progressionsOf(item, state));
    case "relation": {
      const value = assignmentOf(node)?.values.at(-1);
      return value && progressionsOf(value, state);
    }
    default:
      if (hasDoubleSign(node))
        return joined(doubled(node, true), (each) => (hasDoubleSign(each) ? undefined : progressionsOf(each, state)));
      return [...variablesOf(node)].every((name) => name === WHOLE) ? linear(node, state) : undefined;
  }
}

/**
 * Returns whether a list of congruences has several moduli. Its congruences must then hold at once: "x ≡ 1 (mod 2), x ≡
 * 2 (mod 3)".
 */
function areOfSeveralModuli(items: readonly Node[]): boolean {
  return new Set(items.flatMap((item) => (item.kind === "residue" ? [show(item.modulus)] : []))).size > 1;
}

function joined(
  nodes: readonly Node[],
  each: (node: Node) => readonly Progression[] | undefined,
): readonly Progression[] | undefined {
  const found = nodes.map(each);
  return found.includes(undefined) ? undefined : (found as readonly (readonly Progression[])[]).flat();
}

/** Returns the residues 1 and −1 of "x ≡ ±1". */
export function residuesOf(node: Node): readonly Node[] {
  const values = assignmentOf(node)?.values ?? [node];
  const items = values.flatMap((value) => (value.kind === "list" || value.kind === "set" ? value.items : [value]));
  return items.flatMap((item) => (hasDoubleSign(item) ? doubled(item, true) : [item]));
}

function constant(node: Node, period: Num, state: State): readonly Progression[] | undefined {
  const offset = realValue(node, state);
  return offset && [{ offset, period }];
}

function positive(value: Maybe<Num>): Maybe<Num> {
  const sign = value && signOf(value);
  return sign === 1 ? value : sign === -1 ? negate(value as Num) : undefined;
}

/** Recognizes an expression k a + b as one arithmetic progression, and (−1)^k a + k b as two. */
function linear(node: Node, state: State): readonly Progression[] | undefined {
  for (const step of [1n, 2n]) {
    const found = Array.from({ length: Number(step) }, (_, rest) => progression(node, step, BigInt(rest), state));
    if (!found.includes(undefined)) return found as readonly Progression[];
  }
  return undefined;
}

/** Values of k at which an expression is tested for linearity in k. */
const PROBES = [2n, 3n, -2n, 7n, -5n, 58n, -143n, 1_009n, -99_991n, 1_000_003n];

function progression(node: Node, step: bigint, rest: bigint, state: State): Progression | undefined {
  const scope = scopeOf(state, BITS.constant, true);
  const at = (k: bigint): Maybe<Num> =>
    evaluate(node, { ...scope, variables: new Map([[WHOLE, wholeNum(k * step + rest)]]) });
  const [offset, next] = [at(0n), at(1n)];
  const rise = offset && next && add(next, negate(offset), scope);
  const period = positive(rise);
  if (offset === undefined || rise === undefined || period === undefined) return undefined;
  const isLinear = PROBES.every((k) => {
    const [climbed, found] = [multiply(rise, wholeNum(k), scope), at(k)];
    const foretold = climbed && add(offset, climbed, scope);
    return foretold !== undefined && found !== undefined && isSame(foretold, found, state);
  });
  return isLinear ? { offset, period } : undefined;
}

function isSame(a: Num, b: Num, state: State): boolean {
  const found = order(a, b, scopeOf(state, BITS.constant, true));
  return found === "equal" || found === "near";
}

// Functions that decide whether two progressions have equal members, e.g. 2k + 1 and 2k − 1.

const DENOMINATOR_MAX = 60;
const OFFSETS_MAX = 120;

function compareProgressions(left: readonly Progression[], right: readonly Progression[], state: State): Comparison {
  const unit = left[0]?.period as Num;
  const shares = [...left, ...right].map(({ period }) => shareOf(period, unit, state));
  if (shares.includes(undefined))
    return left.length + right.length === 2
      ? different("the distances between its numbers differ")
      : undecided("no common multiple of the periods was found");
  const known = shares as readonly (readonly [number, number])[];
  const den = known.reduce((product, [, each]) => lcm(product, each), 1);
  // The unit is the first period divided by `den`. In this unit all periods and their common multiple are whole.
  const periods = known.map(([num, each]) => (num * den) / each);
  const common = periods.reduce(lcm, 1);
  const count = periods.reduce((sum, period) => sum + common / period, 0);
  if (!(count <= OFFSETS_MAX)) return undecided("no common multiple of the periods was found");
  const scope = scopeOf(state, BITS.constant, true);
  const parts = (value: Num): Maybe<Num> => {
    const share = divide(value, unit, scope);
    return share && multiply(share, wholeNum(BigInt(den)), scope);
  };
  const offsetsOf = (some: readonly Progression[], from: number): readonly Maybe<Num>[] =>
    some.flatMap(({ offset }, i) => {
      const [start, period] = [parts(offset), periods[from + i] as number];
      return Array.from(
        { length: common / period },
        (_, k) => start && add(start, wholeNum(BigInt(k * period)), scope),
      );
    });
  const [first, second] = [offsetsOf(left, 0), offsetsOf(right, left.length)];
  if (state.budget.left < 0 || first.includes(undefined) || second.includes(undefined))
    return undecided("it takes too many steps to compare");
  const placed = (values: readonly Maybe<Num>[]): readonly Offset[] =>
    (values as readonly Num[]).map((value) => ({ value, size: roughly(value) }));
  const [all, others] = [placed(first), placed(second)];
  const isIn = (offset: Offset, list: readonly Offset[]): boolean =>
    list.some((each) => isWholeApart(offset, each, common, state));
  const areSame = all.every((offset) => isIn(offset, others)) && others.every((offset) => isIn(offset, all));
  return areSame ? EQUAL : different("it is another family of values");
}

interface Offset {
  readonly value: Num;
  /** Approximate value. It shows for most pairs of offsets that they differ, so that no exact arithmetic is needed. */
  readonly size: number;
}

/** Returns whether two offsets differ by a multiple of the period. */
function isWholeApart(a: Offset, b: Offset, period: number, state: State): boolean {
  const times = Math.round((a.size - b.size) / period);
  if (!Number.isSafeInteger(times * period) || Math.abs(a.size - b.size - times * period) > 1e-6) return false;
  const moved = add(b.value, wholeNum(BigInt(times * period)), scopeOf(state, BITS.constant, true));
  return moved !== undefined && isSame(a.value, moved, state);
}

/**
 * Returns a period as a fraction [num, den] of the first progression's period (`unit`). Undefined if no denominator up
 * to DENOMINATOR_MAX fits.
 */
function shareOf(period: Num, unit: Num, state: State): readonly [number, number] | undefined {
  const share = divide(period, unit, scopeOf(state, BITS.constant, true));
  if (share === undefined) return undefined;
  const size = roughly(share);
  for (let den = 1; den <= DENOMINATOR_MAX; den++) {
    const num = Math.round(size * den);
    if (num < 1 || num > OFFSETS_MAX * DENOMINATOR_MAX || Math.abs(size * den - num) > 1e-6) continue;
    const exact: Num = { kind: "exact", value: reduced(BigInt(num), BigInt(den)) };
    if (isSame(share, exact, state)) return [num, den];
  }
  return undefined;
}

function roughly(value: Num): number {
  if (value.kind === "exact") return Number(value.value.num) / Number(value.value.den);
  return Number(value.ball.re >> BigInt(BITS.constant - 60)) / 2 ** 60;
}

function lcm(a: number, b: number): number {
  return (a / Number(gcd(BigInt(a), BigInt(b)))) * b;
}
