/** A graph and the vertices chosen, so that a person sees what is wrong with them, or what they lack. */
import type { Graph } from "../../lib/graph.ts";
import type { Picture } from "../../lib/picture/picture.ts";
import { drawVertexSet } from "../../lib/picture/vertex-set.ts";
import type { IndependentSet } from "./parse.ts";

export function draw(graph: Graph, chosen?: IndependentSet, best?: IndependentSet): Picture {
  return drawVertexSet({ graph, chosen, best, joined: false });
}
