/** Twins: the same instance under other names and in another order, as somebody else would have written it down. */
import type { CountdownInstance } from "../../../envs/countdown/instance.ts";
import type { Environment } from "../../../envs/environment.ts";
import { type MazeInstance, turned } from "../../../envs/games/maze/maze.ts";
import { bitMatrix, onesOf, setBit } from "../../../envs/lib/bit-matrix.ts";
import { emptyGraph, type Graph, join, neighbours } from "../../../envs/lib/graph.ts";
import { type Rng, sample } from "../../../envs/lib/rng.ts";
import type { Expression } from "../../../envs/math/arithmetic/expression.ts";
import type { ArithmeticInstance } from "../../../envs/math/arithmetic/generate.ts";
import { flipped, type LinearInstance, type Statement, type Term } from "../../../envs/math/linear/statement.ts";
import type { BisectionInstance } from "../../../envs/np/bisection/generate.ts";
import type { KnapsackInstance } from "../../../envs/np/knapsack/generate.ts";
import type { MeetingsInstance } from "../../../envs/np/meetings/generate.ts";
import type { SetCoverInstance } from "../../../envs/np/set-cover/generate.ts";
import type { SubsetSumInstance } from "../../../envs/np/subset-sum/generate.ts";
import { distanceBetween, rowStart, type TspInstance } from "../../../envs/np/tsp/generate.ts";

/** Returns a random renumbering of 0 to size − 1. */
function renumbering(size: number, rng: Rng): (old: number) => number {
  const order = sample(size, size, rng);
  return (old) => order[old] as number;
}

/** The items where a renumbering puts them. */
function moved<Item>(items: readonly Item[], to: (old: number) => number): readonly Item[] {
  const placed = [...items];
  for (const [old, item] of items.entries()) placed[to(old)] = item;
  return placed;
}

function graph(old: Graph, rng: Rng): Graph {
  const to = renumbering(old.vertices, rng);
  const renamed = emptyGraph(old.vertices);
  for (let v = 0; v < old.vertices; v++) for (const w of neighbours(old, v)) join(renamed, to(v), to(w));
  return renamed;
}

function bisection({ vertices, edges }: BisectionInstance, rng: Rng): BisectionInstance {
  const to = renumbering(vertices, rng);
  const renamed = edges.map(({ a, b, weight }) => ({
    a: Math.min(to(a), to(b)),
    b: Math.max(to(a), to(b)),
    weight,
  }));
  return { vertices, edges: renamed.sort((one, other) => one.a - other.a || one.b - other.b) };
}

function countdown({ numbers, target }: CountdownInstance, rng: Rng): CountdownInstance {
  return { numbers: rng.shuffle(numbers), target };
}

function knapsack({ capacity, weights, values }: KnapsackInstance, rng: Rng): KnapsackInstance {
  const to = renumbering(weights.length, rng);
  return {
    capacity,
    weights: Int32Array.from(moved([...weights], to)),
    values: Int32Array.from(moved([...values], to)),
  };
}

function meetings(old: MeetingsInstance, rng: Rng): MeetingsInstance {
  const person = renumbering(old.availability.length, rng);
  const renamed = old.meetings.map(({ attendees, minutes }) => ({
    attendees: attendees.map(person).sort((a, b) => a - b),
    minutes,
  }));
  return {
    meetings: rng.shuffle(renamed),
    availability: moved(old.availability, person),
    rooms: rng.shuffle(old.rooms),
  };
}

function setCover({ subsets: old }: SetCoverInstance, rng: Rng): SetCoverInstance {
  const [subset, element] = [renumbering(old.rows, rng), renumbering(old.columns, rng)];
  const subsets = bitMatrix(old.rows, old.columns);
  for (let row = 0; row < old.rows; row++) {
    for (const column of onesOf(old, row)) setBit(subsets, subset(row), element(column));
  }
  return { subsets };
}

