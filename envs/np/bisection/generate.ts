/** Graphs with communities, traitors among them, and noise (FORGE A.5.4; what the paper leaves open is in README.md). */
import type { Generator } from "../../environment.ts";
import type { Rng } from "../../lib/rng.ts";
import { sample } from "../../lib/sample.ts";
import type { BisectionInstance, Edge } from "./instance.ts";

export const generator: Generator<BisectionInstance> = {
  draw(parameters, rng) {
    const p = parameters as Readonly<Record<Name, number>>;
    const vertices = rng.int(p.vertices_min, p.vertices_max);
    const tied = drawTies(vertices, rng.int(p.communities_min, p.communities_max), p.traitors, rng);
    const edges: Edge[] = [];
    for (let a = 0; a < vertices; a++) {
      for (let b = a + 1; b < vertices; b++) {
        const close = tied(a, b);
        if (rng.float() >= (close ? p.density : p.noise)) continue;
        edges.push({ a, b, weight: rng.int(p.weight_min, p.weight_max) * (close ? p.reinforcement : 1) });
      }
    }
    return { vertices, edges };
  },
};

type Name =
  | "vertices_min"
  | "vertices_max"
  | "communities_min"
  | "communities_max"
  | "density"
  | "noise"
  | "traitors"
  | "reinforcement"
  | "weight_min"
  | "weight_max";

/** Whether two vertices are of one community, or one is a traitor whose second community is the other's. */
type Tied = (a: number, b: number) => boolean;

function drawTies(vertices: number, communities: number, traitors: number, rng: Rng): Tied {
  const order = sample(vertices, vertices, rng);
  const own = new Uint8Array(vertices);
  for (const [place, v] of order.entries()) own[v] = place % communities;
  const second = own.slice();
  // With one community there is no second to be tied to.
  const count = communities > 1 ? Math.round(traitors * vertices) : 0;
  for (const v of order.slice(0, count)) {
    second[v] = ((own[v] as number) + rng.int(1, communities - 1)) % communities;
  }
  return (a, b) => own[a] === own[b] || second[a] === own[b] || own[a] === second[b];
}
