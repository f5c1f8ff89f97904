/** Random subsets (FORGE A.5.1) that cover the universe together: no task is impossible. */
import type { Generator } from "../../environment.ts";
import { bitMatrix, hasBit, setBit } from "../../lib/bit-matrix.ts";
import type { BitMatrix } from "../../lib/bit-matrix.ts";
import { sample } from "../../lib/sample.ts";
import type { SetCoverInstance } from "./instance.ts";

export const generator: Generator<SetCoverInstance> = {
  draw(parameters, rng) {
    const p = parameters as Readonly<Record<Name, number>>;
    const elements = rng.int(p.elements_min, p.elements_max);
    const subsets = bitMatrix(rng.int(p.subsets_min, p.subsets_max), elements);
    const sizeMax = Math.max(1, Math.floor(p.subset_size_factor * elements));
    for (let subset = 0; subset < subsets.rows; subset++) {
      const size = rng.int(Math.ceil(sizeMax / 2), sizeMax);
      for (const element of sample(elements, size, rng)) setBit(subsets, subset, element);
    }
    for (let element = 0; element < elements; element++) {
      if (!isCovered(subsets, element)) setBit(subsets, rng.int(0, subsets.rows - 1), element);
    }
    return { subsets };
  },
};

type Name = "elements_min" | "elements_max" | "subsets_min" | "subsets_max" | "subset_size_factor";

function isCovered(subsets: BitMatrix, element: number): boolean {
  for (let subset = 0; subset < subsets.rows; subset++) if (hasBit(subsets, subset, element)) return true;
  return false;
}
