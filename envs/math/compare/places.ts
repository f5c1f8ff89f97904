/** Where expressions are evaluated: without variables to many digits, with them at points that both texts seed. */
import { rngFor, type Rng } from "../../lib/rng.ts";
import { evaluate, type Place } from "../evaluate.ts";
import { add, divide, exact, type Num, order, type Order, wholeNum } from "../numbers/arithmetic.ts";
import { isConstant } from "../read/names.ts";
import { children, type Node, some } from "../syntax.ts";
import type { State } from "./outcome.ts";

/** Binary digits after the point: of constants, of constants too near to tell, of expressions at a point. */
export const BITS = { constant: 256, close: 640, most: 960, point: 160 } as const;

/** The name that is given to what a condition says is a whole number: "k ∈ ℤ". */
export const WHOLE = "whole";

/** The variables of an expression. */
export function variablesOf(node: Node, found = new Set<string>()): Set<string> {
  if (node.kind === "symbol" && !isConstant(node.name)) found.add(node.name);
  if (node.kind === "series") {
    const inner = variablesOf(node.body);
    inner.delete(node.index);
    for (const name of inner) found.add(name);
    variablesOf(node.from, found);
    variablesOf(node.to, found);
  } else for (const child of children(node)) variablesOf(child, found);
  return found;
}

export function placeOf(state: State, bits: number, real: boolean, logarithm: "e" | "10" = "e"): Place {
  return { bits, budget: state.budget, variables: new Map(), real, logarithm, sign: 1 };
}

/** The value of a constant that is real; undefined: it has none. */
export function realValue(node: Node, state: State): Num | undefined {
  return evaluate(node, placeOf(state, BITS.constant, true));
}

export function compareValues(a: Num, b: Num, state: State): Order {
  return order(a, b, placeOf(state, BITS.constant, true));
}

export function pointPlace(
  state: State,
  real: boolean,
  logarithm: "e" | "10",
  variables: ReadonlyMap<string, Num>,
): Place {
  return { ...placeOf(state, BITS.point, real, logarithm), variables };
}

const TRIES = 30;
/** Whole numbers that are tried besides, for what is defined for these alone. */
const WHOLE_TRIES = 16;

/** The same points for the same texts. */
export function* points(
  variables: readonly string[],
  state: State,
  wholes: ReadonlySet<string> = new Set(),
): Generator<ReadonlyMap<string, Num>> {
  const rng = rngFor("math-points", state.seed, ...variables);
  const coordinateOf = (name: string, i: number): Num =>
    name === WHOLE || wholes.has(name) ? wholeNum(BigInt(rng.int(1, 60))) : coordinate(i % KINDS, rng);
  for (let i = 0; i < TRIES; i++) yield new Map(variables.map((name) => [name, coordinateOf(name, i)]));
  for (let i = 0; i < WHOLE_TRIES; i++)
    yield new Map(variables.map((name) => [name, wholeNum(BigInt(rng.int(2, 40)))]));
}

const KINDS = 5;

/** In (0, 1), in (1, 5), in (−4, 0), a whole number, or in (−4, 4): where functions are defined differs. */
function coordinate(kind: number, rng: Rng): Num {
  if (kind === 3) return wholeNum(BigInt(rng.int(1, 15)));
  const part = BigInt(rng.int(1, 2 ** 24 - 1));
  const unit = 2n ** 24n;
  const num = [part, 4n * part + unit, -4n * part, unit, 8n * part - 4n * unit][kind] as bigint;
  return { kind: "ball", ball: { re: num << BigInt(BITS.point - 24), im: 0n, error: 0 } };
}

// Expressions that jump, whose points must not all lie between two jumps.

const JUMPS: ReadonlySet<string> = new Set(["floor", "ceil", "mod", "gcd", "lcm"]);
const jumps = (part: Node): boolean => part.kind === "call" && JUMPS.has(part.name);

export function hasJumps(node: Node): boolean {
  return some(node, (part) => part.kind === "cases" || jumps(part));
}

/** Letters that are whole numbers by custom, where whole parts or remainders are taken. */
const WHOLE_LETTERS: ReadonlySet<string> = new Set(["n", "m", "k", "N"]);

export function wholesOf(nodes: readonly Node[]): ReadonlySet<string> {
  return nodes.some((node) => some(node, jumps)) ? WHOLE_LETTERS : new Set();
}

const CONSTANTS_MAX = 12;
const CONSTANT_MAX = 1000n;

/** Points at, between and beside the jumps of expressions of one variable. */
export function* jumpPoints(name: string, nodes: readonly Node[], state: State): Generator<ReadonlyMap<string, Num>> {
  const at = (value: Num): ReadonlyMap<string, Num> => new Map([[name, value]]);
  if (name === WHOLE || wholesOf(nodes).has(name)) {
    for (let k = 1n; k <= 24n; k++) yield at(wholeNum(k));
    for (const c of wholeConstants(nodes))
      for (const near of [c - 1n, c, c + 1n, 2n * c - 1n, 2n * c, 2n * c + 1n]) yield at(wholeNum(near));
    return;
  }
  const place = placeOf(state, BITS.point, true);
  const ends = endsOf(nodes, state);
  const besides = [-100n, -7n, -1n, 1n, 7n, 100n].map((num) => exact({ num, den: 7n }));
  for (const [i, end] of ends.entries()) {
    yield at(end);
    for (const beside of besides) yield at(add(end, beside, place) as Num);
    const next = ends[i + 1];
    const sum = next && add(end, next, place);
    const middle = sum && divide(sum, wholeNum(2n), place);
    if (middle !== undefined) yield at(middle);
  }
}

function wholeConstants(nodes: readonly Node[]): ReadonlySet<bigint> {
  const found = new Set<bigint>();
  for (const node of nodes)
    some(node, (part) => {
      if (part.kind === "number" && part.value.den === 1n && part.value.num > 1n && part.value.num <= CONSTANT_MAX)
        found.add(part.value.num);
      return found.size >= CONSTANTS_MAX;
    });
  return found;
}

/** What the conditions of cases compare their variable with, and 0. */
function endsOf(nodes: readonly Node[], state: State): readonly Num[] {
  const ends: Num[] = [wholeNum(0n)];
  for (const node of nodes)
    some(node, (part) => {
      const value = part.kind === "cases" || variablesOf(part).size > 0 ? undefined : realValue(part, state);
      if (value !== undefined && ends.every((end) => compareValues(end, value, state) !== "equal")) ends.push(value);
      return ends.length >= CONSTANTS_MAX;
    });
  return ends.toSorted((a, b) => (compareValues(a, b, state) === "less" ? -1 : 1));
}
