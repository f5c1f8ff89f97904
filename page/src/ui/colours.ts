/** The colours of a chart's lines: hue by environment, as in the charts of the command line. */
import { coloursOf } from "../../../cli/colours.ts";

/** One for each family; they follow the reader's light or dark ground. */
export function lineColours(families: readonly string[]): readonly string[] {
  return coloursOf(families).map(({ light, dark }) => `light-dark(${light}, ${dark})`);
}
