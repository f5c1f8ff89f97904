import { neighbours, degree } from "../graph.ts";
import type { Graph } from "../graph.ts";

/**
 * The vertices with a vertex of least degree last, before it one of least degree among the rest, and so on. Colourings
 * made in this order use few colours, and the search branches first on the vertices with few candidates.
 */
export function coreFirst(graph: Graph): Int32Array {
  const { vertices } = graph;
  const lists = Array.from({ length: vertices }, (_, v) => neighbours(graph, v));
  const left = Int32Array.from({ length: vertices }, (_, v) => degree(graph, v));
  const order = new Int32Array(vertices);
  for (let place = vertices - 1; place >= 0; place--) {
    let least = -1;
    for (let v = 0; v < vertices; v++) {
      if (left[v]! >= 0 && (least < 0 || left[v]! < left[least]!)) least = v;
    }
    order[place] = least;
    left[least] = -1;
    for (const w of lists[least]!) if (left[w]! > 0) left[w] = left[w]! - 1;
  }
  return order;
}
