/** Step, BatchStep and StreamSteps, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamStepsResponse } from "../../../server/gen/gradus/v1/environment_pb.js";
import {
  type GroupOutcome,
  NoRewardReason,
  type Outcome,
  Proof,
  Verdict,
} from "../../../server/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../server/gen/gradus/v1/task_pb.js";
import { MALFORMED, mixed, right, wrong } from "./answers.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

interface Group {
  readonly taskId: string;
  readonly groupId: string;
  readonly completions: { readonly sampleIndex: number; readonly text?: string }[];
  readonly numGenerations?: number;
}

let wire: Wire;
let task: Task;
let other: Task;
beforeAll(async () => {
  wire = await openWire({ maxCompletionBytes: "8KiB", maxGroups: "3", maxCompletions: "4" });
  [task, other] = await Promise.all([reset(1n), reset(2n)]);
});
afterAll(() => wire[Symbol.asyncDispose]());

async function reset(seed: bigint): Promise<Task> {
  const { task: made } = await wire.environments.reset({ spec: { environment: "countdown" }, seed });
  if (made === undefined) throw new Error("no task");
  return made;
}

function groupOf({ taskId, groupId }: Task, texts: readonly string[], more: Partial<Group> = {}): Group {
  return { taskId, groupId, completions: texts.map((text, sampleIndex) => ({ sampleIndex, text })), ...more };
}

async function score(group: Group): Promise<GroupOutcome> {
  const { groups } = await wire.environments.batchStep({ groups: [group] });
  return groups[0] as GroupOutcome;
}

const rewardOf = ({ result }: Outcome): number | undefined =>
  result.case === "score" ? result.value.reward : undefined;
const noRewardOf = ({ result }: Outcome) => (result.case === "noReward" ? result.value : undefined);

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
    expect(outcome.nextTaskId).toBe("");
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
      ({ taskId }) => [taskId.repeat(60), ""],
      NoRewardReason.INVALID_TASK_ID,
      /^task_id has \d+ characters, and none of ours has over 4096/,
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
    expect(failure.message).toContain("group_id: it has 257 bytes, and the limit is 256");
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

describe("BatchStep", () => {
  test("computes a whole group's statistics and advantages", async () => {
    const { groupId, outcomes, statistics, contrastPairs } = await score(groupOf(task, mixed(task)));
    expect(groupId).toBe(task.groupId);
    expect(contrastPairs).toEqual([]);
    expect(outcomes.map(rewardOf)).toEqual([1, 0.1, 0, 0.1]);
    // By hand: mean 1.2/4; variance (0.7² + 0.2² + 0.3² + 0.2²)/4 = 0.66/4.
    expect(statistics?.count).toBe(4);
    expect(statistics?.mean).toBeCloseTo(0.3, 12);
    expect(statistics?.std).toBeCloseTo(Math.sqrt(0.165), 12);
    // Each reward less the mean of the other three: 1 − 0.2/3, 0.1 − 1.1/3, 0 − 1.2/3.
    const rloo = [0.9333333333333333, -0.26666666666666666, -0.4, -0.26666666666666666];
    for (const [i, { rlooAdvantage }] of outcomes.entries()) expect(rlooAdvantage).toBeCloseTo(rloo[i] as number, 12);
    // (reward − 0.3)/0.40620192…
    const grpo = [1.7232808737106582, -0.4923659639173309, -0.7385489458759964, -0.4923659639173309];
    for (const [i, { grpoAdvantage }] of outcomes.entries()) expect(grpoAdvantage).toBeCloseTo(grpo[i] as number, 12);
  });

  test("gives advantages of 0 where all rewards are the same", async () => {
    const { outcomes, statistics } = await score(groupOf(task, [wrong(task), wrong(task), wrong(task)]));
    expect(statistics).toMatchObject({ count: 3, mean: 0.1, std: 0 });
    for (const outcome of outcomes) expect(outcome).toMatchObject({ rlooAdvantage: 0, grpoAdvantage: 0 });
  });

  test("leaves samples without a reward out of the statistics", async () => {
    const { outcomes, statistics } = await score(groupOf(task, [right(task), "x".repeat(9000), wrong(task)]));
    expect(noRewardOf(outcomes[1] as Outcome)?.reason).toBe(NoRewardReason.TOO_LARGE);
    expect(outcomes[1]?.rlooAdvantage).toBeUndefined();
    expect(statistics).toMatchObject({ count: 2, mean: 0.55 });
    expect(outcomes[0]?.rlooAdvantage).toBeCloseTo(0.9, 12);
    expect(outcomes[2]?.rlooAdvantage).toBeCloseTo(-0.9, 12);
    const { statistics: none } = await score(groupOf(task, ["x".repeat(9000)]));
    expect(none).toBeUndefined();
  });

  test("has statistics of a split group only where a message holds it all", async () => {
    const [a, b, c, d] = mixed(task) as [string, string, string, string];
    const half = await score(groupOf(task, [a, b], { numGenerations: 4 }));
    expect(half.outcomes.map(rewardOf)).toEqual([1, 0.1]);
    expect(half.statistics).toBeUndefined();
    expect(half.outcomes.every(({ grpoAdvantage }) => grpoAdvantage === undefined)).toBe(true);
    const whole = await score(groupOf(task, [a, b, c, d], { numGenerations: 4 }));
    expect(whole.statistics?.count).toBe(4);
  });

  test("does not mind the order of samples, and answers in theirs", async () => {
    const group = groupOf(task, mixed(task));
    const completions = [3, 0, 2, 1].map((i) => group.completions[i] as Group["completions"][number]);
    const straight = await score(group);
    const turned = await score({ ...group, completions });
    expect(turned.outcomes.map(({ sampleIndex }) => sampleIndex)).toEqual([3, 0, 2, 1]);
    expect(turned.statistics).toEqual(straight.statistics);
    for (const outcome of turned.outcomes) expect(outcome).toEqual(straight.outcomes[outcome.sampleIndex]);
  });

  test("keeps one bad item from harming its neighbours", async () => {
    const good = groupOf(other, [right(other), wrong(other)]);
    const alone = await score(good);
    const forged = groupOf({ ...task, taskId: `${task.taskId}AAAA` }, mixed(task));
    const bad = groupOf(task, [right(task), "x".repeat(9000), "</answer><answer>((((", "\0".repeat(100)]);
    const { groups } = await wire.environments.batchStep({ groups: [forged, good, bad] });
    expect(groups[0]?.outcomes.map((each) => noRewardOf(each)?.reason)).toEqual(
      new Array(4).fill(NoRewardReason.INVALID_TASK_ID),
    );
    expect(groups[1]).toEqual(alone);
    expect(groups[2]?.outcomes.map(rewardOf)).toEqual([1, undefined, 0, 0]);
  });

  test.each<[string, () => Group[], string]>([
    ["no groups", () => [], "groups: there are 0, and at least 1 is needed"],
    ["too many groups", () => new Array<Group>(4).fill(groupOf(task, [""])), "groups: there are 4, and the limit is 3"],
    ["no completions", () => [groupOf(task, [])], "groups[0].completions: there are 0, and at least 1 is needed"],
    [
      "too many completions",
      () => [groupOf(task, [""]), groupOf(task, ["", "", "", "", ""])],
      "groups[1].completions: there are 5, and the limit is 4",
    ],
    [
      "a sample twice",
      () => [{ ...groupOf(task, []), completions: [{ sampleIndex: 1 }, { sampleIndex: 1 }] }],
      "groups[0].completions[1].sample_index: 1 stands there twice",
    ],
    [
      "a long group id",
      () => [groupOf({ ...task, groupId: "x".repeat(257) }, [""])],
      "groups[0].group_id: it has 257 bytes, and the limit is 256",
    ],
  ])("refuses %s as a whole", async (_what, groups, message) => {
    const failure = await failureOf(wire.environments.batchStep({ groups: groups() }));
    expect(failure).toEqual({ code: "INVALID_ARGUMENT", message, field: message.slice(0, message.indexOf(": ")) });
  });
});

describe("StreamSteps", () => {
  type Request = { readonly requestId?: string; readonly groups?: Group[] };
  async function stream(requests: readonly Request[]): Promise<ReadonlyMap<string, StreamStepsResponse>> {
    async function* sent() {
      yield* requests;
    }
    const replies: StreamStepsResponse[] = [];
    for await (const reply of wire.environments.streamSteps(sent())) replies.push(reply);
    const byId = new Map(replies.map((reply) => [reply.requestId, reply]));
    expect(byId.size, "every request gets exactly one reply").toBe(replies.length);
    return byId;
  }

  test("answers each request, matched by its id, as BatchStep would", async () => {
    const groups = [groupOf(task, mixed(task)), groupOf(other, mixed(other))];
    const requests = Array.from({ length: 200 }, (_, i) => ({ requestId: `r${i}`, groups: [groups[i % 2] as Group] }));
    const replies = await stream(requests);
    expect(replies.size).toBe(200);
    const expected = await Promise.all(groups.map(score));
    for (const [i, { requestId }] of requests.entries())
      expect(replies.get(requestId)).toMatchObject({ groups: [expected[i % 2]] });
  });

  test("refuses a request as a whole and goes on", async () => {
    const good = { requestId: "good", groups: [groupOf(task, [right(task)])] };
    const replies = await stream([
      { requestId: "empty" },
      { requestId: "many", groups: new Array<Group>(4).fill(groupOf(task, [""])) },
      good,
      { requestId: "x".repeat(129), groups: good.groups },
      { groups: good.groups },
    ]);
    const failure = (id: string) => [
      replies.get(id)?.groups.length,
      replies.get(id)?.failure?.code,
      replies.get(id)?.failure?.message,
    ];
    expect(failure("empty")).toEqual([0, 3, "groups: there are 0, and at least 1 is needed"]);
    expect(failure("many")).toEqual([0, 3, "groups: there are 4, and the limit is 3"]);
    expect(failure("x".repeat(129))).toEqual([0, 3, "request_id: it has 129 bytes, and the limit is 128"]);
    expect(failure("")).toEqual([0, 3, "request_id: it is required"]);
    expect(replies.get("good")?.failure).toBeUndefined();
    expect(replies.get("good")?.groups[0]?.outcomes.map(rewardOf)).toEqual([1]);
  });

  test("ends when the requests do", async () => {
    expect((await stream([])).size).toBe(0);
  });
});
