/**
 * Generates random distances, uniform in a range, as the papers do (FORGE A.5.7). They need not satisfy the triangle
 * inequality.
 */
import { defineGenerator } from "../../define.ts";
import { defineParameters, minMax, type Range, ranges, sizeAxis } from "../../parameters.ts";
import { refine } from "../../lib/structure-hash.ts";

/** Task: visit cities 0 to cities − 1 on a shortest closed tour, with symmetric distances. */
export interface TspInstance {
  readonly cities: number;
  /** Upper triangle of the distance matrix, row by row: 0 to 1, 0 to 2 and so on, then 1 to 2 and so on. */
  readonly distances: Int32Array;
}

/**
 * Returns the offset of a row in `distances`. The distance from city `from` to a city j > from is at this offset plus
 * j.
 */
export function rowStart(cities: number, from: number): number {
  return (from * (2 * cities - from - 3)) / 2 - 1;
}

/** Returns the distance between two different cities. */
export function distanceBetween({ cities, distances }: TspInstance, a: number, b: number): number {
  return distances[a < b ? rowStart(cities, a) + b : rowStart(cities, b) + a] as number;
}

/** Returns a text that is equal for instances that differ only in the numbering of the cities. */
export function invariant({ cities, distances }: TspInstance): string {
  const edges: number[] = [];
  for (let a = 0, at = 0; a < cities; a++) {
    for (let b = a + 1; b < cities; b++, at++) edges.push(a, b, distances[at] as number);
  }
  return `${cities} ${refine({ colours: new Array<number>(cities).fill(0), edges })}`;
}

/** Returns the length of the closed tour that visits these cities in this order. */
export function tourLength(instance: TspInstance, tour: readonly number[]): number {
  let length = 0;
  let from = tour.at(-1) as number;
  for (const to of tour) {
    length += distanceBetween(instance, from, to);
    from = to;
  }
  return length;
}

const parameters = defineParameters({
  ...minMax("cities", ["Fewest cities.", "Most cities."], [10, 20], { min: 3, max: 200, integer: true }),
  ...minMax(
    "distance",
    ["Shortest distance that two cities may have.", "Longest distance that two cities may have."],
    [1, 100],
    { min: 0, max: 1_000_000, integer: true },
  ),
});

function level(name: string, cities: Range) {
  return {
    name,
    description: `${cities.join(" to ")} cities, distances from 1 to 100`,
    parameters: ranges({ cities, distance: [1, 100] }),
  };
}

/** Level "reference", as in the papers' public code (OliverLeeXZ/NP-Engine, NP_tasks/TSP). */
const REFERENCE = {
  name: "reference",
  description: "as the papers' public code makes its benchmark: 45 to 55 cities, distances from 10 to 100",
  parameters: ranges({ cities: [45, 55], distance: [10, 100] }),
  byName: true,
};

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("cities", [4, 200])],
  // Levels of the FORGE paper, section A.5.7, and `reference` from its public code.
  levels: [
    level("easy", [10, 20]),
    level("medium", [20, 30]),
    level("hard", [35, 45]),
    level("benchmark", [45, 55]),
    REFERENCE,
  ],
  generate({ cities_min, cities_max, distance_min, distance_max }, rng): TspInstance {
    const cities = rng.int(cities_min, cities_max);
    const distances = new Int32Array((cities * (cities - 1)) / 2);
    for (let i = 0; i < distances.length; i++) distances[i] = rng.int(distance_min, distance_max);
    return { cities, distances };
  },
});
