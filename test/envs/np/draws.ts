/** Seeded instances of environments and random graphs, for the tests of solvers. */
import type { Environment, Parameters } from "../../../envs/environment.ts";
import { adjacent, emptyGraph, type Graph, join, joinRandomly, pairs } from "../../../envs/lib/graph.ts";
import { rngFor } from "../../../envs/lib/rng.ts";

export function levelOf<Instance>(environment: Environment<Instance>, name: string): Parameters {
  const level = environment.levels.find((each) => each.name === name);
  if (level === undefined) throw new Error(`no level ${name}`);
  return level.parameters;
}

export function draw<Instance>(environment: Environment<Instance>, parameters: Parameters, seed: number): Instance {
  const instance = environment.generator?.generate(parameters, rngFor("test", environment.id, seed));
  if (instance === undefined) throw new Error(`seed ${seed} gives no instance`);
  return instance;
}

export function drawBenchmark<Instance>(environment: Environment<Instance>, seed: number): Instance {
  return draw(environment, levelOf(environment, "benchmark"), seed);
}

/** Returns a random graph of at most `verticesMax` vertices and any density, from empty to complete. */
export function randomGraph(verticesMax: number, seed: number): Graph {
  const rng = rngFor("graph", verticesMax, seed);
  const graph = emptyGraph(rng.int(1, verticesMax));
  joinRandomly(graph, rng.pick([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]), rng);
  return graph;
}

/** The graph with vertex v called order[v]. */
export function renamed(graph: Graph, order: readonly number[]): Graph {
  const other = emptyGraph(graph.vertices);
  for (const [a, b] of pairs(graph.vertices)) if (adjacent(graph, a, b)) join(other, order[a]!, order[b]!);
  return other;
}

export function randomOrder(size: number, seed: number): readonly number[] {
  return rngFor("order", seed).shuffle(Array.from({ length: size }, (_, i) => i));
}

const TASK = "Your task:\n";

/**
 * Returns the words with which another task's prompt introduces its worked example. The example must be this instance,
 * whose own prompt has none.
 */
export function toldOfExample<Instance>(
  environment: Environment<Instance>,
  example: Instance,
  other: Instance,
): string {
  const contentOf = (instance: Instance): string => environment.render(instance, "answer_tag")[0]?.content ?? "";
  const written = contentOf(example);
  const text = written.slice(written.indexOf(TASK) + TASK.length, written.lastIndexOf("\nWrite your final answer"));
  const [before = ""] = contentOf(other).split(TASK);
  const [, told = ""] = before.split(`:\n${text.trimEnd()}\n`);
  if (told === "") throw new Error(`the example is another, of a prompt that begins:\n${before}`);
  return told.trim();
}
