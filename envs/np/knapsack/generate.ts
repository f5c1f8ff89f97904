/**
 * Generates items with random weights and values. The capacity is the weight of some of the items and a little more
 * (FORGE A.5.3), so that a good choice exists.
 */
import { defineGenerator } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import { sumAt } from "../../lib/parse-lists.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/encode-bits.ts";
import { colourOf, refine } from "../../lib/structure-hash.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import {
  defineParameters,
  laterSwitch,
  minMax,
  type ParametersOf,
  type Range,
  ranges,
  sizeAxis,
} from "../../parameters.ts";
import { makeItems, sizesProblem } from "./reference.ts";

/** Task: choose among items 0 to n − 1, each at most once, with a total weight within the capacity. */
export interface KnapsackInstance {
  readonly capacity: number;
  /** Weight of each item. */
  readonly weights: Int32Array;
  /** Value of each item. */
  readonly values: Int32Array;
}

/** Returns a text that is equal for instances that differ only in the order of the items. */
export function invariant({ capacity, weights, values }: KnapsackInstance): string {
  const colours = Array.from(weights, (weight, item) => colourOf([weight, values[item] as number]));
  return `${capacity} ${refine({ colours, edges: [] })}`;
}

/** Encodes an instance for its task id, as the capacity, the weights and the values. */
export const inline: InlineCodec<KnapsackInstance> = {
  encode: ({ capacity, weights, values }) => encodeNumbers([capacity, ...weights, ...values]),
  decode: (bytes) => {
    const [capacity = 0, ...rest] = decodeNumbers(bytes);
    const amounts = Int32Array.from(rest);
    const count = amounts.length / 2;
    return { capacity, weights: amounts.slice(0, count), values: amounts.slice(count) };
  },
};

const parameters = defineParameters({
  ...minMax("items", ["Fewest items.", "Most items."], [15, 25], { min: 2, max: 500, integer: true }),
  ...minMax(
    "planted",
    ["Fewest planted items, whose total weight sets the capacity.", "Most planted items."],
    [6, 10],
    {
      min: 1,
      max: 499,
      integer: true,
    },
  ),
  ...minMax("weight", ["Least weight of an item.", "Largest weight of an item."], [5, 25], {
    min: 1,
    max: 100_000,
    integer: true,
  }),
  ...minMax("ratio", ["Least value per weight.", "Largest value per weight."], [1.8, 2.5], {
    min: 0.01,
    max: 100,
    integer: false,
  }),
  ...minMax(
    "factor",
    [
      "Least capacity, as a multiple of the planted items' weight.",
      "Largest capacity, as a multiple of the planted items' weight.",
    ],
    [1.1, 1.4],
    { min: 1, max: 10, integer: false },
  ),
  reference: laterSwitch(
    "1: items as the papers' public code makes them. The capacity comes from the planted items. The other items (items minus planted) are heavy, light or traps, with the weights and values of that code's benchmark.",
  ),
});

interface Sizes {
  readonly items: Range;
  readonly planted: Range;
  readonly weight: Range;
  readonly ratio: Range;
  readonly factor: Range;
}

function level(name: string, sizes: Sizes) {
  const { items, planted, weight, factor } = sizes;
  const slack = factor.map((each) => `${Math.round(100 * (each - 1))}%`).join(" to ");
  return {
    name,
    description: `${items.join(" to ")} items that weigh ${weight.join(" to ")}, of which ${planted.join(" to ")} fit with a slack of ${slack}`,
    parameters: ranges({ ...sizes }),
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [
    sizeAxis("items", [4, 200], (items) => ranges({ planted: [Math.round(0.4 * items), Math.round(0.4 * items)] })),
  ],
  // Levels of the FORGE paper, section A.5.3, and `reference` from its public code.
  levels: [
    level("easy", { items: [15, 25], planted: [6, 10], weight: [5, 25], ratio: [1.8, 2.5], factor: [1.1, 1.4] }),
    level("medium", { items: [25, 35], planted: [8, 12], weight: [20, 80], ratio: [1.5, 2], factor: [1.05, 1.25] }),
    level("hard", { items: [35, 60], planted: [15, 25], weight: [50, 200], ratio: [1.2, 1.6], factor: [1.02, 1.15] }),
    level("benchmark", {
      items: [55, 80],
      planted: [25, 35],
      weight: [50, 200],
      ratio: [1.2, 1.6],
      factor: [1.02, 1.15],
    }),
    {
      name: "reference",
      description:
        "as the papers' public code makes its benchmark: 25 to 35 items that set the capacity, and 30 to 45 that are heavy, cheap or traps",
      parameters: {
        ...ranges({ items: [55, 80], planted: [25, 35], weight: [50, 200], ratio: [1.2, 1.6], factor: [1.02, 1.15] }),
        reference: 1,
      },
      byName: true,
    },
  ],
  generate(p, rng): KnapsackInstance | undefined {
    const made = p.reference === 1 ? makeItems(p, rng) : ownItems(p, rng);
    // Refuse an instance in which all items fit, because there is nothing to choose.
    return made.capacity < sumAt(made.weights, [...made.weights.keys()]) ? made : undefined;
  },
  conflict(p) {
    const { items_min, planted_max, reference } = p;
    if (planted_max >= items_min) return `planted_max must be below items_min: ${planted_max} ≥ ${items_min}`;
    return reference === 1 ? sizesProblem(p) : undefined;
  },
});

function ownItems(p: ParametersOf<typeof parameters>, rng: Rng): KnapsackInstance {
  const count = rng.int(p.items_min, p.items_max);
  const weights = Int32Array.from({ length: count }, () => rng.int(p.weight_min, p.weight_max));
  const values = weights.map((weight) => Math.max(1, Math.round(weight * between(rng, p.ratio_min, p.ratio_max))));
  const planted = sample(count, rng.int(p.planted_min, p.planted_max), rng);
  const capacity = Math.floor(sumAt(weights, planted) * between(rng, p.factor_min, p.factor_max));
  return { capacity, weights, values };
}

function between(rng: Rng, min: number, max: number): number {
  return min + (max - min) * rng.float();
}
