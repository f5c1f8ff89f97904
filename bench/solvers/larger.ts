/** Sizes beyond the benchmark level, by environment: what differs from that level's parameters. */
import type { Parameters } from "../../envs/environment.ts";

type Larger = Readonly<Record<string, Parameters>>;

function exactly(name: string, value: number): Parameters {
  return { [`${name}_min`]: value, [`${name}_max`]: value };
}

function vertices(counts: readonly number[], rest: (count: number) => Parameters): Larger {
  return Object.fromEntries(counts.map((n) => [`${n} vertices`, { ...exactly("vertices", n), ...rest(n) }]));
}

export const larger: Readonly<Record<string, Larger>> = {
  "np/clique": {
    ...vertices([50, 100, 200], () => ({ clique_min: 4, clique_max: 12 })),
    "100, density 0.8": { ...exactly("vertices", 100), density: 0.8 },
    "200, density 0.8": { ...exactly("vertices", 200), density: 0.8 },
  },
  "np/independent-set": vertices([60, 80, 100, 150, 200], (n) => exactly("set", Math.round(0.4 * n))),
  "np/coloring": {
    ...vertices([60, 80, 100, 200], () => ({})),
    "100, 12 colours": { ...exactly("vertices", 100), ...exactly("colors", 12) },
    "100, 16 colours": { ...exactly("vertices", 100), ...exactly("colors", 16) },
    "200, 20 colours": { ...exactly("vertices", 200), ...exactly("colors", 20) },
  },
  "np/set-cover": Object.fromEntries(
    [50, 75, 100, 150, 200].flatMap((n) =>
      [0.4, 0.1].map((factor) => [
        `${n} by ${n}, factor ${factor}`,
        { ...exactly("elements", n), ...exactly("subsets", n), subset_size_factor: factor },
      ]),
    ),
  ),
  "np/bisection": vertices([60, 70, 80, 100, 150], () => ({})),
  "np/hamiltonian": {
    ...vertices([60, 80, 120], () => ({})),
    ...Object.fromEntries(
      [40, 60, 80].map((n) => [
        `${n}, three edges each`,
        { ...exactly("vertices", n), ...exactly("separators", 0), density: 3 / n },
      ]),
    ),
  },
  "np/knapsack": {
    ...Object.fromEntries(
      [200, 500].map((n) => [`${n} items`, { ...exactly("items", n), ...exactly("planted", n / 2) }]),
    ),
    "500, weights to 100,000": { ...exactly("items", 500), ...exactly("planted", 250), weight_max: 100_000 },
    "500, values as weights": {
      ...exactly("items", 500),
      ...exactly("planted", 250),
      weight_max: 100_000,
      ...exactly("ratio", 1),
    },
  },
  "np/subset-sum": Object.fromEntries(
    [50, 200, 500].flatMap((n) =>
      [1000, 10_000, 100_000].map((valueMax) => [
        `${n} numbers to ${valueMax}`,
        { ...exactly("numbers", n), ...exactly("planted", n / 2), value_max: valueMax },
      ]),
    ),
  ),
  "np/meetings": Object.fromEntries(
    [12, 15, 20, 30, 40].map((n) => [`${n} meetings`, { ...exactly("meetings", n), ...exactly("attendees", n) }]),
  ),
  "np/tsp": Object.fromEntries([60, 80, 100, 150, 200].map((n) => [`${n} cities`, exactly("cities", n)])),
};
