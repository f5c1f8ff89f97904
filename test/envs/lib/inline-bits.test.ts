import { expect, test } from "vitest";
import { bitMatrix, setBit } from "../../../envs/lib/bit-matrix.ts";
import { emptyGraph, joinRandomly } from "../../../envs/lib/graph.ts";
import { inlineBits, inlineGraph } from "../../../envs/lib/encode-bits.ts";
import { rngFor } from "../../../envs/lib/rng.ts";

test("graphs come back as they were", () => {
  for (let vertices = 1; vertices <= 60; vertices++) {
    const graph = emptyGraph(vertices);
    joinRandomly(graph, 0.5, rngFor("inline", vertices));
    const bytes = inlineGraph.encode(graph);
    expect(bytes).toHaveLength(1 + Math.ceil((vertices * (vertices - 1)) / 16));
    expect(inlineGraph.decode(bytes!)).toEqual(graph);
  }
});

test("matrices come back as they were", () => {
  for (const [rows, columns] of [
    [1, 1],
    [3, 40],
    [30, 40],
    [2, 200],
    [200, 2],
  ] as const) {
    const matrix = bitMatrix(rows, columns);
    const rng = rngFor("inline", rows, columns);
    for (let i = 0; i < (rows * columns) / 2; i++) setBit(matrix, rng.int(0, rows - 1), rng.int(0, columns - 1));
    expect(inlineBits.decode(inlineBits.encode(matrix)!)).toEqual(matrix);
  }
});

test("what is large does not travel", () => {
  expect(inlineGraph.encode(emptyGraph(64))).toHaveLength(253);
  expect(inlineGraph.encode(emptyGraph(65))).toBeUndefined();
  expect(inlineBits.encode(bitMatrix(40, 50))).toHaveLength(252);
  expect(inlineBits.encode(bitMatrix(45, 46))).toBeUndefined();
});
