/**
 * The class of an instance, whatever its names and order, by search: an independent check on the invariants that decide
 * splits. Nodes are told apart as far as their relations go; where that leaves some that look alike, each of them is
 * tried first in turn, and the least of all forms found is the canonical one (McKay and Piperno, "Practical graph
 * isomorphism, II", 2014, section 2, without its pruning by automorphisms).
 */
import type { CountdownInstance } from "../../envs/countdown/instance.ts";
import { EAST, type MazeInstance, SOUTH } from "../../envs/games/maze/maze.ts";
import { hasBit } from "../../envs/lib/bit-matrix.ts";
import { adjacent, type Graph } from "../../envs/lib/graph.ts";
import type { Expression } from "../../envs/math/arithmetic/expression.ts";
import type { ArithmeticInstance } from "../../envs/math/arithmetic/generate.ts";
import type { LinearInstance, Term } from "../../envs/math/linear/statement.ts";
import type { BisectionInstance } from "../../envs/np/bisection/generate.ts";
import type { KnapsackInstance } from "../../envs/np/knapsack/generate.ts";
import type { MeetingsInstance } from "../../envs/np/meetings/generate.ts";
import type { SetCoverInstance } from "../../envs/np/set-cover/generate.ts";
import type { SubsetSumInstance } from "../../envs/np/subset-sum/generate.ts";
import { distanceBetween, type TspInstance } from "../../envs/np/tsp/generate.ts";

export interface Relations {
  /** The kind of each node. Only nodes of one kind can correspond. */
  readonly kinds: readonly string[];
  /** Returns the relation between two different nodes; it is symmetric. */
  readonly between: (a: number, b: number) => string;
}

/** Equal exactly for structures that a renumbering of the nodes makes equal. */
export function canonicalForm(relations: Relations): string {
  return leastForm(relations, stable(relations, rankOf(relations.kinds)));
}

/** Returns, for each text, its rank among the distinct texts in sorted order. */
function rankOf(texts: readonly string[]): readonly number[] {
  const ranks = new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]));
  return texts.map((text) => ranks.get(text) as number);
}

/** Ranks that tell nodes apart by their relations to the nodes of each rank, until that tells no more apart. */
function stable(relations: Relations, ranks: readonly number[]): readonly number[] {
  const nodes = [...ranks.keys()];
  const seen = nodes.map((v) => {
    const others = nodes.filter((w) => w !== v).map((w) => `${pad(ranks[w])} ${relations.between(v, w)}`);
    return `${pad(ranks[v])}: ${others.sort().join(",")}`;
  });
  const finer = rankOf(seen);
  return new Set(finer).size === new Set(ranks).size ? finer : stable(relations, finer);
}

function pad(rank: number | undefined): string {
  return `${rank}`.padStart(4, "0");
}

function leastForm(relations: Relations, ranks: readonly number[]): string {
  const cell = firstCell(ranks);
  if (cell === undefined) return formOf(relations, ranks);
  const tried = interchangeable(relations, cell) ? cell.slice(0, 1) : cell;
  const forms = tried.map((first) => {
    // Every rank is doubled, so that the chosen node comes before the others of its cell.
    const split = ranks.map((rank, v) => pad(2 * rank + (v === first ? 0 : 1)));
    return leastForm(relations, stable(relations, rankOf(split)));
  });
  return forms.sort()[0] as string;
}

/** The nodes of the lowest rank that several share; undefined: no two share one. */
function firstCell(ranks: readonly number[]): readonly number[] | undefined {
  const cells = Map.groupBy(ranks.keys(), (v) => ranks[v] as number);
  return [...cells]
    .sort(([a], [b]) => a - b)
    .map(([, cell]) => cell)
    .find(({ length }) => length > 1);
}

/** Whether exchanging any two of these nodes changes nothing; then it does not matter which comes first. */
function interchangeable({ kinds, between }: Relations, cell: readonly number[]): boolean {
  const [one, ...rest] = cell as [number, ...number[]];
  return rest.every((other) =>
    [...kinds.keys()].every((v) => v === one || v === other || between(one, v) === between(other, v)),
  );
}

/** Returns the whole structure as text, node by node in the order of their ranks, which all differ. */
function formOf({ kinds, between }: Relations, ranks: readonly number[]): string {
  const order = [...ranks.keys()].sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
  return JSON.stringify(order.map((v, i) => [kinds[v], ...order.slice(0, i).map((w) => between(v, w))]));
}

// The structure of each environment's instances.

export function graphRelations(graph: Graph): Relations {
  return {
    kinds: new Array<string>(graph.vertices).fill(""),
    between: (a, b) => (adjacent(graph, a, b) ? "1" : "0"),
  };
}

function bisection({ vertices, edges }: BisectionInstance): Relations {
  const weights = new Map(edges.map(({ a, b, weight }) => [`${a} ${b}`, `${weight}`]));
  const between = (a: number, b: number): string => weights.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? "";
  return { kinds: new Array<string>(vertices).fill(""), between };
}

function tsp(instance: TspInstance): Relations {
  const kinds = new Array<string>(instance.cities).fill("");
  return { kinds, between: (a, b) => `${distanceBetween(instance, a, b)}` };
}

function setCover({ subsets }: SetCoverInstance): Relations {
  const { rows, columns } = subsets;
  const kinds = Array.from({ length: rows + columns }, (_, node) => (node < rows ? "subset" : "element"));
  const between = (a: number, b: number): string => {
    const [row, column] = [Math.min(a, b), Math.max(a, b) - rows];
    return row < rows && column >= 0 && hasBit(subsets, row, column) ? "1" : "0";
  };
  return { kinds, between };
}

