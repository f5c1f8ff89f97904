/** Suites that ship with the server, as data. A released suite must not change without a new version. */
import type { Split } from "../../envs/environment.ts";
import type { Category, SuiteDefinition, SuitePart } from "./open-suite.ts";

/** Names of the ten environments with NP-hard problems, by category (FORGE table 2, NP-ENGINE section 3.3). */
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
    name: `countdown ${level}`,
    environment: "countdown",
    version: 1,
    level,
    split: "bench",
    tasks: 100,
    category: { countOf: "numbers" },
    ...(rewardScheme !== undefined && { rewardScheme }),
  }));
}

/**
 * Returns parts of a suite with those rows of a shipped pool that no run trains on (splits eval and bench). These are
 * few rows, enough to try an evaluation. Suite files can use pools of any size.
 */
function heldOut(environment: string, levels: readonly string[], category: Category): readonly SuitePart[] {
  return levels.flatMap((level) =>
    (["eval", "bench"] as const).map((split) => ({
      name: `${environment} ${level} ${split}`,
      environment,
      version: 1,
      level,
      split,
      ...({ tasks: "all", pool: "", category } as const),
    })),
  );
}

const DIFFICULTIES = ["easy", "middle", "hard", "unrated"];

/** Suites for the four domains of the paper Omni-Thinker (5.3): math, code, question answering and writing. */
const domains: readonly SuiteDefinition[] = [
  {
    id: "math",
    version: 1,
    description: "Math problems of our own, held out: accuracy by kind of problem.",
    overall: "tasks",
    parts: heldOut("math", ["1", "2", "3", "4", "5", "all"], { metadata: "problem_type" }),
  },
  {
    id: "code",
    version: 1,
    description: "Programming problems of our own, held out: pass@k by difficulty.",
    overall: "tasks",
    parts: heldOut("code", ["easy", "medium", "hard", "unrated"], { metadata: "level" }),
  },
  {
    id: "qa",
    version: 1,
    description: "Questions of our own, held out, answered by text: accuracy by discipline.",
    overall: "tasks",
    parts: heldOut("qa", DIFFICULTIES, { metadata: "category" }),
  },
  {
    id: "qa-crossed",
    version: 1,
    description: "The same questions answered by text and by letter: accuracy by what is asked for (Omni-Thinker 6.3).",
    overall: "categories",
    parts: [...heldOut("qa", DIFFICULTIES, "text"), ...heldOut("qa/letter", DIFFICULTIES, "letter")],
  },
  {
    id: "writing",
    version: 1,
    description: "Requests of our own, held out, compared with a reference by the judge: mean_score is the win rate.",
    overall: "tasks",
    parts: heldOut("writing", ["all"], "writing"),
  },
];

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
    id: "np-bench-reference",
    version: 1,
    description:
      "The ten problems as the papers' public code makes its benchmark, 100 tasks of each; beside the ratio to the optimum the one to a heuristic.",
    overall: "categories",
    heuristic: true,
    parts: tenAt(["reference"], 100, "bench"),
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
  ...domains,
];
