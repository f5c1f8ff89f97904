import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReportRow } from "../../../clients/ts/src/public.ts";
import type { Grading } from "../../../envs/environment.ts";
import { math } from "../../../envs/math/index.ts";
import type { MathInstance } from "../../../envs/math/instance.ts";
import { weighted } from "../../../envs/reward/weighted.ts";
import { type Score, score } from "../../../envs/score.ts";
import { columnsOf } from "../../../cli/evaluation/figures.ts";
import {
  factsOf,
  meanFigures,
  passAtK,
  passKs,
  type SampleFacts,
  taskFigures,
} from "../../../server/evaluation/report.ts";

const facts = (some: Partial<SampleFacts> = {}): SampleFacts => ({
  verdict: "feasible",
  solved: false,
  verified: false,
  ratio: 0,
  reward: 0,
  truncated: false,
  ...some,
});
const right = facts({ solved: true, verified: true, reward: 1 });
const wrong = facts({ verdict: "infeasible", reward: 0.1 });
const abandoned = facts({ verdict: "infeasible", verified: true, reward: 0.1 });
const unreadable = facts({ verdict: "malformed" });
const none = facts({ verdict: "none" });

/** Returns the share of all k-subsets of n samples with a right one, if the first c samples are right. */
function counted(n: number, c: number, k: number): number {
  let [hits, all] = [0, 0];
  for (let chosen = 0; chosen < 2 ** n; chosen++) {
    const members = Array.from({ length: n }, (_, i) => i).filter((i) => (chosen >> i) & 1);
    if (members.length !== k) continue;
    all++;
    if (members.some((i) => i < c)) hits++;
  }
  return hits / all;
}

describe("pass@k", () => {
  test("is what counting all subsets gives", () => {
    for (let n = 1; n <= 8; n++)
      for (let c = 0; c <= n; c++)
        for (let k = 1; k <= n; k++) expect(passAtK(n, c, k)).toBeCloseTo(counted(n, c, k), 12);
  });

  test("stays within [0, 1] and grows with k and c, for numbers whose binomials no double holds", () => {
    const numbers = fc
      .integer({ min: 1, max: 4096 })
      .chain((n) =>
        fc.record({ n: fc.constant(n), c: fc.integer({ min: 0, max: n }), k: fc.integer({ min: 1, max: n }) }),
      );
    fc.assert(
      fc.property(numbers, ({ n, c, k }) => {
        const value = passAtK(n, c, k);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        if (k < n) expect(passAtK(n, c, k + 1)).toBeGreaterThanOrEqual(value - 1e-9);
        if (c < n) expect(passAtK(n, c + 1, k)).toBeGreaterThanOrEqual(value - 1e-9);
      }),
    );
  });

  test("is shown for powers of two and for all samples", () => {
    expect(passKs(1)).toEqual([1]);
    expect(passKs(12)).toEqual([1, 2, 4, 8, 12]);
    expect(passKs(16)).toEqual([1, 2, 4, 8, 16]);
  });
});

test("answers that are right or not", () => {
  const figures = taskFigures("satisfy", [right, wrong, abandoned, unreadable], 4);
  expect(figures).toMatchObject({
    exact_rate: 0.25,
    mean_score: expect.closeTo(0.3) as number,
    "pass@1": 0.25,
    "pass@2": 0.5,
    "pass@4": 1,
    "pass@avg": (0.25 + 0.5 + 0.75 + 1) / 4,
    "nonzero_pass@n": 1,
    "first_verifying_pass@1": 0.5,
    infeasible_rate: 0.5,
    malformed_rate: 0.25,
    truncated_rate: 0,
    no_reward_rate: 0,
  });
  expect(figures).toMatchObject({ "first_verifying_pass@2": expect.closeTo(5 / 6) as number, abandonment_gap: 0.25 });
  expect(figures).not.toHaveProperty("answers_per_rollout");
  const scanned = [
    { ...right, answers: 1 },
    { ...abandoned, answers: 6 },
  ];
  expect(taskFigures("satisfy", scanned, 2)).toMatchObject({ answers_per_rollout: 3.5, abandonment_gap: 0.5 });
  expect(taskFigures("satisfy", [unreadable], 1)).toMatchObject({ "pass@1": 0, "nonzero_pass@n": 0 });
});

test("while samples are missing, there is only what those that came can say", () => {
  const figures = taskFigures("satisfy", [right, wrong], 4);
  expect(Object.keys(figures).filter((name) => name.includes("pass@"))).toEqual([
    "pass@1",
    "pass@2",
    "first_verifying_pass@1",
    "first_verifying_pass@2",
  ]);
});

test("answers that have a quality: an infeasible one counts 0, and one without a reward does not count", () => {
  const samples = [
    facts({ ratio: 1, solved: true, verified: true, reward: 2 }),
    facts({ ratio: 0.5, reward: 1.5 }),
    facts({ verdict: "infeasible", reward: -0.5 }),
    facts({ verdict: "malformed", reward: -2.5 }),
    none,
  ];
  expect(taskFigures("minimize", samples, 5)).toEqual({
    success_rate: 0.5,
    quality_ratio: 0.375,
    optimal_rate: 0.25,
    mean_reward: 0.125,
    malformed_rate: 0.25,
    infeasible_rate: 0.25,
    truncated_rate: 0,
    no_reward_rate: 0.2,
    unread_rate: 0,
    undecided_rate: 0,
  });
});

