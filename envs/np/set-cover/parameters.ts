/** The generator's parameters, and the papers' levels (FORGE A.5.1). */
import type { Level, ParameterInfo } from "../../environment.ts";

const COUNT = { min: 1, max: 200, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "elements_min", description: "Fewest elements of the universe.", defaultValue: 10, ...COUNT },
  { name: "elements_max", description: "Most elements of the universe.", defaultValue: 20, ...COUNT },
  { name: "subsets_min", description: "Fewest subsets.", defaultValue: 5, ...COUNT },
  { name: "subsets_max", description: "Most subsets.", defaultValue: 10, ...COUNT },
  {
    name: "subset_size_factor",
    description:
      "Size of the largest subset drawn, as a share of the universe; the smallest is half as large. An element that no subset got is then given to one.",
    ...{ min: 0, max: 1, defaultValue: 0.4, integer: false },
  },
];

type Range = readonly [min: number, max: number];

function level(name: string, elements: Range, subsets: Range): Level {
  return {
    name,
    description: `${elements.join(" to ")} elements, ${subsets.join(" to ")} subsets, subset size factor 0.4`,
    parameters: {
      ...{ elements_min: elements[0], elements_max: elements[1] },
      ...{ subsets_min: subsets[0], subsets_max: subsets[1], subset_size_factor: 0.4 },
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", [10, 20], [5, 10]),
  level("medium", [20, 25], [10, 15]),
  level("hard", [25, 30], [15, 25]),
  level("benchmark", [30, 40], [20, 30]),
];
