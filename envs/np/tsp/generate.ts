/** Distances drawn evenly from a range, as the papers do (FORGE A.5.7): no triangle inequality, no plane. */
import type { Generator, Level, ParameterInfo } from "../../environment.ts";
import { refine } from "../../lib/refinement.ts";

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

// The generator's parameters, and the papers' levels (FORGE A.5.7).

const CITIES = { min: 3, max: 200, integer: true } as const;
const DISTANCE = { min: 0, max: 1_000_000, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "cities_min", description: "Fewest cities.", defaultValue: 10, ...CITIES },
  { name: "cities_max", description: "Most cities.", defaultValue: 20, ...CITIES },
  { name: "distance_min", description: "Shortest distance that can be drawn.", defaultValue: 1, ...DISTANCE },
  { name: "distance_max", description: "Longest distance that can be drawn.", defaultValue: 100, ...DISTANCE },
];

function level(name: string, citiesMin: number, citiesMax: number): Level {
  return {
    name,
    description: `${citiesMin} to ${citiesMax} cities, distances from 1 to 100`,
    parameters: { cities_min: citiesMin, cities_max: citiesMax, distance_min: 1, distance_max: 100 },
  };
}

export const levels: readonly Level[] = [
  level("easy", 10, 20),
  level("medium", 20, 30),
  level("hard", 35, 45),
  level("benchmark", 45, 55),
];

// What a TSP task is.

/** Cities 0 … cities − 1 and the distances between them, the same both ways. */
export interface TspInstance {
  readonly cities: number;
  /** The matrix above its diagonal, row by row: 0 to 1, 0 to 2, …, 1 to 2, … */
  readonly distances: Int32Array;
}

/** Where row `from` would start in distances if it began with city 0: the distance to city j > from is j further. */
export function rowStart(cities: number, from: number): number {
  return (from * (2 * cities - from - 3)) / 2 - 1;
}

/** The distance between two different cities. */
export function distanceBetween({ cities, distances }: TspInstance, a: number, b: number): number {
  return distances[a < b ? rowStart(cities, a) + b : rowStart(cities, b) + a] as number;
}

/** The same where the cities are numbered in another way. */
export function invariant({ cities, distances }: TspInstance): string {
  const edges: number[] = [];
  for (let a = 0, at = 0; a < cities; a++) {
    for (let b = a + 1; b < cities; b++, at++) edges.push(a, b, distances[at] as number);
  }
  return `${cities} ${refine({ colours: new Array<number>(cities).fill(0), edges })}`;
}

/** The length of the closed tour that visits these cities in this order. */
export function tourLength(instance: TspInstance, tour: readonly number[]): number {
  let length = 0;
  let from = tour.at(-1) as number;
  for (const to of tour) {
    length += distanceBetween(instance, from, to);
    from = to;
  }
  return length;
}
