/** The suites that ship with the server. Data only: a change of one that was released needs a new version of it. */
import type { Split } from "../../envs/environment.ts";
import type { SuiteDefinition, SuitePart } from "./suite.ts";

/** The ten environments in their five categories (FORGE table 2, NP-ENGINE section 3.3). */
const tenByCategory: Readonly<Record<string, readonly string[]>> = {
  graph: ["np/clique", "np/independent-set", "np/coloring"],
  schedule: ["np/meetings"],
  partition: ["np/bisection"],
  selection: ["np/subset-sum", "np/set-cover", "np/knapsack"],
  planning: ["np/tsp", "np/hamiltonian"],
};

function tenAt(levels: readonly string[], tasks: number, split: Split): readonly SuitePart[] {
  return Object.entries(tenByCategory).flatMap(([category, environments]) =>
    environments.flatMap((environment) =>
      levels.map((level): SuitePart => {
        const name = levels.length === 1 ? environment : `${environment} ${level}`;
        return { name, environment, version: 2, level, split, tasks, category };
      }),
    ),
  );
}

function countdownTiers(rewardScheme?: string): readonly SuitePart[] {
  return ["T0", "T1", "T2", "T3", "OOD"].map((level) => ({
    ...{ name: `countdown ${level}`, environment: "countdown", version: 1, level, split: "bench", tasks: 100 },
    category: { countOf: "numbers" },
    ...(rewardScheme !== undefined && { rewardScheme }),
  }));
}

export const suiteDefinitions: readonly SuiteDefinition[] = [
  {
    id: "forge-bench",
    version: 2,
    description: "FORGE-BENCH (NP-BENCH): ten NP-hard problems at benchmark level, 100 tasks of each.",
    overall: "categories",
    parts: tenAt(["benchmark"], 100, "bench"),
  },
  {
    id: "forge-levels",
    version: 2,
    description: "The ten problems at each of their four levels, 50 tasks of each: what calibration starts from.",
    overall: "categories",
    parts: tenAt(["easy", "medium", "hard", "benchmark"], 50, "eval"),
  },
  {
    id: "forge-train",
    version: 2,
    description:
      "Training tasks of the ten problems, 400 at each of three levels: completions of them may be trained on.",
    overall: "categories",
    parts: tenAt(["easy", "medium", "hard"], 400, "train"),
  },
  {
    id: "countdown",
    version: 1,
    description: "Countdown, 100 tasks of each tier; figures by how many numbers a task gives.",
    overall: "tasks",
    parts: countdownTiers(),
  },
  {
    id: "countdown-vcc",
    version: 1,
    description:
      "Countdown for completions that go on past their first answer, 100 tasks of each tier: how many right answers are abandoned.",
    overall: "tasks",
    parts: countdownTiers("vcc"),
  },
];
