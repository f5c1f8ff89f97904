/** Generates secret codes. All codes of a size are equally likely. */
import { defineGenerator } from "../../define.ts";
import type { Level } from "../../environment.ts";
import type { Rng } from "../../lib/rng.ts";
import { defineParameters, type ParametersOf, wholeNumber } from "../../parameters.ts";
import { SMALL } from "../../splits.ts";
import type { MastermindInstance } from "./code.ts";

const parameters = defineParameters({
  places: wholeNumber("Places of the code.", 4, [2, 4]),
  colours: wholeNumber("Colours that a place may have.", 6, [2, 6]),
});

type MastermindParameters = ParametersOf<typeof parameters>;

/** Returns whether codes of this size are too few to be divided into train, eval and bench splits. */
export function isSmall({ colours, secret }: MastermindInstance): boolean {
  return colours ** secret.length < SMALL;
}

function levelOf(name: string, places: number, colours: number): Level<MastermindParameters> {
  const description = `${places} places, ${colours} colours`;
  return { name, description, parameters: { places, colours }, small: colours ** places < SMALL };
}

export const generator = defineGenerator({
  parameters,
  levels: [levelOf("easy", 3, 4), levelOf("medium", 4, 4), levelOf("hard", 3, 6), levelOf("classic", 4, 6)],
  generate({ places, colours }: MastermindParameters, rng: Rng): MastermindInstance {
    return { colours, secret: Array.from({ length: places }, () => rng.int(1, colours)) };
  },
});