function subsetSum({ target, numbers, planted }: SubsetSumInstance, rng: Rng): SubsetSumInstance {
  const to = renumbering(numbers.length, rng);
  return { target, numbers: Int32Array.from(moved([...numbers], to)), planted: planted.map(to) };
}

function tsp(old: TspInstance, rng: Rng): TspInstance {
  const { cities } = old;
  const to = renumbering(cities, rng);
  const distances = new Int32Array(old.distances.length);
  for (let a = 0; a < cities; a++) {
    for (let b = a + 1; b < cities; b++) {
      const [from, end] = [Math.min(to(a), to(b)), Math.max(to(a), to(b))];
      distances[rowStart(cities, from) + end] = distanceBetween(old, a, b);
    }
  }
  return { cities, distances };
}

/** Exchanges the operands of each commutative operation, or leaves them, at random. */
function arithmetic({ expression }: ArithmeticInstance, rng: Rng): ArithmeticInstance {
  return { expression: exchanged(expression, rng) };
}

const COMMUTATIVE: readonly Expression["kind"][] = ["sum", "product", "gcd", "lcm"];

function exchanged(expression: Expression, rng: Rng): Expression {
  if ("left" in expression) {
    const [left, right] = [exchanged(expression.left, rng), exchanged(expression.right, rng)];
    const turned = COMMUTATIVE.includes(expression.kind) && rng.int(0, 1) === 1;
    return turned ? { ...expression, left: right, right: left } : { ...expression, left, right };
  }
  if (expression.kind === "power") return { ...expression, base: exchanged(expression.base, rng) };
  return "of" in expression ? { ...expression, of: exchanged(expression.of, rng) } : expression;
}

function linear({ names, statements }: LinearInstance, rng: Rng): LinearInstance {
  const to = renumbering(names.length, rng);
  const term = (old: Term): Term => {
    if (old.kind === "constant") return old;
    if (old.kind === "unknown") return { ...old, index: to(old.index) };
    return { ...old, terms: rng.shuffle(old.terms.map(term)) };
  };
  const renamed = statements.map(({ left, relation, right }): Statement => {
    const [one, other] = [rng.shuffle(left.map(term)), rng.shuffle(right.map(term))];
    if (rng.int(0, 1) === 0) return { left: one, relation, right: other };
    return { left: other, relation: flipped(relation), right: one };
  });
  return { names: ["k", "m", "n", "h"].slice(0, names.length), statements: rng.shuffle(renamed) };
}

/** Turns and mirrors a maze at random. */
function maze(old: MazeInstance, rng: Rng): MazeInstance {
  return turned(old, rng.int(0, 7));
}

/** Relabellings by environment id. */
const relabellings: Readonly<Record<string, (instance: never, rng: Rng) => unknown>> = {
  countdown: countdown,
  "games/maze": maze,
  "math/arithmetic": arithmetic,
  "math/linear": linear,
  "np/bisection": bisection,
  "np/clique": graph,
  "np/coloring": graph,
  "np/hamiltonian": graph,
  "np/independent-set": graph,
  "np/knapsack": knapsack,
  "np/meetings": meetings,
  "np/set-cover": setCover,
  "np/subset-sum": subsetSum,
  "np/tsp": tsp,
};

/**
 * Whether the tests look for twins of the environment's instances: they must if its generator has an invariant. Rows
 * stand as their authors wrote them, and their environments' tests say which rows count as equal.
 */
export function hasTwins(environment: Environment): boolean {
  const isGenerated = environment.generator !== undefined;
  return (isGenerated && environment.invariant !== undefined) || Object.hasOwn(relabellings, environment.id);
}

/** A twin of an instance of this environment. */
export function relabel(environment: string, instance: unknown, rng: Rng): unknown {
  const own = relabellings[environment] as ((instance: unknown, rng: Rng) => unknown) | undefined;
  if (own === undefined) throw new Error(`test/envs/splits/relabel.ts has no relabelling for ${environment}: add one`);
  return own(instance, rng);
}
