/** The exact solver, in the environment's words. */
import type { Solver } from "../../environment.ts";
import { distanceBetween, tourLength } from "./instance.ts";
import type { TspInstance } from "./instance.ts";
import type { Tour } from "./parse.ts";
import { solveTsp } from "./solve/index.ts";

export const solver: Solver<TspInstance, Tour> = {
  solve(instance, nodesMax) {
    const { tour, ...rest } = solveTsp(matrixOf(instance), nodesMax === undefined ? {} : { nodesMax });
    return { answer: tour, ...rest };
  },
  /** The cities in the order of their numbers. */
  trivial: (instance) => tourLength(instance, citiesOf(instance)),
};

function citiesOf({ cities }: TspInstance): readonly number[] {
  return Array.from({ length: cities }, (_, city) => city);
}

function matrixOf(instance: TspInstance): readonly (readonly number[])[] {
  const cities = citiesOf(instance);
  return cities.map((a) => cities.map((b) => (a === b ? 0 : distanceBetween(instance, a, b))));
}
