/** Numbers drawn evenly; the target sums up some of them (FORGE A.5.2), at least two fewer than there are. */
import type { Generator } from "../../environment.ts";
import { sample } from "../../lib/sample.ts";
import type { SubsetSumInstance } from "./instance.ts";
import { sumOf } from "./instance.ts";

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