describe("a sample without a reward", () => {
  const exact = [right, wrong, abandoned, { ...right, answers: 3 }];

  test.each(["satisfy", "minimize", "maximize"] as const)("is in no figure but no_reward_rate: %s", (goal) => {
    const samples = goal === "satisfy" ? exact : [facts({ ratio: 0.5, reward: 1.5, objective: 4 }), wrong];
    const { no_reward_rate: _, ...figures } = taskFigures(goal, samples, samples.length + 2, 2);
    const among = [none, ...samples, none];
    const { no_reward_rate: rate, ...found } = taskFigures(goal, among, samples.length + 2, 2);
    expect(found).toEqual(figures);
    expect(rate).toBeCloseTo(2 / among.length);
  });

  test("leaves its task out of each pass@k that it is missing for, and of what needs all samples", () => {
    const figures = taskFigures("satisfy", [right, wrong, none, none], 4);
    expect(figures).toMatchObject({ exact_rate: 0.5, "pass@1": 0.5, "pass@2": 1 });
    for (const name of ["pass@4", "first_verifying_pass@4", "pass@avg", "nonzero_pass@n"])
      expect(figures).not.toHaveProperty([name]);
  });

  test("alone gives its task no figure", () => {
    for (const goal of ["satisfy", "minimize"] as const)
      expect(taskFigures(goal, [none, none], 2)).toEqual({ no_reward_rate: 1 });
  });
});

describe("what could not be judged is counted apart, and earns what a wrong answer earns", () => {
  const scheme = { name: "weighted", parameters: { correctness: 1, format: 0, format_strict: 0, tags: 0 } };
  const instance: MathInstance = { problem: "", answer: "x^2+1", level: "all", facts: {} };
  const scored = (text: string): Score =>
    score(
      {
        environment: math,
        instance,
        format: "boxed",
        scheme: { ...scheme, scheme: weighted(math.grading as Grading) },
      },
      `\\boxed{${text}}`,
    );
  const wrong = scored("x^2+2").reward;

  test.each([
    ["unread", "x^2+"],
    ["unread", "foo"],
    ["unread", "x^2 + 3 1"],
    ["undecided", "y < 3"],
    ["undecided", "9^{9^9}"],
  ] as const)("%s: %s", (kind, text) => {
    const result = scored(text);
    const found = factsOf(result);
    expect([found.unread === true, found.undecided === true]).toEqual([kind === "unread", kind === "undecided"]);
    expect([result.reward, found.solved]).toEqual([wrong, false]);
    const figures = taskFigures("satisfy", [found, factsOf(scored("x^2+2")), factsOf(scored("1+x^2"))], 4);
    expect(figures[`${kind}_rate`]).toBeCloseTo(1 / 3);
  });

  test("is no column where there is nothing of the kind", () => {
    const row = (figures: Record<string, number>): ReportRow => ({ figures }) as unknown as ReportRow;
    const titles = (rows: readonly ReportRow[]): readonly string[] => columnsOf(rows).map(({ title }) => title);
    expect(titles([row({ exact_rate: 1, unread_rate: 0, undecided_rate: 0 })])).toEqual(["exact"]);
    expect(titles([row({ unread_rate: 0 }), row({ unread_rate: 0.1, undecided_rate: 0.2 })])).toEqual([
      "unread",
      "undecided",
    ]);
    // Completions that are too long have no reward, and are in no other figure: the table says so.
    expect(titles([row({ no_reward_rate: 0, truncated_rate: 0 })])).toEqual(["truncated"]);
    expect(titles([row({ no_reward_rate: 1, truncated_rate: 0 })])).toEqual(["no reward", "truncated"]);
  });
});

test("means are over those that have the figure", () => {
  expect(meanFigures([{ a: 1, b: 0 }, { a: 0 }])).toEqual({ a: 0.5, b: 0 });
  expect(meanFigures([])).toEqual({});
});

describe("the ratio to a heuristic's answer", () => {
  const answers = [
    facts({ ratio: 0.5, objective: 20, solved: true }),
    facts({ ratio: 0.25, objective: 40 }),
    facts({ verdict: "infeasible" }),
  ];

  test("is above 1 where an answer is better, and 0 where there is none that is feasible", () => {
    expect(taskFigures("minimize", answers, 3, 25)).toMatchObject({
      heuristic_ratio: expect.closeTo((25 / 20 + 25 / 40) / 3) as number,
      quality_ratio: 0.25,
    });
    expect(taskFigures("maximize", answers, 3, 25)["heuristic_ratio"]).toBeCloseTo((20 / 25 + 40 / 25) / 3);
  });

  test("is left out where the suite does not want it, and where it would divide by nothing", () => {
    expect(taskFigures("minimize", answers, 3)).not.toHaveProperty("heuristic_ratio");
    expect(taskFigures("maximize", [facts({ objective: 3 })], 1, 0)).not.toHaveProperty("heuristic_ratio");
    expect(taskFigures("minimize", [facts({ objective: 0 })], 1, 0)["heuristic_ratio"]).toBe(1);
    expect(taskFigures("minimize", [facts()], 1, 4)).not.toHaveProperty("heuristic_ratio");
  });

  test("needs the objective, which is noted with a sample", () => {
    const noted = factsOf({ verdict: "feasible", objective: 7, spans: [], info: {} } as unknown as Score);
    expect(noted.objective).toBe(7);
  });
});
