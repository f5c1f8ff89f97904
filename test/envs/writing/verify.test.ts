/** Tests the reward for two verdicts, and which texts no judge sees. */
import { describe, expect, test } from "vitest";
import type { AsyncEnvironment } from "../../../envs/environment.ts";
import type { VerifyContext } from "../../../envs/resource.ts";
import type { Failed } from "../../../envs/facts.ts";
import type { Comparison, Judge, Judged, Verdict } from "../../../envs/ports.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { beginScore } from "../../../envs/score.ts";
import { type Conversation, TEXT_BYTES_MAX } from "../../../envs/writing/conversation.ts";
import { writing } from "../../../envs/writing/index.ts";

const instance: Conversation = {
  system: undefined,
  request: "Write a line about rain.",
  reference: "Rain again, and the roof is a drum.",
};
const CANDIDATE = "Rain, and the street learns to shine.";
const DOWN: Failed = {
  kind: "failed",
  reason: "resource_unavailable",
  resource: "judge",
  detail: "it is asleep",
  retryable: true,
};

/** Returns the score of a text under a judge with this verdict, and the judge's questions. */
async function judged(answer: Judged | Failed, text: string, thinking = "<think>Hm.</think>") {
  const asked: Comparison[] = [];
  const judge: Judge = {
    ask: async (comparison) => (asked.push(comparison), answer),
    probe: async () => undefined,
  };
  const scheme = resolveScheme(writing, "", {});
  if (scheme.kind !== "ok") throw new Error(scheme.message);
  const environment = writing as AsyncEnvironment;
  const begun = beginScore(
    { environment, instance, format: "think_answer", scheme: scheme.scheme },
    `${thinking}<answer>${text}</answer>`,
  );
  if (begun.kind !== "verification") return { outcome: begun, asked };
  const context: VerifyContext = {
    signal: new AbortController().signal,
    deadlineMs: Infinity,
    ports: { judge },
    attempt: 1,
    attemptsMax: 1,
  };
  const found = await begun.verify(context);
  return { outcome: found.kind === "failed" ? found : begun.finish(found), asked };
}

const verdicts = (order: Verdict["winner"], swapped: Verdict["winner"]): Judged => ({
  kind: "judged",
  verdicts: [
    { winner: order, reason: "first" },
    { winner: swapped, reason: "second" },
  ],
});

test.each<readonly [Verdict["winner"], Verdict["winner"], number, string]>([
  ["A", "B", 1, "win"],
  ["B", "A", 0, "loss"],
  ["tie", "tie", 0.5, "tie"],
  ["A", "A", 0.5, "tie"],
  ["B", "B", 0.5, "tie"],
  ["A", "tie", 0.5, "tie"],
  ["tie", "B", 0.5, "tie"],
  ["B", "tie", 0.5, "tie"],
  ["tie", "A", 0.5, "tie"],
])("%s, and swapped %s: %d", async (order, swapped, reward, outcome) => {
  const scored = await judged(verdicts(order, swapped), CANDIDATE);
  expect(scored.outcome).toMatchObject({
    kind: "score",
    score: {
      reward,
      solved: reward === 1,
      verdict: "graded",
      info: { outcome, reason_as_a: "first", reason_as_b: "second" },
    },
  });
  expect(scored.asked).toHaveLength(1);
});

test("a judge that fails leaves no reward", async () => {
  expect((await judged(DOWN, CANDIDATE)).outcome).toEqual(DOWN);
});

describe("no judge is asked about", () => {
  test.each<readonly [string, string, number, string]>([
    ["signs", "!!! 12345678901234567890 ???", 0, "the text has fewer than 12 letters"],
    ["letters that nobody sees", "\u3164\u115f".repeat(20), 0, "the text has fewer than 12 letters"],
    ["a word", "Rain.", 0, "the text has fewer than 12 letters"],
    [
      "a text that is far too long",
      "rain ".repeat(TEXT_BYTES_MAX / 4),
      0,
      "the text has more than 16384 bytes of UTF-8",
    ],
    // Quoting makes such a text up to three times as long: its prompt would be too long for a judge, so the text is
    // refused.
    [
      "a text of marks that are spelt longer",
      `rain and more rain ${"<".repeat(TEXT_BYTES_MAX - 32)}`,
      0,
      "the text has more than 16384 bytes of UTF-8 in the form that the judge is shown",
    ],
    [
      "a text of many lines",
      "r\n".repeat(TEXT_BYTES_MAX / 2 - 1),
      0,
      "the text has more than 16384 bytes of UTF-8 in the form that the judge is shown",
    ],
    [
      "a copy of the reference",
      " rain AGAIN,\nand the roof is a drum.",
      0.5,
      "the judge does not prefer the text to the reference",
    ],
  ])("%s", async (_, text, reward, violation) => {
    const { outcome, asked } = await judged(verdicts("A", "B"), text);
    expect(outcome).toMatchObject({ kind: "score", score: { reward, solved: false, violation } });
    expect(asked).toEqual([]);
  });

  test("an answer that is not there: the primary is left out, and the reward is 0", async () => {
    const { outcome, asked } = await judged(verdicts("A", "B"), "");
    expect(outcome).toMatchObject({ kind: "score", score: { reward: 0, verdict: "malformed" } });
    expect(asked).toEqual([]);
  });
});

test("the judge sees the answer as it stands, without thoughts", async () => {
  const { asked } = await judged(
    verdicts("A", "B"),
    "```\nAnswer: **rain** and more rain.\n```",
    "<think>secret</think>",
  );
  const [content] = asked[0]!.map((prompt) => prompt.at(-1)?.content);
  expect(content).toContain("| ```\n| Answer: **rain** and more rain.\n| ```");
  expect(content).not.toContain("secret");
});
