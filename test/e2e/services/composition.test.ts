/** Rewards of several components, through the server and a run: each arm's weights, and answers that cannot be read. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadPool, rowOf } from "../../../envs/pool.ts";
import { qa } from "../../../envs/qa/index.ts";
import { rows } from "../../../envs/qa/question.ts";
import { FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { Source, type Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { MIXTURE, runOf } from "./run-of.ts";
import { openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

const armOf = (id: string, environment: string, parameters?: Readonly<Record<string, number>>) => ({
  id,
  spec: {
    environment,
    source: Source.REAL,
    difficulty: { case: "level", value: "easy" } as const,
    ...(parameters && { rewardScheme: { name: "weighted", parameters } }),
  },
});

const UNREADABLE = "<think>I do not know.</think>";
const wrongOf = (task: Task): string =>
  `<think>?</think><answer>${task.environment === "qa" ? "nonsense" : "Z"}</answer>`;

async function scored(run: Awaited<ReturnType<typeof runOf>>, task: Task, sample: number, text: string) {
  const outcome = await run.step(task, sample, text);
  if (outcome.result.case !== "score") throw new Error(`no score: ${outcome.result.case}`);
  return { score: outcome.result.value, feedback: outcome.feedback?.status };
}

test("each arm weighs the components as its scheme says", async () => {
  const arms = [
    armOf("plain", "qa"),
    armOf("tidy", "qa", { correctness: 0.5, format: 0.25, tags: 0.125, format_strict: 0.0625 }),
    armOf("letter", "qa/letter", { correctness: 1, tags: 0.5 }),
  ];
  const run = await runOf(wire, "weights", { arms, policy: MIXTURE, promptsPerUpdate: 12 });
  const tasks = await run.next(0, 12);
  const rewards = new Map<string, readonly number[]>();
  for (const task of tasks) {
    const unreadable = await scored(run, task, 0, UNREADABLE);
    const wrong = await scored(run, task, 1, wrongOf(task));
    rewards.set(task.armId, [unreadable.score.reward, wrong.score.reward]);
    expect(unreadable.feedback).toBe(FeedbackStatus.RECORDED);
    const [primary] = unreadable.score.components;
    expect(primary).toMatchObject({ name: "correctness", reason: "the answer could not be read" });
    expect(primary?.value).toBeUndefined();
  }
  expect(Object.fromEntries(rewards)).toEqual({
    // Only the primary component remains. It is 0 for both completions, and both count.
    plain: [0, 0],
    // Two of four tags, and no valid format; then all four, once each.
    tidy: [0.0625, 0.25 + 0.125 + 0.0625],
    letter: [0.25, 0.5],
  });
});

/** The right option, from the pool that ships. */
function rightOf({ prompt }: Task): string {
  const pool = loadPool(qa, "qa", readFileSync(rows.defaultPool.file, "utf8"));
  const questions = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance);
  const asked = questions.find(({ question }) => prompt[0]?.content.startsWith(`${question}\n`));
  return asked?.options[asked.right] ?? "";
}

test("where nothing remains the reward is 0 and counts: a policy escapes no bad advantage by writing nothing", async () => {
  const run = await runOf(wire, "escape", { arms: [armOf("plain", "qa")], policy: MIXTURE, promptsPerUpdate: 1 });
  const [task] = (await run.next(0)) as [Task];
  const silent = await scored(run, task, 0, UNREADABLE);
  const right = await scored(run, task, 1, `<think>?</think><answer>${rightOf(task)}</answer>`);
  expect([silent.score.reward, right.score.reward, right.score.solved]).toEqual([0, 1, true]);
  const { groups } = await wire.curriculum.getGroups({ runId: "escape", groupIds: [task.groupId] });
  const advantages = groups[0]?.samples.map(({ grpoAdvantage }) => grpoAdvantage);
  expect(advantages).toEqual([expect.closeTo(-1), expect.closeTo(1)]);
});
