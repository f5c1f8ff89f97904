/** The generator's parameters, and the papers' levels (FORGE A.5.2). */
import type { Level, ParameterInfo, Parameters } from "../../environment.ts";
import { minAboveMax } from "../../parameters.ts";

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
