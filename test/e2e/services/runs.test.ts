/** CreateRun, GetRun, ListRuns and DeleteRun, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnswerFormat, Thinking } from "../../../proto/gen/gradus/v1/task_pb.js";
import { rewardOf } from "./answers.ts";
import { type Config, MIXTURE, configOf, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire({ maxCompletions: "16" });
});
afterAll(() => wire[Symbol.asyncDispose]());

const softmax = (value: object) => ({ rule: { case: "emaSoftmax", value } });
const bandit = (value: object, constraints: object = {}) => ({ kind: { case: "bandit", value }, constraints });

const staged = (stages: readonly object[]) => ({ kind: { case: "staged", value: { stages } } });
const share = (value: number) => ({ extent: { case: "share", value } });

describe("CreateRun", () => {
  test("creates a run, and gives it as it is to every rank that asks again", async () => {
    const request = { runId: "ranks", config: configOf() };
    const replies = await Promise.all(Array.from({ length: 8 }, () => wire.curriculum.createRun(request)));
    expect(replies.filter(({ created }) => created)).toHaveLength(1);
    const [first] = replies;
    for (const { run } of replies) expect(run).toEqual(first?.run);
    expect(first?.run).toMatchObject({
      runId: "ranks",
      config: { seed: 5n, numGenerations: 2, promptsPerUpdate: 2 },
      state: { epoch: 0, version: 0n, cursor: 0n, batchesDrawn: 0n, groupsOutstanding: 0, paused: false, done: false },
    });
    const arms = first?.run?.state?.arms ?? [];
    expect(arms.map(({ armId, probability, value, weight }) => [armId, probability, value, weight])).toEqual([
      ["easy", 0.5, 0, 1],
      ["hard", 0.5, 0, 1],
    ]);
    expect(arms.map(({ recentRewardMean }) => recentRewardMean)).toEqual([undefined, undefined]);
    expect(first?.run?.createTime).toBeDefined();
    expect((await wire.curriculum.getRun({ runId: "ranks" })).run).toEqual(first?.run);
  });

  test("takes a default that is spelled out for the default", async () => {
    await wire.curriculum.createRun({ runId: "defaults", config: configOf({ lag: { case: undefined } }) });
    const spelled = {
      lag: { case: "feedbackLag", value: 1 },
      policy: bandit({ ...softmax({ alpha: 0.15, tau: 0.25 }), signal: 1, epsilon: 0.1 }, { hardWarmupBatches: 5 }),
      feedbackSource: 1,
      timeToLive: { seconds: 30n * 24n * 3600n },
    };
    expect((await wire.curriculum.createRun({ runId: "defaults", config: configOf(spelled) })).created).toBe(false);
  });

  test("issues an arm's tasks with the thinking that its spec declares", async () => {
    const [easy, hard] = configOf().arms ?? [];
    const prefilled = { ...hard, spec: { ...hard?.spec, thinking: Thinking.PREFILLED } } as Partial<typeof hard>;
    const config = configOf({ arms: [easy, prefilled] as NonNullable<Config["arms"]>, policy: MIXTURE });
    await wire.curriculum.createRun({ runId: "thinking", config });
    const { tasks } = await wire.curriculum.nextBatch({ runId: "thinking", cursor: 0n, count: 16 });
    const declared = new Set(tasks.map(({ armId, thinking }) => `${armId} ${Thinking[thinking]}`));
    expect([...declared].sort()).toEqual(["easy REQUIRED", "hard PREFILLED"]);
  });

  const arms = configOf().arms ?? [];
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ["seed", { seed: 6n }],
    ["num_generations", { numGenerations: 3 }],
    ["prompts_per_update", { promptsPerUpdate: 3 }],
    ["length", { length: 100n }],
    ["feedback_lag", { lag: { case: "feedbackLag", value: 2 } }],
    ["feedback_source", { feedbackSource: 2 }],
    ["policy", { policy: MIXTURE }],
    ["policy.bandit.ema_softmax.alpha", { policy: bandit(softmax({ alpha: 0.5 })) }],
    ["policy.constraints.hard_share_min", { policy: bandit({}, { hardShareMin: 0.5 }) }],
    ["arms", { arms: arms.slice(0, 1) }],
    ["arms[1].weight", { arms: [arms[0], { ...arms[1], weight: 2 }] }],
    ["arms[1].hard", { arms: [arms[0], { ...arms[1], hard: false }] }],
    ["group_timeout", { groupTimeout: { seconds: 60n } }],
    ["time_to_live", { timeToLive: { seconds: 60n } }],
  ])("refuses another configuration, naming %s", async (field, over) => {
    await wire.curriculum.createRun({ runId: "taken", config: configOf() });
    const failure = await failureOf(wire.curriculum.createRun({ runId: "taken", config: configOf(over) }));
    expect(failure.code).toBe("ALREADY_EXISTS");
    expect(failure.message).toContain(field);
  });

  const arm = arms[0];
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["config.arms", { arms: [] }, /must have at least 1 entry; got 0/],
    ["config.arms", { arms: new Array(1025).fill(arm) }, /must have at most 1024 entries; got 1025/],
    ["config.arms[1].id", { arms: [arm, arm] }, /"easy" is the id of an earlier arm/],
    ["config.arms[0].id", { arms: [{ ...arm, id: "no spaces" }] }, /1 to 64 of the characters/],
    ["config.arms[0].id", { arms: [{ ...arm, id: "x".repeat(65) }] }, /1 to 64 of the characters/],
    ["config.arms[0].weight", { arms: [{ ...arm, weight: -1 }] }, /not -1/],
    ["config.arms[0].weight", { arms: [{ ...arm, weight: NaN }] }, /not NaN/],
    ["config.arms[0].spec", { arms: [{ id: "a" }] }, /must be set/],
    ["config.arms[0].spec.environment", { arms: [{ id: "a", spec: {} }] }, /must be set/],
    [
      "config.arms[0].spec.answer_format",
      { arms: [{ id: "a", spec: { ...arm?.spec, answerFormat: 9 } }] },
      /countdown accepts only think_answer/,
    ],
    [
      "config.arms[0].spec.reward_scheme.name",
      { arms: [{ id: "a", spec: { ...arm?.spec, rewardScheme: { name: "grded" } } }] },
      /grded/,
    ],
    ["config.arms[0].spec.split", { arms: [{ id: "a", spec: { ...arm?.spec, split: 2 } }] }, /SPLIT_TRAIN/],
    ["config.policy", { policy: undefined }, /must be set/],
    [
      "config.policy.kind",
      { policy: {} },
      /give one of frontier, mixture, staged, replay, competence, bandit, forgetting/,
    ],
    [
      "config.policy.bandit.ema_softmax.alpha",
      { policy: bandit(softmax({ alpha: 0 })) },
      /above 0 and at most 1, not 0/,
    ],
    ["config.policy.bandit.ema_softmax.tau", { policy: bandit(softmax({ tau: -1 })) }, /above 0/],
    ["config.policy.bandit.epsilon", { policy: bandit({ epsilon: 1.5 }) }, /in \[0, 1\], not 1.5/],
    [
      "config.policy.named.name",
      { policy: { kind: { case: "named", value: { name: "stagd" } } } },
      /there is no policy 'stagd'; did you mean 'staged'/,
    ],
    ["config.policy.bandit.signal", { policy: bandit({ signal: 9 }) }, /9 is not a value of this enum/],
    ["config.policy.staged.stages", { policy: staged([]) }, /must have 1 to 64 entries; got 0/],
    [
      "config.policy.staged.stages[1].share",
      { policy: staged([{}, share(0.5)]) },
      /length, which is 0: set the length/,
    ],
    ["config.policy.staged.stages[0].share", { policy: staged([share(0), {}]), length: 8n }, /above 0 and at most 1/],
    ["config.policy.staged.stages[1].share", { policy: staged([share(0.6), share(0.6)]), length: 8n }, /above 1/],
    ["config.policy.staged.stages[0].tasks", { policy: staged([{ extent: { case: "tasks", value: 0n } }]) }, /not 0/],
    ['config.policy.staged.stages[0].weights["T9"]', { policy: staged([{ weights: { T9: 1 } }]) }, /not an arm/],
    ['config.policy.staged.stages[0].weights["easy"]', { policy: staged([{ weights: { easy: -1 } }]) }, /not -1/],
    ["config.policy.staged.stages[0].weights", { policy: staged([{ weights: { easy: 0 } }]) }, /must not all be 0/],
    ["config.policy.constraints.real_share_min", { policy: bandit({}, { realShareMin: 1.1 }) }, /in \[0, 1\]/],
    ["config.num_generations", { numGenerations: 0 }, /from 1 to 16/],
    ["config.num_generations", { numGenerations: 17 }, /from 1 to 16/],
    ["config.prompts_per_update", { promptsPerUpdate: 0 }, /in \[1, 4096\], not 0/],
    ["config.prompts_per_update", { promptsPerUpdate: 4097 }, /in \[1, 4096\], not 4097/],
    ["config.feedback_lag", { lag: { case: "feedbackLag", value: 65 } }, /in \[0, 64\], not 65/],
    ["config.feedback_source", { feedbackSource: 9 }, /9 is not a value of this enum/],
    ["config.length", { length: 2n ** 63n }, /2\^53/],
    ["config.group_timeout", { groupTimeout: { nanos: 0 } }, /must be from 1/],
    ["config.group_timeout", { groupTimeout: { seconds: 1n, nanos: -1 } }, /nanos from 0/],
    ["config.time_to_live", { timeToLive: { seconds: 2n ** 62n } }, /seconds must be from 0 to 315576000000/],
  ])("refuses a bad %s", async (field, over, message) => {
    const failure = await failureOf(wire.curriculum.createRun({ runId: "bad", config: configOf(over) }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field });
    expect(failure.message).toMatch(message);
    expect(failure.message.startsWith(`${field}: `)).toBe(true);
  });

  test.each<[string, object, Partial<Config>]>([
    ["real_share_min", { realShareMin: 0.5 }, {}],
    ["synthetic_share_max", { syntheticShareMax: 0.5 }, {}],
    ["hard_share_min", { hardShareMin: 0.5 }, { arms: arms.slice(0, 1) }],
    // A mixture never draws an arm of weight 0.
    [
      "hard_share_min",
      { hardShareMin: 0.5 },
      { arms: [arms[0], { ...arms[1], weight: 0 }] as NonNullable<Config["arms"]> },
    ],
  ])("refuses a %s that no batch can meet", async (name, constraints, over) => {
    const policy = { ...MIXTURE, constraints };
    const failure = await failureOf(wire.curriculum.createRun({ runId: "bad", config: configOf({ ...over, policy }) }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field: `config.policy.constraints.${name}` });
  });

  test.each([
    ["", "must be set"],
    ["a b", "got '\u0020'"],
    ["a/b", "got '/'"],
    ["x".repeat(129), "must have at most 128 bytes; got 129"],
  ])("refuses the id '%s'", async (runId, message) => {
    const failure = await failureOf(wire.curriculum.createRun({ runId, config: configOf() }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field: "run_id" });
    expect(failure.message).toContain(message);
  });

  test("needs a configuration", async () => {
    const failure = await failureOf(wire.curriculum.createRun({ runId: "bad" }));
    expect(failure).toEqual({ code: "INVALID_ARGUMENT", field: "config", message: "config: must be set" });
  });
});

test("an arm's reward scheme and answer format count before the run's", async () => {
  const spec = { environment: "np/clique" };
  const run = await runOf(wire, "mixed", {
    arms: [
      { id: "runs", spec },
      { id: "own", spec: { ...spec, answerFormat: AnswerFormat.BOXED, rewardScheme: { name: "binary" } } },
    ],
    policy: MIXTURE,
    answerFormat: AnswerFormat.ANSWER_TAG,
    rewardScheme: { name: "optimal_only" },
  });
  const tasks = await run.next(0, 16);
  const formats = new Map(tasks.map(({ armId, answerFormat }) => [armId, answerFormat]));
  expect(formats).toEqual(
    new Map([
      ["runs", AnswerFormat.ANSWER_TAG],
      ["own", AnswerFormat.BOXED],
    ]),
  );
  // A single vertex is a clique, but not the largest one, so its reward depends on the scheme.
  const earned = await Promise.all(
    tasks.map(async (task) => {
      const text = task.armId === "own" ? "\\boxed{[0]}" : "<answer>[0]</answer>";
      return [task.armId, rewardOf(await run.step(task, 0, text))] as const;
    }),
  );
  expect(new Map(earned)).toEqual(
    new Map([
      ["runs", 1],
      ["own", 2],
    ]),
  );
});

describe("ListRuns", () => {
  test("lists runs by id, in pages", async () => {
    await using own = await openWire();
    const ids = ["b", "a.2", "a", "Z", "a-1"];
    for (const id of ids) await runOf(own, id);
    const all = await own.curriculum.listRuns({});
    // Runs are sorted by the bytes of their ids.
    expect(all.runs.map(({ runId }) => runId)).toEqual(["Z", "a", "a-1", "a.2", "b"]);
    expect(all.nextPageToken).toBe("");
    expect(all.runs[0]).toEqual((await own.curriculum.getRun({ runId: "Z" })).run);
    const paged: string[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page = await own.curriculum.listRuns({ pageSize: 2, pageToken });
      paged.push(...page.runs.map(({ runId }) => runId));
      pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
    }
    expect(paged).toEqual(["Z", "a", "a-1", "a.2", "b"]);
  });

  test.each([
    [{ pageSize: 1001 }, "page_size"],
    [{ pageToken: "?" }, "page_token"],
  ])("refuses %o", async (request, field) => {
    const failure = await failureOf(wire.curriculum.listRuns(request));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field });
  });
});

describe("DeleteRun", () => {
  test("deletes a run and all that is kept of it; its id is free again", async () => {
    const { curriculum, environments } = wire;
    const run = await runOf(wire, "gone");
    const [task] = await run.next(0);
    if (task === undefined) throw new Error("no task");
    await curriculum.deleteRun({ runId: "gone" });
    const missing = { code: "NOT_FOUND", message: 'there is no run "gone"' };
    for (const call of [curriculum.getRun, curriculum.deleteRun, curriculum.nextBatch, curriculum.exportRun])
      expect(await failureOf(call({ runId: "gone" }))).toEqual(missing);
    // Scoring always answers.
    const { outcome } = await environments.step({ taskId: task.taskId, groupId: task.groupId, completion: "?" });
    expect(outcome?.result.case).toBe("score");
    expect(outcome?.feedback?.detail).toBe('there is no run "gone"');
    expect((await curriculum.createRun({ runId: "gone", config: configOf({ seed: 9n }) })).created).toBe(true);
  });
});
