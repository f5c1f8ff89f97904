/** Weights and values per weight drawn evenly; the capacity is what some of the items weigh and a little more (FORGE A.5.3). */
import type { Generator } from "../../environment.ts";
import type { Rng } from "../../lib/rng.ts";
import { sample } from "../../lib/sample.ts";
import type { KnapsackInstance } from "./instance.ts";
import { total } from "./instance.ts";

export const generator: Generator<KnapsackInstance> = {
  draw(parameters, rng) {
    const own = parameters as Readonly<Record<Name, number>>;
    const count = rng.int(own.items_min, own.items_max);
    const weights = Int32Array.from({ length: count }, () => rng.int(own.weight_min, own.weight_max));
    const values = weights.map((weight) =>
      Math.max(1, Math.round(weight * between(rng, own.ratio_min, own.ratio_max))),
    );
    const planted = sample(count, rng.int(own.planted_min, own.planted_max), rng);
    const capacity = Math.floor(total(weights, planted) * between(rng, own.factor_min, own.factor_max));
    // Where everything fits, there is nothing to choose.
    return capacity < total(weights, [...weights.keys()]) ? { capacity, weights, values } : undefined;
  },
};

function between(rng: Rng, min: number, max: number): number {
  return min + (max - min) * rng.float();
}

type Name = `${"items" | "planted" | "weight" | "ratio" | "factor"}_${"min" | "max"}`;
