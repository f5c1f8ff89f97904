/** BatchStep and StreamSteps, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamStepsResponse } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type GroupOutcome, NoRewardReason, type Outcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { type Group, groupOf, mixed, noRewardOf, rewardOf, right, wrong } from "./answers.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

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

async function score(group: Group): Promise<GroupOutcome> {
  const { groups } = await wire.environments.batchStep({ groups: [group] });
  return groups[0] as GroupOutcome;
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
    ["no groups", () => [], "groups: must have at least 1 entry; got 0"],
    [
      "too many groups",
      () => new Array<Group>(4).fill(groupOf(task, [""])),
      "groups: must have at most 3 entries; got 4",
    ],
    ["no completions", () => [groupOf(task, [])], "groups[0].completions: must have at least 1 entry; got 0"],
    [
      "too many completions",
      () => [groupOf(task, [""]), groupOf(task, ["", "", "", "", ""])],
      "groups[1].completions: must have at most 4 entries; got 5",
    ],
    [
      "a sample twice",
      () => [{ ...groupOf(task, []), completions: [{ sampleIndex: 1 }, { sampleIndex: 1 }] }],
      "groups[0].completions[1].sample_index: 1 belongs to two completions: give each its own",
    ],
    [
      "a long group id",
      () => [groupOf({ ...task, groupId: "x".repeat(257) }, [""])],
      "groups[0].group_id: must have at most 256 bytes; got 257",
    ],
  ])("refuses %s as a whole", async (_what, groups, message) => {
    const failure = await failureOf(wire.environments.batchStep({ groups: groups() }));
    expect(failure).toEqual({ code: "INVALID_ARGUMENT", message, field: message.slice(0, message.indexOf(": ")) });
  });
});

describe("StreamSteps", () => {
  type Request = { readonly requestId?: string; readonly groups?: Group[]; readonly more?: Request[] };
  async function messagesTo(requests: readonly Request[]): Promise<readonly StreamStepsResponse[]> {
    async function* sent() {
      yield* requests;
    }
    return Array.fromAsync(wire.environments.streamSteps(sent()));
  }
  async function stream(requests: readonly Request[]): Promise<ReadonlyMap<string, StreamStepsResponse>> {
    const replies = (await messagesTo(requests)).flatMap((message) => [message, ...message.more]);
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
    expect(failure("empty")).toEqual([0, 3, "groups: must have at least 1 entry; got 0"]);
    expect(failure("many")).toEqual([0, 3, "groups: must have at most 3 entries; got 4"]);
    expect(failure("x".repeat(129))).toEqual([0, 3, "request_id: must have at most 128 bytes; got 129"]);
    expect(failure("")).toEqual([0, 3, "request_id: must be set"]);
    expect(replies.get("good")?.failure).toBeUndefined();
    expect(replies.get("good")?.groups[0]?.outcomes.map(rewardOf)).toEqual([1]);
  });

  test("ends when the requests do", async () => {
    expect((await stream([])).size).toBe(0);
  });

  test("answers requests that come in one message each by itself, in fewer messages", async () => {
    const requests = Array.from({ length: 64 }, (_, i) => ({
      requestId: `r${i}`,
      groups: [groupOf(task, [right(task)])],
    }));
    const wrongOne = { requestId: "wrong", groups: [] };
    const [first, ...more] = requests.slice(1);
    const together = [{ ...first, more: [wrongOne, ...more] }, requests[0] as Request];
    const messages = await messagesTo(together);
    expect(messages.length).toBeLessThan(requests.length);
    // Each has the outcomes of one group at most.
    for (const { more: others } of messages) expect(others.length).toBeLessThanOrEqual(4);
    for (const { moreBytes, more: others } of messages) {
      expect(moreBytes).toBeGreaterThan(8 * 1024);
      for (const other of others) expect([other.moreBytes, other.more]).toEqual([0, []]);
    }
    const replies = await stream(together);
    expect(replies.size).toBe(65);
    expect(replies.get("wrong")?.failure?.message).toBe("groups: must have at least 1 entry; got 0");
    for (const { requestId } of requests)
      expect(replies.get(requestId)?.groups[0]?.outcomes.map(rewardOf)).toEqual([1]);
  });

  test("answers in messages of one where the client sends no more", async () => {
    const requests = Array.from({ length: 20 }, (_, i) => ({ requestId: `r${i}`, groups: [groupOf(task, [""])] }));
    for (const { more } of await messagesTo(requests)) expect(more).toEqual([]);
  });

  test("ends at a message of too many requests, or of requests within requests", async () => {
    const one = { requestId: "a", groups: [groupOf(task, [""])] };
    expect(await failureOf(messagesTo([{ ...one, more: new Array<Request>(64).fill(one) }]))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "more: must have at most 63 entries; got 64",
    });
    expect(await failureOf(messagesTo([{ ...one, more: [{ ...one, more: [one] }] }]))).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "more[0].more: must have at most 0 entries; got 1",
    });
  });
});
