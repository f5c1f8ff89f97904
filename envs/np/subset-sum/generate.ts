/**
 * Generates random numbers, uniform in a range. The target is the sum of some of them (FORGE A.5.2) and leaves out at
 * least two. Numbers of the level `reference` are made otherwise (reference.ts).
 */
import { defineGenerator } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import { sumAt } from "../../lib/parse-lists.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/encode-bits.ts";
import { sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, type Range, ranges, sizeAxis } from "../../parameters.ts";
import { makeNumbers } from "./reference.ts";

/**
 * Task: choose as many as possible of the numbers so that they sum to the target. The same number may be at several
 * indices.
 */
export interface SubsetSumInstance {
  readonly target: number;
  readonly numbers: Int32Array;
  /** Indices of the numbers that the generator summed to make the target. The prompt does not contain them. */
  readonly planted: readonly number[];
}

/** Returns a text that is equal for instances that differ only in the order of the numbers. */
export function invariant({ target, numbers }: SubsetSumInstance): string {
  return `${target} ${numbers.toSorted().join(" ")}`;
}

/** Encodes an instance for its task id, as the target, the count of numbers, the numbers, and the planted indices. */
export const inline: InlineCodec<SubsetSumInstance> = {
  encode: ({ target, numbers, planted }) => encodeNumbers([target, numbers.length, ...numbers, ...planted]),
  decode: (bytes) => {
    const [target = 0, count = 0, ...rest] = decodeNumbers(bytes);
    return { target, numbers: Int32Array.from(rest.slice(0, count)), planted: rest.slice(count) };
  },
};

const parameters = defineParameters({
  ...minMax("numbers", ["Fewest numbers.", "Most numbers."], [6, 10], { min: 3, max: 500, integer: true }),
  ...minMax("planted", ["Fewest numbers whose sum is the target.", "Most numbers whose sum is the target."], [4, 8], {
    min: 1,
    max: 498,
    integer: true,
  }),
  ...minMax("value", ["Smallest value of a number.", "Largest value of a number."], [1, 5], {
    min: 1,
    max: 100_000,
    integer: true,
  }),
  reference: laterSwitch(
    "1: numbers as the papers' public code makes them. Several sets of numbers have the target as their sum, if the instance has room for them. The target need not leave out any number.",
  ),
});

function level(name: string, numbers: Range, planted: Range, valueMax: number) {
  return {
    name,
    description: `${numbers[0]} to ${numbers[1]} numbers from 1 to ${valueMax}; ${planted[0]} to ${planted[1]} of them make the target`,
    parameters: ranges({ numbers, planted, value: [1, valueMax] }),
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [
    sizeAxis("numbers", [4, 200], (numbers) => ranges({ planted: [Math.ceil(numbers / 2), Math.ceil(numbers / 2)] })),
  ],
  // Levels of the FORGE paper, section A.5.2, and `reference` from its public code.
  levels: [
    level("easy", [6, 10], [4, 8], 5),
    level("medium", [8, 12], [4, 8], 10),
    level("hard", [12, 15], [8, 12], 15),
    level("benchmark", [15, 20], [10, 15], 15),
    {
      name: "reference",
      description:
        "as the papers' public code makes its benchmark: 15 to 20 numbers from 1 to 15; 10 to 15 of them make the target",
      parameters: { ...ranges({ numbers: [15, 20], planted: [10, 15], value: [1, 15] }), reference: 1 },
      byName: true,
    },
  ],
  generate(p, rng): SubsetSumInstance {
    if (p.reference === 1) {
      const { numbers, planted } = makeNumbers(p, rng);
      return { target: sumAt(numbers, planted), numbers, planted };
    }
    const { numbers_min, numbers_max, planted_min, planted_max, value_min, value_max } = p;
    const count = rng.int(numbers_min, numbers_max);
    const numbers = Int32Array.from({ length: count }, () => rng.int(value_min, value_max));
    const planted = sample(count, rng.int(planted_min, Math.min(planted_max, count - 2)), rng);
    return { target: sumAt(numbers, planted), numbers, planted };
  },
  /**
   * Refuses parameters whose target could not leave out two numbers. With reference = 1, the target need not leave out
   * any.
   */
  conflict({ numbers_min, planted_min, reference }) {
    if (reference === 1 || planted_min <= numbers_min - 2) return undefined;
    return `planted_min must be at least 2 below numbers_min: ${planted_min} > ${numbers_min} − 2`;
  },
});
