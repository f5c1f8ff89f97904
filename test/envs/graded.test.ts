/** Tests the rewards for graded facts (Omni-Thinker A.1), and the treatment of a component without a value. */
import { describe, expect, test } from "vitest";
import type { AsyncEnvironment } from "../../envs/environment.ts";
import type { VerifyContext } from "../../envs/resource.ts";
import type { Facts, Failed } from "../../envs/facts.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { type AsyncScore, beginScore, score, type Score } from "../../envs/score.ts";
import { graded } from "../support/environments/graded.ts";
import { asking, WRONG } from "../support/environments/slow.ts";
import type { Sum } from "../support/environments/sums.ts";

const instance: Sum = { a: 3, b: 4 };

function schemeOf(weights: Readonly<Record<string, number>>, name = "weighted") {
  const resolved = resolveScheme(graded, name, weights);
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  return resolved.scheme;
}

function scored(completion: string, weights: Readonly<Record<string, number>> = {}): Score {
  return score({ environment: graded, instance, format: "think_answer", scheme: schemeOf(weights) }, completion);
}

const RIGHT = "<think>3 + 4</think><answer>7</answer>";
const NEAR = "<think>3 + 4</think><answer>8</answer>";
const LARGE = "<think>3 + 4</think><answer>5000</answer>";
const UNREADABLE = "<think>3 + 4</think><answer>seven</answer>";
const NO_ANSWER = "<think>3 + 4</think>";

describe("the weighted sum of the components that have a value", () => {
  test.each<readonly [string, string, Readonly<Record<string, number>>, number]>([
    ["a right answer", RIGHT, {}, 1 + 0.5],
    ["one that is off by one", NEAR, {}, 0.5 / 2],
    ["one whose closeness nobody can tell", LARGE, {}, 0],
    ["a right answer, the format counted", RIGHT, { format: 0.25 }, 1.75],
    ["a right answer, the tags counted", RIGHT, { tags: 1 }, 2.5],
    ["other weights", NEAR, { correctness: 0.5, closeness: 1, format: 1 }, 1.5],
    ["an unreadable answer, with nothing else counted", UNREADABLE, {}, 0],
    ["an unreadable answer keeps the others", UNREADABLE, { format: 0.5, tags: 0.5 }, 1],
    ["no answer: half of the tags", NO_ANSWER, { format: 0.5, tags: 0.5 }, 0.25],
    ["nothing at all", "", { format: 0.5, tags: 0.5 }, 0],
  ])("%s", (_, completion, weights, reward) => {
    const { min, max } = schemeOf(weights).scheme.range(schemeOf(weights).parameters);
    expect(scored(completion, weights).reward).toBeCloseTo(reward, 12);
    expect(min <= reward && reward <= max).toBe(true);
  });

  test("a component without a value says why, and is left out", () => {
    expect(scored(LARGE)).toMatchObject({ verdict: "graded", solved: false, violation: "it is off by 4993" });
    expect(scored(LARGE).components).toEqual([
      { name: "correctness", value: 0, weight: 1 },
      { name: "closeness", value: undefined, weight: 0.5, reason: "numbers over 1,000 are not compared" },
      { name: "format", value: 1, weight: 0 },
      { name: "format_strict", value: 1, weight: 0 },
      { name: "tags", value: 1, weight: 0 },
    ]);
    const reason = "the answer could not be read";
    expect(scored(UNREADABLE)).toMatchObject({ verdict: "malformed", violation: "not a number" });
    expect(scored(UNREADABLE).components.slice(0, 2)).toMatchObject([{ reason }, { reason }]);
  });

  test("a right answer is solved, and its span too", () => {
    expect(scored(RIGHT)).toMatchObject({ solved: true, violation: "", spans: [{ verdict: "graded", solved: true }] });
  });

  test("the exact scheme prices graded facts by whether they are solved", () => {
    const task = { environment: graded, instance, format: "think_answer", scheme: schemeOf({}, "graded") } as const;
    expect([RIGHT, NEAR, UNREADABLE].map((text) => score(task, text).reward)).toEqual([1, 0.1, 0]);
  });

  test("weights are checked by the components' names", () => {
    expect(resolveScheme(graded, "weighted", { closenes: 1 })).toMatchObject({ kind: "invalid" });
    expect(resolveScheme(graded, "weighted", { closeness: 1.5 })).toMatchObject({ kind: "invalid" });
  });

  test("a component out of range is a bug of the environment", () => {
    const environment = {
      ...graded,
      verify: (): Facts => ({ kind: "graded", components: [{ name: "correctness", value: 2 }], solved: true }),
    };
    const task = { environment, instance, format: "think_answer", scheme: schemeOf({}) } as const;
    expect(() => score(task, RIGHT)).toThrow("component 'correctness' must be from 0 to 1; got 2");
  });
});

describe("components that failed", () => {
  const failure: Failed = {
    ...({ kind: "failed", reason: "resource_unavailable", resource: "judge", retryable: true } as const),
    detail: "the judge is down",
  };
  const limits = { deadlineMs: 0, attempt: 1, attemptsMax: 1 };
  const context: VerifyContext = { signal: new AbortController().signal, ports: {}, ...limits };

  async function finished(facts: Facts): Promise<AsyncScore> {
    const environment: AsyncEnvironment<Sum, number> = { ...asking(async () => facts), grading: graded.grading! };
    const begun = beginScore({ environment, instance, format: "think_answer", scheme: schemeOf({}) }, RIGHT);
    if (begun.kind !== "verification") return begun;
    const verified = await begun.verify(context);
    return verified.kind === "failed" ? verified : begun.finish(verified);
  }

  const lacking = (name: string) => ({ name, value: undefined, reason: "the judge did not answer", failure }) as const;

  test("the primary one leaves no reward", async () => {
    const components = [lacking("correctness"), { name: "closeness", value: 1 }];
    expect(await finished({ kind: "graded", components, solved: false })).toEqual(failure);
  });

  test("another one is left out, and says so", async () => {
    const components = [{ name: "correctness", value: 1 }, lacking("closeness")];
    const result = await finished({ kind: "graded", components, solved: true });
    expect(result).toMatchObject({ kind: "score", score: { reward: 1, solved: true } });
    expect(result.kind === "score" && result.score.components[1]).toMatchObject({ reason: "the judge did not answer" });
  });

  test("the primary one without a value through no fault of ours is left out", async () => {
    const components = [
      { name: "correctness", value: undefined, reason: "not decided" },
      { name: "closeness", value: 1 },
    ];
    expect(await finished({ kind: "graded", components, solved: false })).toMatchObject({ score: { reward: 0.5 } });
  });

  test("facts that are not graded have no weighted sum", async () => {
    await expect(finished(WRONG)).rejects.toThrow(
      "its verifier returned 'infeasible', but scheme 'weighted' needs 'graded'",
    );
  });
});
