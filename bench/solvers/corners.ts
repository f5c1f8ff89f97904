/**
 * Where the declared ranges of parameters end: every combination of the extremes that a generator accepts together, and
 * between them what is known to be hard (middling densities, values that depend on weights).
 */
import type { Environment, Parameters } from "../../envs/environment.ts";
import { resolveParameters } from "../../envs/parameters.ts";

export interface Corner {
  readonly name: string;
  /** Complete. */
  readonly parameters: Parameters;
}

/** One value, or both ends of a range; "max": the largest that is declared. */
type Value = number | "max" | readonly [min: number | "max", max: number | "max"];
/** By parameter, where `x` stands for `x_min` and `x_max`; each combination of the values is a corner. */
type Grid = Readonly<Record<string, readonly Value[]>>;

const DENSITIES = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1];

const grids: Readonly<Record<string, readonly Grid[]>> = {
  "np/clique": [{ vertices: ["max"], clique: [1, 12, "max"], density: DENSITIES }],
  "np/independent-set": [{ vertices: ["max"], set: [1, 40, "max"], density: DENSITIES }],
  "np/coloring": [{ vertices: ["max"], colors: [2, 4, 8, 16, 32, 64, "max"], density: DENSITIES }],
  "np/set-cover": [
    { elements: [1, 50, "max"], subsets: [1, 50, "max"], subset_size_factor: [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1] },
  ],
  "np/bisection": [
    {
      vertices: ["max"],
      communities: [1, 2, 5, "max"],
      density: [0, 0.1, 0.5, 1],
      noise: [0, 0.02, 0.1, 0.5, 1],
      traitors: [0, 0.3, 1],
      reinforcement: [1, "max"],
      weight: [1, [1, 10], [1, "max"], "max"],
    },
  ],
  "np/hamiltonian": [
    {
      vertices: ["max"],
      density: [0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3, 1],
      separators: [0, 1, 10, "max"],
      surplus: [0, 4, "max"],
      part_max: [1, 2, "max"],
    },
  ],
  "np/knapsack": [
    {
      items: ["max"],
      planted: [1, 20, 250, "max"],
      weight: [[1, "max"], [90_000, "max"], "max", [1, 10], 1],
      ratio: [1, [0.9, 1.1], [0.01, 100], 100],
      factor: [1, [1, 1.1]],
    },
  ],
  "np/subset-sum": [
    {
      numbers: ["max"],
      planted: [1, 2, 10, 50, 250, 400, "max"],
      value: [1, [1, 2], [1, 100], [1, "max"], [50_000, "max"], [50_000, 50_300], [90_000, "max"], [99_990, "max"], "max"],
    },
  ],
  "np/meetings": [
    {
      meetings: ["max"],
      attendees: [10, "max"],
      rooms: [1, 5, "max"],
      large_rooms_max: [1, "max"],
      size_max: [2, 6, "max"],
      quarters: [1, [1, 4], [3, 8], [1, "max"], "max"],
      breaks: [0, [0, 2], "max"],
    },
  ],
  "np/tsp": [
    {
      cities: ["max"],
      distance: [0, [0, 1], [1, 2], [1, 10], [1, 100], [1, 1000], [0, "max"], [999_900, "max"], [500_000, "max"]],
    },
  ],
};

/** The corners of an environment's declared ranges. */
export function cornersOf(environment: Environment): readonly Corner[] {
  return (grids[environment.id] ?? []).flatMap((grid) => expand(environment, grid));
}

function expand(environment: Environment, grid: Grid): readonly Corner[] {
  let partial: readonly { readonly names: readonly string[]; readonly own: Parameters }[] = [{ names: [], own: {} }];
  for (const [name, values] of Object.entries(grid)) {
    partial = partial.flatMap(({ names, own }) =>
      values.map((value) => {
        const [min, max] = (typeof value === "object" ? value : [value, value]).map((end) => end === "max" ? maxOf(environment, name) : end);
        const range = min === max ? `${min}` : `${min}–${max}`;
        const set = environment.parameters.some((p) => p.name === name) ? {[name]: max} : {[`${name}_min`]: min, [`${name}_max`]: max};
        return { names: [...names, `${name} ${range}`], own: { ...own, ...set } as Parameters };
      }),
    );
  }
  return partial.flatMap(({ names, own }) => {
    const filled = resolveParameters(environment, own);
    if (filled.kind === "invalid") { console.error(filled.message); return []; }
    return [{ name: names.join(", "), parameters: filled.parameters }];
  });
}

function maxOf({ parameters }: Environment, name: string): number {
  const found = parameters.find((p) => p.name === name || p.name === `${name}_max`);
  if (found === undefined) throw new Error(`no parameter ${name}`);
  return found.max;
}
