/** The generator's parameters, and the papers' levels (FORGE A.5.3). */
import type { Level, ParameterInfo, Parameters } from "../../environment.ts";
import { minAboveMax } from "../../parameters.ts";

const ITEMS = { min: 2, max: 500, integer: true } as const;
const PLANTED = { min: 1, max: 499, integer: true } as const;
const WEIGHT = { min: 1, max: 100_000, integer: true } as const;
const RATIO = { min: 0.01, max: 100, integer: false } as const;
const FACTOR = { min: 1, max: 10, integer: false } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "items_min", description: "Fewest items.", defaultValue: 15, ...ITEMS },
  { name: "items_max", description: "Most items.", defaultValue: 25, ...ITEMS },
  { name: "planted_min", description: "Fewest items that set the capacity.", defaultValue: 6, ...PLANTED },
  { name: "planted_max", description: "Most items that set the capacity.", defaultValue: 10, ...PLANTED },
  { name: "weight_min", description: "Least weight of an item.", defaultValue: 5, ...WEIGHT },
  { name: "weight_max", description: "Largest weight of an item.", defaultValue: 25, ...WEIGHT },
  { name: "ratio_min", description: "Least value per weight.", defaultValue: 1.8, ...RATIO },
  { name: "ratio_max", description: "Largest value per weight.", defaultValue: 2.5, ...RATIO },
  { name: "factor_min", description: "Least capacity per weight of those that set it.", defaultValue: 1.1, ...FACTOR },
  {
    name: "factor_max",
    description: "Largest capacity per weight of those that set it.",
    defaultValue: 1.4,
    ...FACTOR,
  },
];

/** What is wrong with parameters together. */
export function checkParameters(values: Parameters): string | undefined {
  const message = minAboveMax(values);
  if (message !== undefined) return message;
  const { items_min, planted_max } = values as Readonly<Record<"items_min" | "planted_max", number>>;
  if (planted_max < items_min) return undefined;
  return `planted_max must be below items_min: ${planted_max} ≥ ${items_min}`;
}

type Range = readonly [min: number, max: number];

function level(name: string, items: Range, planted: Range, weight: Range, ratio: Range, factor: Range): Level {
  return {
    name,
    description: `${items[0]} to ${items[1]} items that weigh ${weight[0]} to ${weight[1]}, of which ${planted[0]} to ${planted[1]} fit with a slack of ${percent(factor[0])} to ${percent(factor[1])}`,
    parameters: {
      ...{ items_min: items[0], items_max: items[1], planted_min: planted[0], planted_max: planted[1] },
      ...{ weight_min: weight[0], weight_max: weight[1], ratio_min: ratio[0], ratio_max: ratio[1] },
      ...{ factor_min: factor[0], factor_max: factor[1] },
    },
  };
}

function percent(factor: number): string {
  return `${Math.round(100 * (factor - 1))}%`;
}

export const levels: readonly Level[] = [
  level("easy", [15, 25], [6, 10], [5, 25], [1.8, 2.5], [1.1, 1.4]),
  level("medium", [25, 35], [8, 12], [20, 80], [1.5, 2], [1.05, 1.25]),
  level("hard", [35, 60], [15, 25], [50, 200], [1.2, 1.6], [1.02, 1.15]),
  level("benchmark", [55, 80], [25, 35], [50, 200], [1.2, 1.6], [1.02, 1.15]),
];
