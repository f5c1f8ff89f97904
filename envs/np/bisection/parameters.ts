/** The generator's parameters, and the papers' levels (FORGE A.5.4). */
import type { Level, ParameterInfo } from "../../environment.ts";

const COUNT = { integer: true } as const;
const SHARE = { min: 0, max: 1, integer: false } as const;
const WEIGHT = { min: 1, max: 1000, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "vertices_min", description: "Fewest vertices.", min: 2, max: 200, defaultValue: 28, ...COUNT },
  { name: "vertices_max", description: "Most vertices.", min: 2, max: 200, defaultValue: 32, ...COUNT },
  {
    name: "communities_min",
    description: "Fewest communities. The vertices are dealt into communities whose sizes differ by at most one.",
    ...{ min: 1, max: 20, defaultValue: 2, ...COUNT },
  },
  { name: "communities_max", description: "Most communities.", min: 1, max: 20, defaultValue: 2, ...COUNT },
  {
    name: "density",
    description: "The probability of an edge between two vertices of one community.",
    defaultValue: 0.6,
    ...SHARE,
  },
  {
    name: "noise",
    description: "The probability of an edge between two vertices of different communities.",
    defaultValue: 0.1,
    ...SHARE,
  },
  {
    name: "traitors",
    description:
      "The share of vertices that are tied to a second community as to their own: as densely, and as strongly.",
    defaultValue: 0,
    ...SHARE,
  },
  {
    name: "reinforcement",
    description: "How many times its drawn weight an edge within a community has, and a traitor's to its second.",
    ...{ min: 1, max: 10, defaultValue: 1, ...COUNT },
  },
  { name: "weight_min", description: "Smallest weight that can be drawn.", defaultValue: 1, ...WEIGHT },
  { name: "weight_max", description: "Largest weight that can be drawn.", defaultValue: 10, ...WEIGHT },
];

const EASY = {
  ...{ vertices_min: 28, vertices_max: 32, communities_min: 2, communities_max: 2 },
  ...{ density: 0.6, noise: 0.1, traitors: 0, reinforcement: 1, weight_min: 1, weight_max: 10 },
};
const MEDIUM = { ...EASY, vertices_min: 40, vertices_max: 44, density: 0.5, noise: 0.15 };
const HARD = {
  ...{ ...MEDIUM, vertices_min: 43, vertices_max: 47, communities_min: 4, communities_max: 5 },
  ...{ noise: 0.1, traitors: 0.15, reinforcement: 2 },
};
const BENCHMARK = {
  ...{ ...HARD, vertices_min: 48, vertices_max: 52 },
  ...{ noise: 0.02, traitors: 0.3, reinforcement: 3 },
};

export const levels: readonly Level[] = [
  { name: "easy", description: "about 30 vertices in two clear communities", parameters: EASY },
  { name: "medium", description: "about 42 vertices in two communities with blurred borders", parameters: MEDIUM },
  {
    name: "hard",
    description: "about 45 vertices in four or five reinforced communities, with traitors",
    parameters: HARD,
  },
  {
    name: "benchmark",
    description: "about 50 vertices in four or five strongly reinforced communities, with many traitors and low noise",
    parameters: BENCHMARK,
  },
];
