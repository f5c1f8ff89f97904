/** The one place where neighbourhoods are registered, by environment. */
import type { Graph } from "../../../../envs/lib/graph.ts";
import type { Rng } from "../../../../envs/lib/rng.ts";
import type { KnapsackInstance } from "../../../../envs/np/knapsack/generate.ts";
import type { SetCoverInstance } from "../../../../envs/np/set-cover/generate.ts";
import type { SubsetSumInstance } from "../../../../envs/np/subset-sum/generate.ts";
import { choices, exchangeEqualSums } from "./choices.ts";
import type { Neighbourhood } from "./neighbourhood.ts";
import { colorings, sides } from "./partitions.ts";
import { schedules } from "./schedules.ts";
import { cycles, tours } from "./tours.ts";

const vertexSets = choices<Graph>(
  ({ vertices }) => vertices,
  ({ vertices }, rng: Rng) => [rng.int(0, vertices - 1)],
);

export const neighbourhoods: Readonly<Record<string, Neighbourhood>> = {
  "np/bisection": sides,
  "np/clique": vertexSets,
  "np/coloring": colorings,
  "np/hamiltonian": cycles,
  "np/independent-set": vertexSets,
  "np/knapsack": choices<KnapsackInstance>(
    ({ weights }) => weights.length,
    () => [],
  ),
  "np/meetings": schedules,
  "np/set-cover": choices<SetCoverInstance>(
    ({ subsets }) => subsets.rows,
    ({ subsets }) => [...Array(subsets.rows).keys()],
  ),
  "np/subset-sum": choices<SubsetSumInstance>(
    ({ numbers }) => numbers.length,
    ({ planted }) => planted,
    ({ numbers }, list, rng) => exchangeEqualSums(numbers, list, rng),
  ),
  "np/tsp": tours,
};
