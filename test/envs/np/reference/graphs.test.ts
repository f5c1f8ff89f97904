/** Compares the distributions of graphs in the level `reference` with those of the papers' public code. */
import { describe, expect, test } from "vitest";
import { edgeCount, type Graph } from "../../../../envs/lib/graph.ts";
import { bisection } from "../../../../envs/np/bisection/index.ts";
import { clique } from "../../../../envs/np/clique/index.ts";
import { coloring } from "../../../../envs/np/coloring/index.ts";
import { hamiltonian } from "../../../../envs/np/hamiltonian/index.ts";
import { independentSet } from "../../../../envs/np/independent-set/index.ts";
import { COUNT, drawReference, expectEven, expectMean, mean, pairsOf, range } from "./moments.ts";

function sizesOf(graphs: readonly Graph[]): readonly number[] {
  return graphs.map(({ vertices }) => vertices);
}

/** Expects the mean number of edges that `of` gives, averaged over equally likely hidden sizes. */
function expectEdges(graphs: readonly Graph[], hidden: readonly number[], of: (n: number, size: number) => number) {
  const beyond = graphs.map((graph) => edgeCount(graph) - mean(hidden.map((size) => of(graph.vertices, size))));
  expectMean(beyond, 0);
}

describe("np/clique", () => {
  const graphs = drawReference(clique);

  test("has 16 to 20 vertices and a clique of at least 4", () => {
    expectEven(sizesOf(graphs), [16, 20]);
    for (const graph of graphs.slice(0, 100)) expect(clique.solver?.solve(graph).value).toBeGreaterThanOrEqual(4);
  });

  test("joins .4 of the pairs outside of the clique, and .7 of those between but for one that is never joined", () => {
    expectEdges(graphs, range(4, 8), (n, size) => {
      const outside = n - size;
      return pairsOf(size) + 0.4 * pairsOf(outside) + 0.7 * outside * (size - 1);
    });
  });
});

describe("np/independent-set", () => {
  const graphs = drawReference(independentSet);

  test("has 40 to 50 vertices and an independent set of at least 16", () => {
    expectEven(sizesOf(graphs), [40, 50]);
    for (const graph of graphs.slice(0, 50))
      expect(independentSet.solver?.solve(graph).value).toBeGreaterThanOrEqual(16);
  });

  test("joins .4 of the pairs that are not both in the set, and each vertex outside to one in it", () => {
    expectEdges(graphs, range(16, 20), (n, size) => {
      const outside = n - size;
      return 0.4 * pairsOf(outside) + outside * (1 + 0.4 * (size - 1));
    });
  });
});

describe("np/coloring", () => {
  const graphs = drawReference(coloring);

  test("has 32 to 40 vertices and needs at most 8 colours", () => {
    expectEven(sizesOf(graphs), [32, 40]);
    for (const graph of graphs.slice(0, 50)) expect(coloring.solver?.solve(graph).value).toBeLessThanOrEqual(8);
  });

  test("joins half of the pairs that have different colours, each vertex having any of them", () => {
    expectEdges(graphs, range(6, 8), (n, colors) => (pairsOf(n) * (1 - 1 / colors)) / 2);
  });
});

describe("np/hamiltonian", () => {
  const graphs = drawReference(hamiltonian);

  test("has 40 to 50 vertices and a cycle through all", () => {
    expectEven(sizesOf(graphs), [40, 50]);
    for (const graph of graphs.slice(0, 50)) expect(hamiltonian.solver?.solve(graph).value).toBe(graph.vertices);
  });

  test("joins half of the pairs that the cycle does not", () => {
    expectEdges(graphs, [0], (n) => n + (pairsOf(n) - n) / 2);
  });
});

describe("np/bisection", () => {
  const instances = drawReference(bisection);
  /** Communities of 16, 16 and 18 by rising number; the traitors are four of the first. */
  const communityOf = (v: number): number => Math.min(2, Math.floor(v / 16));
  const between = (one: number, other: number) =>
    instances.map(({ edges }) => edges.filter(({ a, b }) => communityOf(a) === one && communityOf(b) === other));
  /** Returns the expected number of noise draws that hit one of these pairs. Some pairs already have an edge. */
  const noise = (pairs: number): number => (24 * pairs) / pairsOf(50);

  test("has 50 vertices, with .9 of the pairs joined within the second and the third community", () => {
    expect(new Set(instances.map(({ vertices }) => vertices))).toEqual(new Set([50]));
    for (const [community, size] of [
      [1, 16],
      [2, 18],
    ] as const) {
      const edges = between(community, community);
      // A pair without an edge may get one by noise.
      const pairs = pairsOf(size);
      expectMean(
        edges.map(({ length }) => length),
        pairs * (1 - 0.1 * (1 - 1 / pairsOf(50)) ** 24),
      );
      expectMean(
        edges.flatMap((all) => all.filter(({ weight }) => weight > 6).map(({ weight }) => weight)),
        9,
      );
    }
  });

  test("ties the first community to the others by light edges, and by heavy ones of four traitors", () => {
    const ties = [1, 2].map((other) => between(0, other));
    for (const edges of ties) {
      const heavy = edges.map((all) => all.filter(({ weight }) => weight >= 9));
      // Three draws at each of four traitors, less those that come again or meet a light edge.
      const counts = heavy.map(({ length }) => length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(12);
      expect(counts.reduce((sum, count) => sum + count, 0) / COUNT).toBeGreaterThan(10.5);
      for (const all of heavy) expect(new Set(all.map(({ a }) => a)).size).toBeLessThanOrEqual(4);
      expectMean(
        heavy.flatMap((all) => all.map(({ weight }) => weight)),
        9.5,
      );
      const light = edges.map((all) => all.filter(({ weight }) => weight <= 2).length);
      // Five draws of 1 or 2, and a third of the noise.
      expect(light.reduce((sum, count) => sum + count, 0) / COUNT).toBeGreaterThan(4.8);
      expect(light.reduce((sum, count) => sum + count, 0) / COUNT).toBeLessThan(5 + noise(16 * 18) / 3 + 0.3);
    }
  });

  test("makes the bridge between the others heavier than 1.2 times the light ties, and leaves traitors to themselves", () => {
    for (const [i, { edges }] of instances.entries()) {
      const weightOf = (one: number, other: number, most: number): number =>
        edges
          .filter(({ a, b, weight }) => communityOf(a) === one && communityOf(b) === other && weight <= most)
          .reduce((sum, { weight }) => sum + weight, 0);
      const bridges = weightOf(0, 1, 2) + weightOf(0, 2, 2);
      expect(weightOf(1, 2, 6), `instance ${i}`).toBeGreaterThan(1.2 * Math.min(bridges, 10));
    }
    const own = between(0, 0);
    const strong = own.map((all) => all.filter(({ weight }) => weight >= 8).length);
    // Twelve are loyal to each other.
    expectMean(strong, 0.9 * pairsOf(12));
    const loose = own.map((all) => all.filter(({ weight }) => weight < 8).length);
    const unjoined = 0.8 * 48 + 0.1 * pairsOf(12) + pairsOf(4);
    expectMean(loose, 0.2 * 48 + unjoined * (1 - (1 - 1 / pairsOf(50)) ** 24));
  });
});
