import { describe, expect, test } from "vitest";
import { emptyGraph, graphOf, joinRandomly } from "../../envs/lib/graph.ts";
import { boxFor, embed, graphPoints, VERTEX_RADIUS } from "../../pictures/lib/layout.ts";
import type { Point } from "../../pictures/lib/picture.ts";
import { rngFor } from "../../envs/lib/rng.ts";

function apart(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

describe("embed", () => {
  test("finds points of the plane again by their distances", () => {
    const rng = rngFor("plane");
    const points = Array.from({ length: 30 }, () => ({ x: rng.float(), y: rng.float() }));
    const found = embed(30, (a, b) => apart(points[a]!, points[b]!));
    for (const [i, a] of points.entries()) {
      for (const [j, b] of points.entries()) expect(apart(found[i]!, found[j]!)).toBeCloseTo(apart(a, b), 2);
    }
  });

  test.each([0, 1, 2, 3])("of %d points", (size) => {
    const found = embed(size, () => 1);
    expect(found).toHaveLength(size);
    for (const { x, y } of found) expect(Number.isFinite(x + y)).toBe(true);
    if (size > 1) expect(apart(found[0]!, found[1]!)).toBeCloseTo(1, 3);
  });

  test("keeps short distances short where no plane has them all", () => {
    const rng = rngFor("random");
    const distances = Array.from({ length: 40 * 40 }, () => rng.int(1, 100));
    const between = (a: number, b: number): number => distances[Math.min(a, b) * 40 + Math.max(a, b)]!;
    const found = embed(40, between);
    const mean = (least: number, most: number): number => {
      const all = found.flatMap((a, i) =>
        found.flatMap((b, j) => (i < j && between(i, j) >= least && between(i, j) <= most ? [apart(a, b)] : [])),
      );
      return all.reduce((sum, each) => sum + each, 0) / all.length;
    };
    expect(mean(1, 5)).toBeLessThan(0.7 * mean(60, 100));
    expect(embed(40, between)).toEqual(found);
  });
});

describe("graphPoints", () => {
  const random = emptyGraph(120);
  joinRandomly(random, 0.1, rngFor("layout"));
  test.each([
    ["an empty graph", emptyGraph(50)],
    ["a path", graphOf([[1], [2], [3], [4], []])],
    ["a single vertex", emptyGraph(1)],
    ["two parts", graphOf([[1, 2], [2], [], [4], []])],
    ["a random graph", random],
    ["a star", graphOf([Array.from({ length: 40 }, (_, i) => i + 1), ...Array.from({ length: 40 }, () => [])])],
  ])("of %s stay apart, and within the box", (_, graph) => {
    const box = boxFor(graph.vertices);
    const points = graphPoints(graph, box);
    for (const [i, a] of points.entries()) {
      expect(a.x).toBeGreaterThan(VERTEX_RADIUS);
      expect(a.x).toBeLessThan(box.width - VERTEX_RADIUS);
      expect(a.y).toBeGreaterThan(VERTEX_RADIUS);
      expect(a.y).toBeLessThan(box.height - VERTEX_RADIUS);
      for (const b of points.slice(i + 1)) expect(apart(a, b)).toBeGreaterThan(VERTEX_RADIUS);
    }
  });
});
