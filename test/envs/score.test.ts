import { expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { countdown } from "../../envs/countdown/index.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { tsp } from "../../envs/np/tsp/index.ts";
import { type ResolvedScheme, resolveScheme } from "../../envs/reward/schemes.ts";
import { factsOf, score, type Score, type ScoreTask, VIOLATION_BYTES_MAX } from "../../envs/score.ts";

function scheme(environment: typeof tsp | typeof countdown, name: string): ResolvedScheme {
  const resolved = resolveScheme(environment, name, {});
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  return resolved.scheme;
}

/** The worked example of FORGE A.5.7. */
const FOUR = { cities: 4, distances: Int32Array.of(10, 15, 20, 35, 25, 30) };

function scoreTour(completion: string, name = "quality", format: AnswerFormat = "think_answer"): Score {
  const baseline = { value: 80, bound: 80, proven: true };
  return score({ environment: tsp, instance: FOUR, format, scheme: scheme(tsp, name), baseline }, completion);
}

function scoreSum(completion: string, format: AnswerFormat = "answer_tag"): Score {
  const instance = { numbers: [1, 2, 3], target: 6 };
  return score({ environment: countdown, instance, format, scheme: scheme(countdown, "graded") }, completion);
}

test("an optimal tour", () => {
  expect(scoreTour(wrapAnswer("[0, 1, 3, 2, 0]", "think_answer"))).toEqual({
    reward: 2,
    components: [
      { name: "format", value: 1, weight: 1 },
      { name: "feasibility", value: 0, weight: 1 },
      { name: "quality", value: 1, weight: 1 },
    ],
    verdict: "feasible",
    solved: true,
    objective: 80,
    baseline: { value: 80, bound: 80, proven: true },
    ratio: 1,
    quality: 1,
    violation: "",
    terminated: true,
    truncated: false,
    spans: [{ start: 26, end: 41, verdict: "feasible", solved: true }],
    info: {},
  });
});

test("a longer tour, under each scheme", () => {
  // 0, 1, 2, 3 is 10 + 35 + 30 + 20 = 95, which is the trivial tour too.
  const rewards = ["quality", "binary", "optimal_only", "coarse", "normalized"].map(
    (name) => scoreTour(wrapAnswer("[1, 2, 3, 0]", "think_answer"), name).reward,
  );
  expect(rewards).toEqual([1 + 80 / 95, 2, 1, 1.5, 1]);
  expect(scoreTour(wrapAnswer("[1, 2, 3, 0]", "think_answer"))).toMatchObject({
    solved: false,
    ratio: 80 / 95,
    quality: 80 / 95,
  });
});

test("an infeasible tour, an unreadable one, and none", () => {
  expect(scoreTour(wrapAnswer("[0, 1, 3, 0]", "think_answer"))).toMatchObject({
    reward: -0.5,
    verdict: "infeasible",
    violation: "city 2 is never visited",
    objective: undefined,
    ratio: undefined,
    quality: 0,
  });
  const unread = { reward: -2.5, verdict: "malformed", objective: undefined, solved: false };
  expect(scoreTour(wrapAnswer("north", "think_answer"))).toMatchObject({
    ...unread,
    violation: "not a list of whole numbers: expected '[', found 'n' at character 1",
    spans: [{ verdict: "malformed" }],
  });
  expect(scoreTour("")).toMatchObject({ ...unread, spans: [], truncated: false });
  expect(scoreTour("<think>Let me see")).toMatchObject({ ...unread, truncated: true });
});

test("an answer that is right counts for nothing where the format is not kept, but its span says so", () => {
  expect(scoreTour("<answer>[0, 1, 3, 2]</answer>")).toMatchObject({
    reward: -2.5,
    verdict: "malformed",
    violation: "the thinking is never closed: there is no </think>",
    solved: false,
    spans: [{ verdict: "feasible", solved: true }],
  });
});

test("spans are verified one by one, and counted in code points; the last one counts", () => {
  const completion = "𝟙𝟚 <answer>(1+2)*3</answer> é <answer>1+2+3</answer> 𝟛 <answer>six</answer>";
  const points = [...completion];
  const { spans, verdict, reward } = scoreSum(completion);
  expect(spans.map(({ start, end }) => points.slice(start, end).join(""))).toEqual(["(1+2)*3", "1+2+3", "six"]);
  expect(spans.map((span) => span.verdict)).toEqual(["infeasible", "feasible", "malformed"]);
  expect(spans.map((span) => span.solved)).toEqual([false, true, false]);
  expect([verdict, reward]).toEqual(["malformed", 0]);
});

test("countdown: exact, wrong and unreadable, in every format", () => {
  for (const format of countdown.answerFormats) {
    const given = (answer: string) => scoreSum(wrapAnswer(answer, format), format);
    expect(given("1 + 2 + 3")).toMatchObject({ reward: 1, solved: true, info: { value: "6" }, violation: "" });
    expect(given("1 * 2 + 3")).toMatchObject({ reward: 0.1, solved: false, verdict: "infeasible" });
    expect(given("6")).toMatchObject({ reward: 0.1, verdict: "infeasible" });
    expect(given("one")).toMatchObject({ reward: 0, verdict: "malformed" });
    expect(given("1 + 2 + 3").baseline).toBeUndefined();
  }
});

test("a long violation is clipped to whole code points", () => {
  const environment: ScoreTask["environment"] = {
    ...(tsp as ScoreTask["environment"]),
    parse: () => ({ kind: "malformed", reason: "𝟙".repeat(1000) }),
  };
  const task = { environment, instance: FOUR, format: "answer_tag", scheme: scheme(tsp, "binary") } as const;
  expect(score(task, "<answer>1</answer>").violation).toBe("𝟙".repeat(VIOLATION_BYTES_MAX / 4));
});

test("a verifier or solver that is wrong throws, and the error names the environment", () => {
  const baseline = { value: 81, bound: 81, proven: true };
  const task = {
    environment: tsp,
    instance: FOUR,
    format: "answer_tag",
    scheme: scheme(tsp, "binary"),
    baseline,
  } as const;
  expect(() => score(task, "<answer>[0, 1, 3, 2]</answer>")).toThrow(
    "np/tsp version 3: objective 80 to minimize beats the certified bound 81: the verifier or the solver is wrong",
  );
});

test("the facts of a score: parts of the reward, numbers of the metadata, and how far it is from the trivial answer", () => {
  const baseline = { value: 80, bound: 80, proven: true };
  const task = {
    environment: tsp,
    instance: FOUR,
    format: "think_answer",
    scheme: scheme(tsp, "quality"),
    baseline,
  } as const;
  const facts = (answer: string) => factsOf(task, score(task, wrapAnswer(answer, "think_answer")));
  // The trivial tour, 0 1 2 3, is 95 long.
  expect(facts("[0, 1, 2, 3, 0]")).toMatchObject({
    improvement: 0,
    "component:format": 1,
    "component:quality": 80 / 95,
  });
  expect(facts("[0, 1, 3, 2, 0]")).toMatchObject({ improvement: 1, "metadata:cities": 4 });
  expect(facts("[0, 1]")).toMatchObject({ improvement: 0, "component:feasibility": -1.5 });
  const sum = { environment: countdown, instance: { numbers: [1, 2, 3], target: 6 }, format: "answer_tag" } as const;
  const whole = { ...sum, scheme: scheme(countdown, "graded") };
  const known = factsOf(whole, score(whole, "<answer>1 + 2 + 3</answer>"));
  expect(known).toMatchObject({ "component:correctness": 1, "metadata:target": 6 });
  expect(known).not.toHaveProperty("improvement");
});

test.each(["quality", "binary", "optimal_only", "coarse", "normalized"])(
  "a tour without its closing tag counts, and has −1 for its format, under %s",
  (name) => {
    const whole = scoreTour("<think>a</think><answer>[0, 1, 3, 2, 0]</answer>", name);
    const open = scoreTour("<think>a</think><answer>[0, 1, 3, 2, 0]", name);
    expect(open).toMatchObject({ verdict: "feasible", solved: true, objective: 80 });
    expect(open.reward).toBeCloseTo(whole.reward - 2, 12);
    expect(open.components[0]).toEqual({ name: "format", value: -1, weight: 1 });
    expect(open.components.slice(1)).toEqual(whole.components.slice(1));
  },
);

test.each(["So, the answer is [0, 1, 3, 2, 0]", "**Final Answer**\n[0, 1, 3, 2, 0]"])(
  "the same of an answer line in other words: %j",
  (completion) => {
    const { verdict, components } = scoreTour(completion, "quality", "answer_line");
    expect([verdict, components[0]?.value]).toEqual(["feasible", -1]);
  },
);

test("an answer line that the length limit ended counts for nothing: 1 + 2 + 3 may be the start of another sum", () => {
  const instance = { numbers: [1, 2, 3], target: 6 };
  const cut = (completion: string, name: string): Score =>
    score(
      { environment: countdown, instance, format: "answer_line", scheme: scheme(countdown, name), wasCut: true },
      completion,
    );
  for (const name of ["graded", "vcc"]) {
    expect(cut("Answer: 1 + 2 + 3", name)).toMatchObject({
      reward: 0,
      verdict: "malformed",
      truncated: true,
      spans: [],
    });
    expect(cut("Answer: 1 + 2 + 3\n", name)).toMatchObject({ reward: 1, verdict: "feasible", truncated: true });
  }
  expect(cut("Answer: 1 + 2 + 3", "vcc").scan?.commit).toBeUndefined();
});