function meetings({ meetings: all, availability, rooms }: MeetingsInstance): Relations {
  const people = availability.map((day) => `person ${JSON.stringify(day)}`);
  const kinds = [
    ...[...people, ...all.map(({ minutes }) => `meeting ${minutes}`)],
    ...rooms.map((seats) => `room ${seats}`),
  ];
  const between = (a: number, b: number): string => {
    const meeting = all[Math.max(a, b) - people.length];
    return meeting?.attendees.includes(Math.min(a, b)) === true ? "1" : "0";
  };
  return { kinds, between };
}

/** Nodes without relations, and one thing more that is the same for all of them. */
function list(common: number, kinds: readonly string[]): Relations {
  return { kinds: [...kinds, `common ${common}`], between: () => "" };
}

/** The parts of an expression; sums of sums are one sum. Where order counts, a part's place stands between it and its whole. */
function arithmetic({ expression }: ArithmeticInstance): Relations {
  const kinds: string[] = [];
  const links = new Map<string, string>();
  const add = (part: Expression, above: number, place: string): void => {
    const own = kinds.length;
    const { kind, ...rest } = part;
    if (above >= 0) links.set(`${above} ${own}`, `place ${place}`);
    if (!("left" in part)) {
      const below = part.kind === "power" ? part.base : "of" in part ? part.of : undefined;
      kinds.push(JSON.stringify(below === undefined ? part : { ...rest, kind, base: 0, of: 0 }));
      if (below !== undefined) add(below, own, "");
      return;
    }
    kinds.push(kind);
    const ordered = kind === "difference" || kind === "quotient";
    const operands = ordered ? [part.left, part.right] : associated(part, kind);
    for (const [i, operand] of operands.entries()) add(operand, own, ordered ? `${i}` : "");
  };
  add(expression, -1, "");
  // A known root decides which of two joined nodes is above the other.
  kinds[0] = `root ${kinds[0]}`;
  return { kinds, between: eitherWay(links) };
}

function eitherWay(links: ReadonlyMap<string, string>): Relations["between"] {
  return (a, b) => links.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? "";
}

function associated(part: Expression, kind: Expression["kind"]): readonly Expression[] {
  if (part.kind !== kind || !("left" in part)) return [part];
  return [...associated(part.left, kind), ...associated(part.right, kind)];
}

/** The unknowns, the statements, their sides and the terms of these; a side says whether it is the smaller one. */
function linear({ names, statements }: LinearInstance): Relations {
  const kinds: string[] = names.map(() => "unknown");
  const links = new Map<string, string>();
  const link = (above: number, below: number): void => {
    links.set(`${Math.min(above, below)} ${Math.max(above, below)}`, "of");
  };
  const add = (kind: string, above: number): number => {
    if (above >= 0) link(above, kinds.length);
    return kinds.push(kind) - 1;
  };
  const addTerm = (term: Term, above: number): void => {
    if (term.kind === "constant") add(JSON.stringify(term), above);
    else if (term.kind === "unknown") link(add(JSON.stringify(term.coefficient), above), term.index);
    else {
      const own = add(`group ${JSON.stringify(term.factor)}`, above);
      for (const inner of term.terms) addTerm(inner, own);
    }
  };
  for (const { left, relation, right } of statements) {
    const own = add(`statement ${relation.replace(/[<>]/, "<")}`, -1);
    const isLeftSmaller = relation.startsWith("<");
    const [one, other] = relation === "=" ? ["side", "side"] : isLeftSmaller ? ["low", "high"] : ["high", "low"];
    const [leftSide, rightSide] = [add(one, own), add(other, own)];
    for (const term of left) addTerm(term, leftSide);
    for (const term of right) addTerm(term, rightSide);
  }
  return { kinds, between: eitherWay(links) };
}

/** Cells, and whether a wall is between two that touch. Only turns and reflections keep which cells touch. */
function maze(instance: MazeInstance): Relations {
  const { size, start, exit, open } = instance;
  const kinds = open.map((_, cell) => (cell === start ? "start" : cell === exit ? "exit" : "cell"));
  const between = (a: number, b: number): string => {
    const [cell, step] = [Math.min(a, b), Math.abs(a - b)];
    if (step === 1 && (cell + 1) % size > 0) return ((open[cell] ?? 0) & EAST) === 0 ? "wall" : "open";
    if (step === size) return ((open[cell] ?? 0) & SOUTH) === 0 ? "wall" : "open";
    return "";
  };
  return { kinds, between };
}

const relationsOf: Readonly<Record<string, (instance: never) => Relations>> = {
  countdown: ({ numbers, target }: CountdownInstance) => list(target, numbers.map(String)),
  "games/maze": maze,
  "math/arithmetic": arithmetic,
  "math/linear": linear,
  "np/bisection": bisection,
  "np/clique": graphRelations,
  "np/coloring": graphRelations,
  "np/hamiltonian": graphRelations,
  "np/independent-set": graphRelations,
  "np/knapsack": ({ capacity, weights, values }: KnapsackInstance) =>
    list(
      capacity,
      Array.from(weights, (weight, item) => `${weight} ${values[item]}`),
    ),
  "np/meetings": meetings,
  "np/set-cover": setCover,
  "np/subset-sum": ({ target, numbers }: SubsetSumInstance) => list(target, Array.from(numbers, String)),
  "np/tsp": tsp,
};

export function classOf(environment: string, instance: unknown): string {
  const own = relationsOf[environment] as ((instance: unknown) => Relations) | undefined;
  if (own === undefined) throw new Error(`test/envs/canonical-form.ts has no relations for ${environment}: add them`);
  return canonicalForm(own(instance));
}
