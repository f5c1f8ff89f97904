/** Draws a graph with the vertices that an answer chooses, so that a person sees conflicts and missing vertices. */
import { adjacent, type Graph, pairs } from "../../envs/lib/graph.ts";
import type { IndexList } from "../../envs/lib/parse-lists.ts";
import type { Picture } from "../../envs/picture.ts";
import { CHOSEN_VERTEX, edgeShapes, type Pair, PLAIN_VERTEX, vertexShapes } from "../lib/graph.ts";
import { boxFor, graphPoints } from "../lib/layout.ts";
import { legendOf, noteOf, notesOf, tally, timesText } from "../lib/picture.ts";

export function drawClique(graph: Graph, chosen?: IndexList, best?: IndexList): Picture {
  return drawVertexSet({ graph, chosen, best, joined: true });
}

export function drawIndependentSet(graph: Graph, chosen?: IndexList, best?: IndexList): Picture {
  return drawVertexSet({ graph, chosen, best, joined: false });
}

interface VertexSet {
  readonly graph: Graph;
  /** Vertex numbers as listed. Some may not exist. */
  readonly chosen: readonly number[] | undefined;
  /** Best set, which the drawing compares with the chosen one. */
  readonly best: readonly number[] | undefined;
  /** True if every two chosen vertices must be joined (a clique), false if no two may be (an independent set). */
  readonly joined: boolean;
}

/**
 * Draws the graph with the chosen vertices filled, and with red lines between chosen vertices that must not be chosen
 * together.
 */
function drawVertexSet({ graph, chosen = [], best = [], joined }: VertexSet): Picture {
  const box = boxFor(graph.vertices);
  const points = graphPoints(graph, box);
  const { times, outside, distinct } = tally(chosen, graph.vertices);
  const within = pairsOf(distinct);
  const right = within.filter(([a, b]) => joined && adjacent(graph, a, b));
  const wrong = within.filter(([a, b]) => adjacent(graph, a, b) !== joined);
  const wrongClass = joined ? "gd-missing" : "gd-wrong";
  const lacking = best.filter((v) => times[v] === 0);
  const repeated = distinct.some((v) => (times[v] as number) > 1);
  const edges = [...pairs(graph.vertices)].filter(([a, b]) => adjacent(graph, a, b));
  return {
    ...box,
    shapes: [
      ...edgeShapes(edges, points, "gd-edge"),
      ...edgeShapes(right, points, "gd-chosen"),
      ...edgeShapes(wrong, points, wrongClass),
      ...vertexShapes(points, (v) => ({
        ...((times[v] as number) > 0 ? CHOSEN_VERTEX : PLAIN_VERTEX),
        ring: ringOf(times[v] as number, lacking.includes(v)),
        beside: timesText(times[v] as number),
      })),
    ],
    legend: legendOf(
      [distinct.length > 0, "dot", "gd-f0", "chosen"],
      [right.length > 0, "line", "gd-chosen", "joined, as it must be"],
      [wrong.length > 0, "line", wrongClass, joined ? "chosen, but not joined" : "chosen, but joined"],
      [repeated, "dot", "gd-ring", "listed more than once"],
      [lacking.length > 0, "dot", "gd-best", "in a best answer, and not chosen"],
    ),
    notes: notesOf(noteOf("Not in the graph", outside)),
  };
}

function pairsOf(vertices: readonly number[]): readonly Pair[] {
  return [...pairs(vertices.length)].map(([i, j]) => [vertices[i] as number, vertices[j] as number]);
}

function ringOf(times: number, lacking: boolean): string | undefined {
  if (times > 1) return "gd-ring";
  return lacking ? "gd-best" : undefined;
}
