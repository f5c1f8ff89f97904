/** Generates sequences of digits. All sequences of a length are equally likely. */
import { defineGenerator } from "../define.ts";
import type { Level } from "../environment.ts";
import type { Rng } from "../lib/rng.ts";
import { defineParameters, minMax, type ParametersOf, ranges, sizeAxis, wholeNumber } from "../parameters.ts";
import { SMALL } from "../splits.ts";
import type { Digits } from "./rules.ts";

export interface SequenceInstance {
  /** Number of different digits. The digits of the sequence are from 0 to symbols − 1. */
  readonly symbols: number;
  readonly sequence: Digits;
}

const SYMBOLS_MAX = 10;

const parameters = defineParameters({
  ...minMax("length", ["Fewest digits of a sequence.", "Most digits of a sequence."], [8, 8], {
    min: 1,
    max: 64,
    integer: true,
  }),
  symbols: wholeNumber("Number of different digits. They are 0 to symbols − 1.", SYMBOLS_MAX, [2, SYMBOLS_MAX]),
});

type SequenceParameters = ParametersOf<typeof parameters>;

/** Returns whether there are too few sequences of this length and number of symbols to divide them into splits. */
export function isSmall({ symbols, sequence }: SequenceInstance): boolean {
  return symbols ** sequence.length < SMALL;
}

function ofLength(length: number): Level<SequenceParameters> {
  return {
    name: `L${length}`,
    description: length === 1 ? "one digit" : `${length} digits`,
    parameters: { ...ranges({ length: [length, length] }), symbols: SYMBOLS_MAX },
    small: SYMBOLS_MAX ** length < SMALL,
  };
}

export const generator = defineGenerator({
  parameters,
  levels: [1, 2, 4, 8, 16, 32, 64].map(ofLength),
  axes: [{ ...sizeAxis("length", [1, 64]), smallThrough: 2 }],
  generate({ length_min, length_max, symbols }: SequenceParameters, rng: Rng): SequenceInstance {
    const length = rng.int(length_min, length_max);
    return { symbols, sequence: Array.from({ length }, () => rng.int(0, symbols - 1)) };
  },
});
