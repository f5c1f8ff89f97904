/** Answers that go round in a circle: stops are swapped, moved, visited in reverse or twice, left out or taken in. */
import { type Graph, neighbours } from "../../../../envs/lib/graph.ts";
import { type Rng, sample } from "../../../../envs/lib/rng.ts";
import type { TspInstance } from "../../../../envs/np/tsp/generate.ts";
import { anyPosition, inserted, type List, missing, repeated, replaced, swapped, without } from "./lists.ts";
import { anyOf, type Neighbourhood } from "./neighbourhood.ts";

/** 2-opt: two edges are exchanged for two others. */
function reversed(tour: List, rng: Rng): List {
  const [i, j] = [anyPosition(tour, rng), anyPosition(tour, rng)].sort((a, b) => a - b) as [number, number];
  return [...tour.slice(0, i), ...tour.slice(i, j + 1).reverse(), ...tour.slice(j + 1)];
}

/** Or-opt: moves one to three consecutive stops elsewhere, perhaps reversed. */
function moved(tour: List, rng: Rng): List {
  const from = anyPosition(tour, rng);
  const taken = tour.slice(from, from + rng.int(1, 3));
  const rest = [...tour.slice(0, from), ...tour.slice(from + taken.length)];
  const to = rng.int(0, rest.length);
  return [...rest.slice(0, to), ...(rng.int(0, 1) === 0 ? taken : taken.reverse()), ...rest.slice(to)];
}

const anyTour = ({ cities }: TspInstance, rng: Rng): List => sample(cities, cities, rng);

export const tours: Neighbourhood<TspInstance, List> = {
  move: anyOf(
    (_, tour, rng) => swapped(tour, rng),
    (_, tour, rng) => reversed(tour, rng),
    (_, tour, rng) => moved(tour, rng),
    (_, tour, rng) => repeated(tour, rng),
    (_, tour, rng) => without(tour, anyPosition(tour, rng)),
  ),
  random: anyTour,
  start: anyTour,
};

/** A vertex that the cycle lacks, joined to the one before a position, if there is one; else any. */
function newcomer(graph: Graph, cycle: List, position: number, rng: Rng): number {
  const before = cycle.at(position - 1);
  const joined = before === undefined ? [] : neighbours(graph, before).filter((v) => !cycle.includes(v));
  const others = joined.length > 0 ? joined : missing(cycle, graph.vertices);
  return others.length > 0 ? rng.pick(others) : rng.int(0, graph.vertices - 1);
}

function takenIn(graph: Graph, cycle: List, rng: Rng): List {
  const position = anyPosition(cycle, rng);
  return inserted(cycle, position, newcomer(graph, cycle, position, rng));
}

function exchanged(graph: Graph, cycle: List, rng: Rng): List {
  const position = anyPosition(cycle, rng);
  return replaced(cycle, position, newcomer(graph, cycle, position, rng));
}

/**
 * Returns the first cycle of at least three vertices that a random walk closes, or its path if it meets a dead end.
 */
function walkedCycle(graph: Graph, rng: Rng): List {
  const path = [rng.int(0, graph.vertices - 1)];
  for (;;) {
    const next = neighbours(graph, path.at(-1) as number).filter((v) => v !== path.at(-2));
    if (next.length === 0) return path;
    const v = rng.pick(next);
    const seenAt = path.indexOf(v);
    if (seenAt >= 0) return path.slice(seenAt);
    path.push(v);
  }
}

export const cycles: Neighbourhood<Graph, List> = {
  move: anyOf(
    (_, cycle, rng) => reversed(cycle, rng),
    (_, cycle, rng) => moved(cycle, rng),
    (_, cycle, rng) => repeated(cycle, rng),
    (_, cycle, rng) => without(cycle, anyPosition(cycle, rng)),
    takenIn,
    exchanged,
  ),
  random: (graph, rng) => sample(graph.vertices, rng.int(3, graph.vertices), rng),
  start: walkedCycle,
};
