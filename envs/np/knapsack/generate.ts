/** Weights and values per weight drawn evenly; the capacity is what some of the items weigh and a little more (FORGE A.5.3). */
import type { Generator, InlineCodec, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline.ts";
import { colourOf, refine } from "../../lib/refinement.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

// What a knapsack task is.

/** Items 0 … n − 1, each at most once, within a capacity. */
export interface KnapsackInstance {
  readonly capacity: number;
  /** By item. */
  readonly weights: Int32Array;
  readonly values: Int32Array;
}

/** What some items sum up to, by weights or by values. */
export function total(amounts: Int32Array, items: readonly number[]): number {
  let sum = 0;
  for (const item of items) sum += amounts[item] as number;
  return sum;
}

/** The same where the items stand in another order. */
export function invariant({ capacity, weights, values }: KnapsackInstance): string {
  const colours = Array.from(weights, (weight, item) => colourOf([weight, values[item] as number]));
  return `${capacity} ${refine({ colours, edges: [] })}`;
}

/** The capacity, the weights, and as many values. */
export const inline: InlineCodec<KnapsackInstance> = {
  encode: ({ capacity, weights, values }) => encodeNumbers([capacity, ...weights, ...values]),
  decode: (bytes) => {
    const [capacity = 0, ...rest] = decodeNumbers(bytes);
    const amounts = Int32Array.from(rest);
    const count = amounts.length / 2;
    return { capacity, weights: amounts.slice(0, count), values: amounts.slice(count) };
  },
};

export const generator: Generator<KnapsackInstance> = {
  draw(parameters, rng) {
    const own = parameters as Readonly<Record<Name, number>>;
    const count = rng.int(own.items_min, own.items_max);
    const weights = Int32Array.from({ length: count }, () => rng.int(own.weight_min, own.weight_max));
    const values = weights.map((weight) =>
      Math.max(1, Math.round(weight * between(rng, own.ratio_min, own.ratio_max))),
    );
    const planted = sample(count, rng.int(own.planted_min, own.planted_max), rng);
    const capacity = Math.floor(total(weights, planted) * between(rng, own.factor_min, own.factor_max));
    // Where everything fits, there is nothing to choose.
    return capacity < total(weights, [...weights.keys()]) ? { capacity, weights, values } : undefined;
  },
};

function between(rng: Rng, min: number, max: number): number {
  return min + (max - min) * rng.float();
}

type Name = `${"items" | "planted" | "weight" | "ratio" | "factor"}_${"min" | "max"}`;

// The generator's parameters, and the papers' levels (FORGE A.5.3).

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
