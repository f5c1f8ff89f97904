/** Generates random subsets that together cover the universe (FORGE A.5.1), so that no task is impossible. */
import { defineGenerator } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import { bitMatrix, type BitMatrix, hasBit, onesOf, setBit } from "../../lib/bit-matrix.ts";
import { inlineBits } from "../../lib/encode-bits.ts";
import { refine } from "../../lib/structure-hash.ts";
import { sample } from "../../lib/rng.ts";
import { defineParameters, laterSwitch, minMax, type Range, ranges, share, sizeAxis } from "../../parameters.ts";

export interface SetCoverInstance {
  /**
   * Matrix with one row for each subset and one column for each element of the universe. Every element is in at least
   * one subset.
   */
  readonly subsets: BitMatrix;
}

/** Returns a text that is equal for instances that differ only in the numbering of subsets or elements. */
export function invariant({ subsets }: SetCoverInstance): string {
  const { rows, columns } = subsets;
  const colours = Array.from({ length: rows + columns }, (_, node) => (node < rows ? 0 : 1));
  const edges: number[] = [];
  for (let row = 0; row < rows; row++) for (const column of onesOf(subsets, row)) edges.push(row, rows + column, 1);
  return `${rows} ${columns} ${refine({ colours, edges })}`;
}

export const inline: InlineCodec<SetCoverInstance> = {
  encode: ({ subsets }) => inlineBits.encode(subsets),
  decode: (bytes) => ({ subsets: inlineBits.decode(bytes) }),
};

const COUNT = { min: 1, max: 70, integer: true };

const parameters = defineParameters({
  ...minMax("elements", ["Fewest elements of the universe.", "Most elements of the universe."], [10, 20], COUNT),
  ...minMax("subsets", ["Fewest subsets.", "Most subsets."], [5, 10], COUNT),
  subset_size_factor: share(
    "Size of the largest random subset, as a share of the universe; the smallest is half as large. Each element that is in no subset is then added to a random one.",
    0.4,
  ),
  reference: laterSwitch("1: subsets as the papers' public code makes them: the smallest have one element."),
});

function level(name: string, elements: Range, subsets: Range) {
  return {
    name,
    description: `${elements.join(" to ")} elements, ${subsets.join(" to ")} subsets, subset size factor 0.4`,
    parameters: { ...ranges({ elements, subsets }), subset_size_factor: 0.4 },
  };
}

export const generator = defineGenerator({
  parameters,
  axes: [
    sizeAxis("elements", [6, 70], (elements) =>
      ranges({ subsets: [Math.ceil(elements / 2), Math.ceil(elements / 2)] }),
    ),
  ],
  // Levels of the FORGE paper, section A.5.1, and `reference` from its public code.
  levels: [
    level("easy", [10, 20], [5, 10]),
    level("medium", [20, 25], [10, 15]),
    level("hard", [25, 30], [15, 25]),
    level("benchmark", [30, 40], [20, 30]),
    {
      name: "reference",
      description:
        "as the papers' public code makes its benchmark: 30 to 40 elements, 20 to 30 subsets of 1 to 0.4 of the elements",
      parameters: { ...ranges({ elements: [30, 40], subsets: [20, 30] }), subset_size_factor: 0.4, reference: 1 },
      byName: true,
    },
  ],
  generate(p, rng): SetCoverInstance {
    const elements = rng.int(p.elements_min, p.elements_max);
    const subsets = bitMatrix(rng.int(p.subsets_min, p.subsets_max), elements);
    const sizeMax = Math.max(1, Math.floor(p.subset_size_factor * elements));
    const sizeMin = p.reference === 1 ? 1 : Math.ceil(sizeMax / 2);
    for (let subset = 0; subset < subsets.rows; subset++) {
      const size = rng.int(sizeMin, sizeMax);
      for (const element of sample(elements, size, rng)) setBit(subsets, subset, element);
    }
    for (let element = 0; element < elements; element++) {
      if (!isCovered(subsets, element)) setBit(subsets, rng.int(0, subsets.rows - 1), element);
    }
    return { subsets };
  },
});

function isCovered(subsets: BitMatrix, element: number): boolean {
  for (let subset = 0; subset < subsets.rows; subset++) if (hasBit(subsets, subset, element)) return true;
  return false;
}
