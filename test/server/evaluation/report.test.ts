import { describe, expect, test } from "vitest";
import { reportOf, type SampleFacts, type ScoredTask } from "../../../server/evaluation/report.ts";
import { openSuite, type SuiteDefinition } from "../../../server/evaluation/open-suite.ts";
import { registry } from "../../support/registry.ts";

const definition: SuiteDefinition = {
  id: "s",
  version: 1,
  description: "",
  overall: "categories",
  parts: [
    { name: "a", category: "one", tasks: 2 },
    { name: "b", category: "one", tasks: 2 },
    { name: "c", category: "two", tasks: 2 },
  ].map((part) => ({ ...part, environment: "np/tsp", version: 2, level: "easy", split: "bench" as const })),
};
const result = openSuite(registry, definition);
if (result.kind !== "open") throw new Error(result.message);
const { suite } = result;
const counts = new Map([["one", 4], ["two", 2]]); // prettier-ignore

const feasible = (ratio: number, proven = true): SampleFacts => ({
  verdict: "feasible",
  solved: ratio === 1,
  verified: ratio === 1,
  ratio,
  reward: 1 + ratio,
  truncated: false,
  proven,
});
const infeasible: SampleFacts = { ...feasible(0), verdict: "infeasible", reward: -0.5 };
const task = (ordinal: number, ...samples: SampleFacts[]): ScoredTask => ({
  ordinal,
  samples,
  category: ordinal < 4 ? "one" : "two",
  inEverySplit: ordinal === 0,
});

test("overall is the unweighted mean of the categories, and a category the mean of its tasks", () => {
  const tasks = [
    task(0, feasible(1)),
    task(1, infeasible),
    task(2, feasible(1)),
    task(3, feasible(1)),
    task(4, infeasible),
  ];
  const report = reportOf(suite, 1, [...tasks, task(5, infeasible)], counts);
  const rates = (rows: typeof report.parts) => rows.map(({ name, figures }) => [name, figures["success_rate"]]);
  expect(rates(report.parts)).toEqual([["a", 0.5], ["b", 1], ["c", 0]]); // prettier-ignore
  expect(rates(report.categories)).toEqual([["one", 0.75], ["two", 0]]); // prettier-ignore
  expect(report.overall.figures["success_rate"]).toBe(0.375);
  expect(rates(report.environments)).toEqual([["np/tsp", 0.5]]);
  const byTask = reportOf({ ...suite, definition: { ...definition, overall: "tasks" } }, 1, tasks, counts);
  expect(byTask.overall.figures["success_rate"]).toBeCloseTo(3 / 5);
});

test("a task counts once, however many samples it has", () => {
  const report = reportOf(suite, 3, [task(0, feasible(1), feasible(1), feasible(1)), task(1, infeasible)], counts);
  expect(report.overall).toMatchObject({ samples: 4, samplesExpected: 18, tasks: 2 });
  expect(report.parts[0]?.figures["success_rate"]).toBe(0.5);
  expect(report.parts[1]).toEqual({
    name: "b",
    samples: 0,
    samplesWithoutReward: 0,
    tasksLeftOut: {},
    tasksInEverySplit: 0,
    samplesExpected: 6,
    tasks: 0,
    figures: {},
    standardErrors: {},
  });
});

test("categories without samples do not count as zero", () => {
  const report = reportOf(suite, 1, [task(0, feasible(0.5))], counts);
  expect(report.overall.figures["quality_ratio"]).toBe(0.5);
});

test("says what the ratios are against", () => {
  const said = (...tasks: ScoredTask[]): string => reportOf(suite, 1, tasks, counts).baseline;
  expect(said(task(0, feasible(1)), task(1, infeasible))).toContain("proven optima of all 2 tasks: not comparable");
  expect(said(task(0, feasible(1)), task(1, feasible(1, false)))).toContain(
    "proven optima of 1 tasks, and best known values with certified bounds of 1: not comparable",
  );
  expect(said()).toBe("There are no samples yet.");
  expect(said(task(0, { ...infeasible, verdict: "none", proven: undefined } as never))).toContain("No baseline");
});

describe("samples without a reward", () => {
  const none: SampleFacts = { ...infeasible, verdict: "none", reward: 0 };
  const many = (count: number, sample: SampleFacts) => Array.from({ length: count }, () => sample);

  test("are counted beside the figures, and leave a task out where it has no others", () => {
    const { overall, parts } = reportOf(suite, 2, [task(0, feasible(1), none), task(1, none, none)], counts);
    expect(overall).toMatchObject({ samples: 4, samplesWithoutReward: 3, tasks: 2, tasksLeftOut: { mean_reward: 1 } });
    expect(overall.figures).toMatchObject({ success_rate: 1, mean_reward: 2, no_reward_rate: 0.75 });
    expect(parts[0]).toMatchObject({ samplesWithoutReward: 3, tasksLeftOut: { mean_reward: 1 } });
  });

  test("a category that has no others is left out of the mean of the categories, and of its error", () => {
    const scored = [task(0, feasible(1)), task(1, infeasible)];
    const alone = reportOf(suite, 1, scored, counts).overall;
    const { overall } = reportOf(suite, 1, [task(4, none), ...scored, task(5, none)], counts);
    expect(overall.figures["success_rate"]).toBe(0.5);
    expect(overall.standardErrors["success_rate"]).toBe(alone.standardErrors["success_rate"]);
  });

  test("warn from above 1% of the samples on", () => {
    const said = (missing: number, all = 200) =>
      reportOf(suite, all, [task(0, ...many(all - missing, feasible(1)), ...many(missing, none))], counts).warnings;
    expect([said(0), said(2)]).toEqual([[], []]);
    expect(said(3)).toEqual([expect.stringContaining("3 of 200 samples (1.5%) have no reward")]);
    expect(said(200)).toEqual([expect.stringContaining("200 of 200 samples (100.0%) have no reward")]);
    expect(reportOf(suite, 1, [], counts).warnings).toEqual([]);
  });

  test("count the tasks that pass@k leaves out", () => {
    const parts = [{ ...definition.parts[0], name: "c", environment: "countdown", version: 1, level: "T0", tasks: 3 }];
    const opened = openSuite(registry, { ...definition, parts } as SuiteDefinition);
    if (opened.kind !== "open") throw new Error(opened.message);
    const right = { ...feasible(1), reward: 1 };
    const tasks = [
      task(0, right, right, infeasible, infeasible),
      task(1, right, none, none, none),
      task(2, ...many(4, none)),
    ];
    const { overall } = reportOf(opened.suite, 4, tasks, new Map([["one", 3]]));
    expect(overall.tasksLeftOut).toEqual({ mean_reward: 1, "pass@1": 1, "pass@2": 2, "pass@4": 2 });
    expect(overall.figures).toMatchObject({ "pass@1": 0.75, "pass@4": 1, exact_rate: 0.75 });
  });
});
