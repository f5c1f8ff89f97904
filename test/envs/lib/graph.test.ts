import { expect, test } from "vitest";
import {
  adjacencyText,
  adjacent,
  canonicalGraph,
  complement,
  connect,
  degree,
  edgeCount,
  emptyGraph,
  graphOf,
  isConnected,
  join,
  joinAll,
  joinRandomly,
  neighbours,
  pairs,
  reachable,
} from "../../../envs/lib/graph.ts";
import { rngFor, sample } from "../../../envs/lib/rng.ts";

test("edges go both ways", () => {
  const graph = graphOf([[1, 40], ...Array.from({ length: 40 }, () => [])]);
  expect([adjacent(graph, 0, 40), adjacent(graph, 40, 0), adjacent(graph, 1, 40)]).toEqual([true, true, false]);
  expect(neighbours(graph, 0)).toEqual([1, 40]);
  expect(neighbours(graph, 40)).toEqual([0]);
  expect([degree(graph, 0), degree(graph, 2), edgeCount(graph)]).toEqual([2, 0, 2]);
});

test("an edge may be listed once or twice", () => {
  const once = graphOf([[1, 2], [2], []]);
  expect(
    graphOf([
      [1, 2],
      [0, 2],
      [0, 1],
    ]),
  ).toEqual(once);
  expect(adjacencyText(once)).toBe("0: 1 2\n1: 0 2\n2: 0 1");
  expect(canonicalGraph(once)).not.toBe(canonicalGraph(graphOf([[1, 2], [], []])));
});

test("a complement has the other edges", () => {
  const graph = emptyGraph(37);
  joinRandomly(graph, 0.4, rngFor("complement"));
  const other = complement(graph);
  for (const [a, b] of pairs(37)) expect(adjacent(other, a, b)).toBe(!adjacent(graph, a, b));
  for (let v = 0; v < 37; v++) expect(adjacent(other, v, v)).toBe(false);
});

test("pairs are joined with the probability asked for, where it is allowed", () => {
  const rng = rngFor("random");
  const graph = emptyGraph(150);
  const odd = (a: number, b: number): boolean => (a + b) % 2 === 1;
  joinRandomly(graph, 0.3, rng, odd);
  for (const [a, b] of pairs(150)) if (!odd(a, b)) expect(adjacent(graph, a, b)).toBe(false);
  const share = edgeCount(graph) / 75 ** 2;
  // Five standard deviations.
  expect(Math.abs(share - 0.3)).toBeLessThan(5 * Math.sqrt((0.3 * 0.7) / 75 ** 2));
  joinRandomly(graph, 1, rng);
  expect(edgeCount(graph)).toBe((150 * 149) / 2);
});

test("a clique is made of vertices", () => {
  const graph = emptyGraph(40);
  joinAll(graph, [35, 2, 7]);
  expect(edgeCount(graph)).toBe(3);
  expect(neighbours(graph, 7)).toEqual([2, 35]);
});

test("a walk reaches a component, nearest first", () => {
  const graph = graphOf([[2], [3], [4], [], [5], [], []]);
  expect(reachable(graph, 0)).toEqual([0, 2, 4, 5]);
  expect(reachable(graph, 6)).toEqual([6]);
  expect(isConnected(graph)).toBe(false);
});

test("connecting takes one edge for each part but the first, and only allowed ones", () => {
  for (let seed = 0; seed < 50; seed++) {
    const rng = rngFor("connect", seed);
    const graph = emptyGraph(20);
    join(graph, 3, 4);
    join(graph, 4, 5);
    connect(graph, rng, (a, b) => a % 3 !== b % 3);
    expect(isConnected(graph)).toBe(true);
    expect(edgeCount(graph)).toBe(19);
    for (const [a, b] of pairs(20)) if (a % 3 === b % 3) expect(adjacent(graph, a, b)).toBe(false);
  }
  expect(() => connect(emptyGraph(2), rngFor("never"), () => false)).toThrow(
    "no edge that the generator allows connects the graph",
  );
});

test("each selection of three out of five comes about equally often", () => {
  const counts = new Map<string, number>();
  const rng = rngFor("sample");
  for (let i = 0; i < 10_000; i++) {
    const chosen = sample(5, 3, rng);
    expect(new Set(chosen).size).toBe(3);
    const key = [...chosen].sort().join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect(counts.size).toBe(10);
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
