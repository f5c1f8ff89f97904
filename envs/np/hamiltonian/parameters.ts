/** The generator's parameters, and the papers' levels (FORGE A.5.6). */
import type { Level, ParameterInfo } from "../../environment.ts";

const VERTICES = { min: 3, max: 120, integer: true } as const;
const SEPARATORS = { min: 0, max: 40, defaultValue: 0, integer: true } as const;
const SURPLUS = { min: 0, max: 40, defaultValue: 0, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "vertices_min", description: "Fewest vertices.", defaultValue: 15, ...VERTICES },
  { name: "vertices_max", description: "Most vertices.", defaultValue: 20, ...VERTICES },
  {
    name: "density",
    description: "The share of all pairs of vertices that are edges, on average, as far as the separators allow it.",
    ...{ min: 0, max: 1, defaultValue: 0.2, integer: false },
  },
  {
    name: "separators_min",
    description:
      "Fewest separators: vertices whose removal leaves as many parts, and the surplus more. 0 separators leave the graph as it is.",
    ...SEPARATORS,
  },
  { name: "separators_max", description: "Most separators.", ...SEPARATORS },
  {
    name: "surplus_min",
    description: "Fewest parts beyond the number of separators. A cycle must leave out this many parts.",
    ...SURPLUS,
  },
  { name: "surplus_max", description: "Most parts beyond the number of separators.", ...SURPLUS },
  {
    name: "part_max",
    description: "Most vertices of a part. One part has all the vertices that are left, however many.",
    ...{ min: 1, max: 10, defaultValue: 1, integer: true },
  },
];

const EASY = {
  ...{ vertices_min: 15, vertices_max: 20, density: 0.2 },
  ...{ separators_min: 0, separators_max: 0, surplus_min: 0, surplus_max: 0, part_max: 1 },
};
const MEDIUM = { ...EASY, vertices_min: 20, vertices_max: 30, density: 0.3 };
const HARD = {
  ...{ vertices_min: 30, vertices_max: 40, density: 0.4 },
  ...{ separators_min: 4, separators_max: 8, surplus_min: 0, surplus_max: 3, part_max: 2 },
};
const BENCHMARK = {
  ...{ vertices_min: 40, vertices_max: 50, density: 0.5 },
  ...{ separators_min: 6, separators_max: 12, surplus_min: 0, surplus_max: 4, part_max: 2 },
};

export const levels: readonly Level[] = [
  { name: "easy", description: "15 to 20 vertices, 20% of the pairs joined", parameters: EASY },
  { name: "medium", description: "20 to 30 vertices, 30% of the pairs joined", parameters: MEDIUM },
  {
    name: "hard",
    description: "30 to 40 vertices, 40% of the pairs joined, with parts that no cycle can visit all",
    parameters: HARD,
  },
  {
    name: "benchmark",
    description: "40 to 50 vertices, 50% of the pairs joined, with parts that no cycle can visit all",
    parameters: BENCHMARK,
  },
];
