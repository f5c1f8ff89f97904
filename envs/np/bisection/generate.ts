/**
 * Generates graphs with communities, noise edges between them, and traitors: vertices tied to a second community too
 * (FORGE A.5.4). README.md lists what the paper leaves open.
 */
import { defineGenerator } from "../../define.ts";
import { refine } from "../../lib/structure-hash.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, ranges, share, sizeAxis, wholeNumber } from "../../parameters.ts";
import { COMMUNITIES, makeEdges } from "./reference.ts";

/** Task: divide a graph with vertices 0 to vertices − 1 and weighted edges into two sides. */
export interface BisectionInstance {
  readonly vertices: number;
  /** Edges in lexicographic order, each pair at most once. */
  readonly edges: readonly Edge[];
}

/** Edge between vertices a < b, of positive weight. */
export interface Edge {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
}

/** Returns a text that is equal for instances that differ only in the numbering of the vertices. */
export function invariant({ vertices, edges }: BisectionInstance): string {
  const weighted: number[] = [];
  for (const { a, b, weight } of edges) weighted.push(a, b, weight);
  return `${vertices} ${refine({ colours: new Array<number>(vertices).fill(0), edges: weighted })}`;
}

/** Returns the total weight of the edges between the two sides of a division. `side[v]` is the side of vertex v. */
export function cutWeight({ edges }: BisectionInstance, side: ArrayLike<number>): number {
  let weight = 0;
  for (const edge of edges) if (side[edge.a] !== side[edge.b]) weight += edge.weight;
  return weight;
}

const parameters = defineParameters({
  ...minMax("vertices", ["Fewest vertices.", "Most vertices."], [28, 32], { min: 2, max: 52, integer: true }),
  ...minMax(
    "communities",
    [
      "Fewest communities. The vertices are dealt into communities whose sizes differ by at most one.",
      "Most communities.",
    ],
    [2, 2],
    { min: 1, max: 20, integer: true },
  ),
  density: { ...share("The probability of an edge between two vertices of one community.", 0.6), max: 0.7 },
  noise: share("The probability of an edge between two vertices of different communities.", 0.1),
  traitors: share(
    "The share of vertices that are traitors: they are tied to a second community as densely and strongly as to their own.",
    0,
  ),
  reinforcement: wholeNumber(
    "Factor of the weights of edges within a community, and from a traitor to its second community.",
    1,
    [1, 10],
  ),
  ...minMax(
    "weight",
    ["Smallest weight of an edge, before reinforcement.", "Largest weight of an edge, before reinforcement."],
    [1, 10],
    {
      min: 1,
      max: 1000,
      integer: true,
    },
  ),
  reference: laterSwitch(
    "1: graphs as the papers' public code makes them: three communities, traitors in the first, and noise as a share of all pairs. Only noise and the number of vertices have an effect.",
  ),
});

const EASY = {
  ...ranges({ vertices: [28, 32], communities: [2, 2], weight: [1, 10] }),
  density: 0.6,
  noise: 0.1,
  traitors: 0,
  reinforcement: 1,
};
const MEDIUM = { ...EASY, ...ranges({ vertices: [40, 44] }), density: 0.5, noise: 0.15 };
const HARD = {
  ...MEDIUM,
  ...ranges({ vertices: [43, 47], communities: [4, 5] }),
  noise: 0.1,
  traitors: 0.15,
  reinforcement: 2,
};
const BENCHMARK = { ...HARD, ...ranges({ vertices: [48, 52] }), noise: 0.02, traitors: 0.3, reinforcement: 3 };

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("vertices", [4, 52])],
  // Levels of the FORGE paper, section A.5.4, and `reference` from its public code.
  levels: [
    { name: "easy", description: "about 30 vertices in two clear communities", parameters: EASY },
    { name: "medium", description: "about 42 vertices in two communities with blurred borders", parameters: MEDIUM },
    {
      name: "hard",
      description: "about 45 vertices in four or five reinforced communities, with traitors",
      parameters: HARD,
    },
    {
      name: "benchmark",
      description:
        "about 50 vertices in four or five strongly reinforced communities, with many traitors and low noise",
      parameters: BENCHMARK,
    },
    {
      name: "reference",
      description: "as the papers' public code makes its benchmark: 50 vertices in three communities, with 4 traitors",
      parameters: {
        ...EASY,
        ...ranges({ vertices: [50, 50], communities: [3, 3] }),
        noise: 0.02,
        reference: 1,
      },
      byName: true,
    },
  ],
  generate(p, rng): BisectionInstance {
    const vertices = rng.int(p.vertices_min, p.vertices_max);
    if (p.reference === 1) return { vertices, edges: makeEdges(vertices, p.noise, rng) };
    const tied = randomTies(vertices, rng.int(p.communities_min, p.communities_max), p.traitors, rng);
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
  conflict({ reference, vertices_min }) {
    if (reference === 0 || vertices_min >= COMMUNITIES) return undefined;
    return `vertices_min must be at least ${COMMUNITIES} with reference = 1, one for each community: ${vertices_min} < ${COMMUNITIES}`;
  },
});

/**
 * Returns whether two vertices share a community, or one is a traitor whose second community is that of the other
 * vertex.
 */
type Tied = (a: number, b: number) => boolean;

function randomTies(vertices: number, communities: number, traitors: number, rng: Rng): Tied {
  const order = sample(vertices, vertices, rng);
  const own = new Uint8Array(vertices);
  for (const [place, v] of order.entries()) own[v] = place % communities;
  const second = own.slice();
  // With one community, there is no second one for a traitor.
  const count = communities > 1 ? Math.round(traitors * vertices) : 0;
  for (const v of order.slice(0, count)) {
    second[v] = ((own[v] as number) + rng.int(1, communities - 1)) % communities;
  }
  return (a, b) => own[a] === own[b] || second[a] === own[b] || own[a] === second[b];
}
