/** The generator's parameters, and the papers' levels (FORGE A.5.7). */
import type { Level, ParameterInfo } from "../../environment.ts";

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
