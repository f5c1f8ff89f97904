/** Step, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NoRewardReason, type Outcome, Proof, Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { MALFORMED, noRewardOf, right, wrong } from "./answers.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
let task: Task;
beforeAll(async () => {
  wire = await openWire({ maxCompletionBytes: "8KiB" });
  const { task: made } = await wire.environments.reset({ spec: { environment: "countdown" }, seed: 1n });
  if (made === undefined) throw new Error("no task");
  task = made;
});
afterAll(() => wire[Symbol.asyncDispose]());

describe("Step", () => {
  const step = async (completion: string, of: Partial<Task> = task): Promise<Outcome> => {
    const { taskId = "", groupId = "" } = of;
    const { outcome } = await wire.environments.step({ taskId, groupId, sampleIndex: 3, completion });
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  };

  test("scores a right answer", async () => {
    const answer = right(task);
    const outcome = await step(answer);
    expect(outcome.sampleIndex).toBe(3);
    // No run issued the task, and one completion makes no group.
    expect(outcome.feedback).toBeUndefined();
    expect(outcome.rlooAdvantage).toBeUndefined();
    const start = [..."<think>…</think><answer>"].length;
    const end = [...answer].length - "</answer>".length;
    expect(outcome.result).toMatchObject({
      case: "score",
      value: {
        reward: 1,
        components: [{ name: "correctness", value: 1, weight: 1 }],
        verdict: Verdict.FEASIBLE,
        solved: true,
        violation: "",
        terminated: true,
        truncated: false,
        spans: [{ start, end, verdict: Verdict.FEASIBLE, solved: true }],
      },
    });
  });

  test("says what is wrong with a wrong answer", async () => {
    const { result } = await step(wrong(task));
    expect(result).toMatchObject({
      case: "score",
      value: {
        reward: 0.1,
        verdict: Verdict.INFEASIBLE,
        solved: false,
        violation: expect.stringMatching(/./) as string,
      },
    });
    expect(result.case === "score" && result.value.ratio).toBeUndefined();
  });

  test("says why an answer could not be read, and whether the completion was cut", async () => {
    expect((await step(MALFORMED)).result).toMatchObject({
      case: "score",
      value: { reward: 0, verdict: Verdict.MALFORMED, truncated: false, spans: [] },
    });
    expect((await step("<think>so far")).result).toMatchObject({
      case: "score",
      value: { reward: 0, truncated: true },
    });
  });

  test("measures a tour against the proven optimum", async () => {
    const spec = {
      environment: "np/tsp",
      difficulty: { case: "parameters", value: { values: { cities_min: 4, cities_max: 4 } } },
    } as const;
    const { task: tsp } = await wire.environments.reset({ spec, seed: 3n });
    if (tsp === undefined) throw new Error("no task");
    const distance = distancesIn(tsp.prompt.at(-1)?.content ?? "");
    // Four cities have three tours.
    const tours = [
      [0, 1, 2, 3],
      [0, 1, 3, 2],
      [0, 2, 1, 3],
    ] as const;
    const lengths = tours.map((tour) =>
      tour.reduce<number>((sum, city, i) => sum + distance(city, tour[(i + 1) % 4] as number), 0),
    );
    const best = Math.min(...lengths);
    for (const [i, tour] of tours.entries()) {
      const { result } = await step(`<think></think><answer>[${tour.join(", ")}]</answer>`, tsp);
      if (result.case !== "score") throw new Error("no score");
      const ratio = best / (lengths[i] as number);
      expect(result.value).toMatchObject({
        objective: lengths[i],
        baseline: { value: best, bound: best, proof: Proof.OPTIMAL },
        solved: lengths[i] === best,
      });
      expect(result.value.ratio).toBeCloseTo(ratio, 12);
      // FORGE 3.1: format 1, feasibility 0, and the ratio.
      expect(result.value.reward).toBeCloseTo(1 + ratio, 12);
    }
  });

  test.each<[string, (task: Task) => [string, string], NoRewardReason, RegExp]>([
    ["an empty id", () => ["", ""], NoRewardReason.INVALID_TASK_ID, /^task_id is empty/],
    [
      "a changed id",
      ({ taskId }) => [`${taskId.slice(0, 40)}${taskId[40] === "A" ? "B" : "A"}${taskId.slice(41)}`, ""],
      NoRewardReason.INVALID_TASK_ID,
      /^task_id: it was changed/,
    ],
    ["a cut id", ({ taskId }) => [taskId.slice(0, 12), ""], NoRewardReason.INVALID_TASK_ID, /^task_id/],
    ["another's text", () => ["not base64url!", ""], NoRewardReason.INVALID_TASK_ID, /^task_id is not base64url/],
    [
      "an id that is far too long",
      ({ taskId }) => [taskId.repeat(120), ""],
      NoRewardReason.INVALID_TASK_ID,
      /^task_id has \d+ characters, and the limit is 8192/,
    ],
    [
      "a completion above the limit",
      ({ taskId }) => [taskId, "é".repeat(4097)],
      NoRewardReason.TOO_LARGE,
      /^the completion has 8194 bytes of UTF-8, and the limit is 8192/,
    ],
  ])("has a reason and no reward for %s", async (_what, made, reason, detail) => {
    const [taskId, completion] = made(task);
    const found = noRewardOf(await step(completion, { taskId, groupId: "" }));
    expect(found?.reason).toBe(reason);
    expect(found?.detail).toMatch(detail);
    // Final: trying again is of no use.
    expect(found?.retryDelayMs).toBe(0);
  });

  test("refuses a group id above the limit", async () => {
    const failure = await failureOf(step("", { taskId: task.taskId, groupId: "x".repeat(257) }));
    expect(failure.code).toBe("INVALID_ARGUMENT");
    expect(failure.message).toContain("group_id: must have at most 256 bytes; got 257");
  });
});

/** Distances as the prompt has them, after its example: "0: 1=10 2=15". */
function distancesIn(prompt: string): (a: number, b: number) => number {
  const found = new Map<string, number>();
  for (const [, from = "", row = ""] of prompt
    .slice(prompt.indexOf("Your task:"))
    .matchAll(/^(\d+):((?: \d+=\d+)+)$/gm))
    for (const [, to, length] of row.matchAll(/ (\d+)=(\d+)/g)) found.set(`${from} ${to}`, Number(length));
  return (a, b) => {
    const length = found.get(`${Math.min(a, b)} ${Math.max(a, b)}`);
    if (length === undefined) throw new Error(`no distance from ${a} to ${b}`);
    return length;
  };
}
