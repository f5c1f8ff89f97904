/**
 * Tests of answers that an environment in Python cannot read: they are malformed and earn as much as an unreadable
 * answer.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import type { TestServer } from "../../../support/in-process.ts";
import { DIGITS_FILE, openMounting } from "../../../support/mounted/mounts.ts";

let server: TestServer;
beforeAll(async () => void (server = await openMounting(DIGITS_FILE)));
afterAll(() => server[Symbol.asyncDispose]());

const numberOf = ({ prompt }: Task): string => /number: (\d+)/.exec(prompt[0]?.content ?? "")?.[1] ?? "";

test.each([
  ["mine/digits", 0.1, "infeasible"],
  ["mine/graded-digits", 0.25, "graded"],
])("%s earns nothing for an unreadable answer, and %f for a wrong one", async (environment, wrong, verdict) => {
  const task = await server.client.reset({ environment, level: "default", seed: 3 });
  const step = (answer: string) => server.client.step(task, wrapAnswer(answer, "think_answer"));
  expect(await step(numberOf(task))).toMatchObject({ kind: "scored", reward: 1, solved: true });
  expect(await step("7")).toMatchObject({ kind: "scored", reward: wrong, verdict });
  const unreadable = { kind: "scored", reward: 0, verdict: "malformed", solved: false } as const;
  expect(await step("seven")).toMatchObject({
    ...unreadable,
    violation: "invalid literal for int() with base 10: 'seven'",
  });
  expect(await step("-7")).toMatchObject({ ...unreadable, violation: "a number here has no sign" });
});

test("an unreadable answer leaves the parts of the completion that have weights of their own", async () => {
  const rewardScheme = { name: "weighted", parameters: { format: 0.5 } };
  const task = await server.client.reset({
    environment: "mine/graded-digits",
    level: "default",
    seed: 3,
    rewardScheme,
  });
  const outcome = await server.client.step(task, wrapAnswer("seven", "think_answer"));
  expect(outcome).toMatchObject({ kind: "scored", reward: 0.5, verdict: "malformed" });
});

test("an unreadable answer whose mark nothing closes stays malformed for its missing mark", async () => {
  const task = await server.client.reset({ environment: "mine/digits", level: "default", seed: 3 });
  const outcome = await server.client.step(task, "<think>hm</think><answer>-7");
  expect(outcome).toMatchObject({ kind: "scored", reward: 0, verdict: "malformed" });
  expect(outcome.kind === "scored" && outcome.violation).toContain("no closed <answer> block");
});
