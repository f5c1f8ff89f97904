/**
 * Corners of the declared ranges of parameters: each environment's largest sizes, with extreme shapes and the shapes
 * between them that are known to be hard. Shapes with only one instance are left out: a split may lack it, and a run of
 * it is refused when it is created.
 */
import type { Environment, Parameters } from "../../../envs/environment.ts";
import { resolveParameters } from "../../../envs/parameters.ts";

export interface Corner {
  /** E.g. "clique 1, density 0.9". */
  readonly name: string;
  /** Complete. */
  readonly parameters: Parameters;
}

type End = number | "max";
/** Value of a parameter's `_min` and `_max`: one for both, or a pair. "max" is the largest declared value. */
type Value = End | readonly [min: End, max: End];
/** Values by parameter, where `x` stands for `x_min` and `x_max`; each combination of the values is a corner. */
type Grid = Readonly<Record<string, readonly Value[]>>;

const grids: Readonly<Record<string, readonly Grid[]>> = {
  "np/clique": [
    { vertices: ["max"], clique: [1, 30], density: [0.02, 0.5, 0.8, 0.9, 0.95, 0.98] },
    { vertices: ["max"], clique: ["max"], density: [0.5] },
  ],
  "np/independent-set": [{ vertices: ["max"], set: [1, 40], density: [0.02, 0.05, 0.1, 0.2, 0.5, 0.98] }],
  "np/coloring": [{ vertices: ["max"], colors: [2, 6, 8, 10, 12, 16, 40], density: [0.3, 0.5, 0.7] }],
  "np/set-cover": [
    { elements: ["max"], subsets: ["max"], subset_size_factor: [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.7] },
    { elements: ["max"], subsets: [30], subset_size_factor: [0.05, 0.1, 0.2, 0.4] },
    { elements: [30], subsets: ["max"], subset_size_factor: [0.05, 0.1, 0.2, 0.4] },
  ],
  "np/bisection": [
    {
      vertices: ["max"],
      communities: [3],
      density: ["max"],
      noise: [0, 0.05],
      reinforcement: [1],
      weight: [1, [1, "max"]],
    },
    {
      vertices: ["max"],
      communities: [1],
      density: [0.05, 0.2, 0.5, "max"],
      noise: [0],
      reinforcement: [1],
      weight: [1, [1, "max"]],
    },
    {
      vertices: ["max"],
      communities: [2, "max"],
      density: [0.1, 0.6],
      noise: [0.2],
      traitors: [0.3],
      reinforcement: [3, "max"],
      weight: [[1, 10]],
    },
  ],
  "np/hamiltonian": [
    { vertices: ["max"], separators: [0], density: [0.02, 0.03, 0.045, 0.06, 0.1, 0.5] },
    { vertices: ["max"], separators: [6, "max"], surplus: [0, 4], part_max: [1, 2], density: [0.06, 0.1, 0.5] },
    { vertices: ["max"], separators: [6, "max"], surplus: ["max"], part_max: [1], density: [0.06, 0.1] },
  ],
  "np/knapsack": [
    {
      items: ["max"],
      planted: [1, 250, "max"],
      weight: [
        [1, "max"],
        [90_000, "max"],
        [1, 10],
      ],
      ratio: [1, [0.9, 1.1], [0.01, 100]],
      factor: [1],
    },
  ],
  "np/subset-sum": [
    {
      numbers: ["max"],
      planted: [1, 10, 50, 250, 400, "max"],
      value: [
        [1, 100],
        [1, "max"],
        [50_000, "max"],
        [90_000, "max"],
      ],
    },
  ],
  "np/meetings": [
    {
      meetings: ["max"],
      attendees: [10, "max"],
      rooms: [5, "max"],
      large_rooms_max: [1, "max"],
      size_max: ["max"],
      quarters: [[3, 8]],
      breaks: [0, 1],
    },
    {
      meetings: ["max"],
      attendees: ["max"],
      rooms: [1, "max"],
      large_rooms_max: [1],
      size_max: [2, 5],
      quarters: [
        [1, 4],
        [1, "max"],
      ],
      breaks: [0, "max"],
    },
  ],
  "np/tsp": [
    {
      cities: ["max"],
      distance: [
        [0, 1],
        [1, 10],
        [1, 100],
        [1, 1000],
        [0, "max"],
        [999_900, "max"],
      ],
    },
  ],
};

/** The corners of an environment's declared ranges; none for one that declares nothing to optimise. */
export function cornersOf(environment: Environment): readonly Corner[] {
  return (grids[environment.id] ?? []).flatMap((grid) => combinations(environment, grid));
}

function combinations(environment: Environment, grid: Grid): readonly Corner[] {
  const choices = Object.entries(grid).reduce<readonly Readonly<Record<string, Value>>[]>(
    (partial, [name, values]) => partial.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value }))),
    [{}],
  );
  const varies = (name: string): boolean => (grid[name]?.length ?? 0) > 1;
  return choices.map((chosen) => {
    const parameters = Object.entries(chosen).map(([name, value]) => parametersOf(environment, name, value));
    const filled = resolveParameters(environment, Object.assign({}, ...parameters) as Parameters);
    if (filled.kind === "invalid") throw new Error(`${environment.id}: ${filled.message}`);
    const names = Object.entries(chosen).filter(([name]) => varies(name));
    return { name: names.map(([name, value]) => `${name} ${textOf(value)}`).join(", "), parameters: filled.parameters };
  });
}

function textOf(value: Value): string {
  return typeof value === "object" ? value.join("–") : `${value}`;
}

function parametersOf({ id, generator }: Environment, name: string, value: Value): Parameters {
  const [least, most] = typeof value === "object" ? value : [value, value];
  const infos = (generator?.parameters ?? []).filter((info) =>
    [name, `${name}_min`, `${name}_max`].includes(info.name),
  );
  if (infos.length === 0) throw new Error(`${id} has no parameter '${name}'`);
  return Object.fromEntries(
    infos.map((info) => {
      const end = info.name === `${name}_min` ? least : most;
      return [info.name, end === "max" ? info.max : end];
    }),
  );
}
