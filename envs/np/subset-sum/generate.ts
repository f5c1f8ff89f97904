/** Numbers drawn evenly; the target sums up some of them (FORGE A.5.2), at least two fewer than there are. */
import type { Generator, InlineCodec, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline.ts";
import { sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

// What a subset sum task is.

/** Numbers at the indices 0 … n − 1, the same number perhaps at several. */
export interface SubsetSumInstance {
  readonly target: number;
  readonly numbers: Int32Array;
  /** Indices whose numbers sum up to the target: the way it was made. The prompt does not hold them. */
  readonly planted: readonly number[];
}

/** What the numbers at some indices sum up to. */
export function sumOf(numbers: Int32Array, indices: readonly number[]): number {
  let sum = 0;
  for (const index of indices) sum += numbers[index] as number;
  return sum;
}

/** The same where the numbers stand in another order. */
export function invariant({ target, numbers }: SubsetSumInstance): string {
  return `${target} ${numbers.toSorted().join(" ")}`;
}

/** The target, how many numbers there are, the numbers, and the indices planted. */
export const inline: InlineCodec<SubsetSumInstance> = {
  encode: ({ target, numbers, planted }) => encodeNumbers([target, numbers.length, ...numbers, ...planted]),
  decode: (bytes) => {
    const [target = 0, count = 0, ...rest] = decodeNumbers(bytes);
    return { target, numbers: Int32Array.from(rest.slice(0, count)), planted: rest.slice(count) };
  },
};

export const generator: Generator<SubsetSumInstance> = {
  draw(parameters, rng) {
    const { numbers_min, numbers_max, planted_min, planted_max, value_min, value_max } = parameters as Readonly<
      Record<Name, number>
    >;
    const count = rng.int(numbers_min, numbers_max);
    const numbers = Int32Array.from({ length: count }, () => rng.int(value_min, value_max));
    const planted = sample(count, rng.int(planted_min, Math.min(planted_max, count - 2)), rng);
    return { target: sumOf(numbers, planted), numbers, planted };
  },
};

type Name = "numbers_min" | "numbers_max" | "planted_min" | "planted_max" | "value_min" | "value_max";

// The generator's parameters, and the papers' levels (FORGE A.5.2).

const NUMBERS = { min: 3, max: 500, integer: true } as const;
const PLANTED = { min: 1, max: 498, integer: true } as const;
const VALUE = { min: 1, max: 100_000, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "numbers_min", description: "Fewest numbers.", defaultValue: 6, ...NUMBERS },
  { name: "numbers_max", description: "Most numbers.", defaultValue: 10, ...NUMBERS },
  { name: "planted_min", description: "Fewest numbers that the target sums up.", defaultValue: 4, ...PLANTED },
  { name: "planted_max", description: "Most numbers that the target sums up.", defaultValue: 8, ...PLANTED },
  { name: "value_min", description: "Smallest number that can be drawn.", defaultValue: 1, ...VALUE },
  { name: "value_max", description: "Largest number that can be drawn.", defaultValue: 5, ...VALUE },
];

/** What is wrong with parameters together. At least two numbers are left out of the target. */
export function checkParameters(values: Parameters): string | undefined {
  const message = minAboveMax(values);
  if (message !== undefined) return message;
  const { numbers_min, planted_min } = values as Readonly<Record<"numbers_min" | "planted_min", number>>;
  if (planted_min <= numbers_min - 2) return undefined;
  return `planted_min must be at least 2 below numbers_min: ${planted_min} > ${numbers_min} − 2`;
}

type Range = readonly [min: number, max: number];

function level(name: string, numbers: Range, planted: Range, valueMax: number): Level {
  return {
    name,
    description: `${numbers[0]} to ${numbers[1]} numbers from 1 to ${valueMax}; ${planted[0]} to ${planted[1]} of them make the target`,
    parameters: {
      ...{ numbers_min: numbers[0], numbers_max: numbers[1], planted_min: planted[0], planted_max: planted[1] },
      ...{ value_min: 1, value_max: valueMax },
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", [6, 10], [4, 8], 5),
  level("medium", [8, 12], [4, 8], 10),
  level("hard", [12, 15], [8, 12], 15),
  level("benchmark", [15, 20], [10, 15], 15),
];
