/** Distances drawn evenly from a range, as the papers do (FORGE A.5.7): no triangle inequality, no plane. */
import type { Generator } from "../../environment.ts";
import type { TspInstance } from "./instance.ts";

export const generator: Generator<TspInstance> = {
  draw(parameters, rng) {
    const { cities_min, cities_max, distance_min, distance_max } = parameters as Readonly<Record<Name, number>>;
    const cities = rng.int(cities_min, cities_max);
    const distances = new Int32Array((cities * (cities - 1)) / 2);
    for (let i = 0; i < distances.length; i++) distances[i] = rng.int(distance_min, distance_max);
    return { cities, distances };
  },
};

type Name = "cities_min" | "cities_max" | "distance_min" | "distance_max";
