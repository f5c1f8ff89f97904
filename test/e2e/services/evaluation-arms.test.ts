/** NextEvaluation and evaluation arms, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { Source, Split, type Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { groupOf, MALFORMED, mixed, right, wrong } from "./answers.ts";
import { type TestRun, configOf, runOf } from "./run-of.ts";
import { failureOf, openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

const held = { id: "held-out", spec: { environment: "countdown" }, tasks: 3 };
const bench = {
  id: "bench/T1",
  tasks: 2,
  numGenerations: 4,
  spec: { environment: "countdown", split: Split.BENCH, difficulty: { case: "level", value: "T1" } },
};

const arms = { evaluationArms: [held, bench] };

interface Asked {
  readonly armId?: string;
  readonly round: bigint;
  readonly cursor?: bigint;
  readonly count?: number;
}

const evaluation = (runId: string, asked: Asked) =>
  wire.curriculum.nextEvaluation({ runId, armId: "held-out", ...asked });

const stateOf = async (runId: string) => (await wire.curriculum.getRun({ runId })).run?.state;

const hashes = (tasks: readonly Task[]) => tasks.map(({ instanceHash }) => instanceHash);

async function rounds(runId: string) {
  const { records } = await wire.curriculum.getHistory({ runId });
  return records.flatMap(({ kind }) => (kind.case === "evaluation" ? [kind.value] : []));
}

describe("NextEvaluation", () => {
  test("gives the tasks of an arm's set, the same in every round and to every process", async () => {
    await runOf(wire, "rounds", arms);
    const { tasks, nextCursor, done, epoch } = await evaluation("rounds", { round: 0n });
    expect({ nextCursor, done, epoch }).toEqual({ nextCursor: 3n, done: true, epoch: 0 });
    expect(
      tasks.map(({ armId, cursor, split, evaluationRound }) => ({ armId, cursor, split, evaluationRound })),
    ).toEqual([0n, 1n, 2n].map((cursor) => ({ armId: "held-out", cursor, split: Split.EVAL, evaluationRound: 0n })));
    expect(tasks[0]).toMatchObject({ runId: "rounds", updateBatch: 0n, armProbability: 0 });
    const again = await evaluation("rounds", { round: 0n, cursor: 1n, count: 1 });
    expect(again).toMatchObject({ tasks: [tasks[1]], nextCursor: 2n, done: false });
    const later = await evaluation("rounds", { round: 2n ** 53n - 1n });
    expect(hashes(later.tasks)).toEqual(hashes(tasks));
    expect(later.tasks[0]?.groupId).not.toBe(tasks[0]?.groupId);
  });

  test("puts prompts into the run's template", async () => {
    await runOf(wire, "template", { ...arms, promptTemplate: { user: "Solve: {prompt}" } });
    const { tasks } = await evaluation("template", { round: 0n });
    expect(tasks[0]?.prompt.at(-1)?.content.startsWith("Solve: ")).toBe(true);
  });

  test("refuses other arms, rounds that are not kept, and what is no position", async () => {
    await runOf(wire, "refusals", arms);
    for (const round of [1n, 2n, 3n]) await evaluation("refusals", { round });
    const refused = async (asked: Asked) => {
      const { code, field, message } = await failureOf(evaluation("refusals", asked));
      return [code, field ?? message];
    };
    expect(await refused({ armId: "easy", round: 9n })).toEqual(["INVALID_ARGUMENT", "arm_id"]);
    expect(await refused({ armId: "", round: 9n })).toEqual(["INVALID_ARGUMENT", "arm_id"]);
    expect(await refused({ round: 2n ** 53n })).toEqual(["INVALID_ARGUMENT", "round"]);
    expect(await refused({ round: 9n, count: 4097 })).toEqual(["INVALID_ARGUMENT", "count"]);
    expect(await refused({ round: 1n })).toEqual([
      ...[
        "OUT_OF_RANGE",
        'round 1 of evaluation arm "held-out" is not stored: round numbers must increase, and the stored rounds are 2 and 3',
      ],
    ]);
    expect((await failureOf(evaluation("no such run", { round: 1n }))).field).toBe("run_id");
    expect((await failureOf(evaluation("nowhere", { round: 1n }))).code).toBe("NOT_FOUND");
  });
});

describe("the scores of an evaluation arm's tasks", () => {
  test("are recorded by Step, BatchStep and StreamSteps, and shown", async () => {
    const run = await runOf(wire, "scores", arms);
    const [one, two, three] = (await evaluation("scores", { round: 7n })).tasks as [Task, Task, Task];
    const status = async (sample: number, text: string) => (await run.step(one, sample, text)).feedback?.status;
    expect(await status(0, right(one))).toBe(FeedbackStatus.RECORDED);
    expect(await status(0, right(one))).toBe(FeedbackStatus.DUPLICATE);
    expect(await status(0, MALFORMED)).toBe(FeedbackStatus.CONFLICTING_COMPLETION);
    expect(await status(2, MALFORMED)).toBe(FeedbackStatus.NOT_RECORDED);
    expect(await status(1, wrong(one))).toBe(FeedbackStatus.RECORDED);
    const { groups } = await wire.environments.batchStep({ groups: [groupOf(two, [right(two), MALFORMED])] });
    expect(groups[0]?.statistics).toMatchObject({ count: 2, mean: 0.5 });
    expect(await rounds("scores")).toMatchObject([{ samples: 4, rewardMean: 0.525, solvedShare: 0.5, closed: false }]);
    async function* sent() {
      yield { requestId: "r", groups: [groupOf(three, [right(three), right(three)])] };
    }
    for await (const reply of wire.environments.streamSteps(sent())) expect(reply.failure).toBeUndefined();
    const sizes = { armId: "held-out", round: 7n, tasks: 3, samples: 6, samplesWithoutReward: 0 };
    const closed = { ...sizes, closed: true, rewardMean: 4.1 / 6, solvedShare: 4 / 6 };
    expect(await rounds("scores")).toMatchObject([closed]);
    const state = await stateOf("scores");
    expect(state?.evaluations).toMatchObject([closed]);
    expect(state).toMatchObject({ cursor: 0n, samplesRecorded: 0n, groupsOutstanding: 0, done: false });
  });

  test("are of groups that cannot be closed, reported or asked for", async () => {
    await runOf(wire, "groups", arms);
    const [task] = (await evaluation("groups", { round: 0n })).tasks;
    const ids = [task?.groupId ?? ""];
    expect(await failureOf(wire.curriculum.closeGroups({ runId: "groups", groupIds: ids }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      field: "group_ids[0]",
      message:
        "group_ids[0]: it is a group of an evaluation arm, and only groups of training arms can be used here: leave it out",
    });
  });

  test("are put back by an import; what was open is asked for again", async () => {
    const run = await runOf(wire, "back", arms);
    const [one, two] = (await evaluation("back", { round: 7n })).tasks as [Task, Task];
    await run.step(one, 0, right(one));
    const { state } = await wire.curriculum.exportRun({ runId: "back" });
    await run.step(two, 0, right(two));
    await wire.curriculum.importRun({ state });
    expect((await run.step(two, 1, right(two))).feedback?.status).toBe(FeedbackStatus.STALE_EPOCH);
    const { tasks, epoch } = await evaluation("back", { round: 7n });
    expect(epoch).toBe(1);
    expect((await run.step(tasks[0] as Task, 0, right(one))).feedback?.status).toBe(FeedbackStatus.DUPLICATE);
    expect((await run.step(tasks[1] as Task, 0, right(two))).feedback?.status).toBe(FeedbackStatus.RECORDED);
    expect(await rounds("back")).toMatchObject([{ samples: 2 }]);
  });
});

/** Returns the tasks of a training, and how each update batch was drawn and went. */
async function trace(run: TestRun, between: (batch: number) => Promise<void>) {
  const tasks: unknown[] = [];
  for (let batch = 0; batch < 5; batch++) {
    const given = await run.next(2 * batch);
    await between(batch);
    await run.answer(given);
    tasks.push(
      given.map((task) => [task.instanceHash, task.armId, task.cursor, task.updateBatch, task.armProbability]),
    );
  }
  const { records } = await wire.curriculum.getHistory({ runId: run.runId });
  const state = await stateOf(run.runId);
  return {
    tasks,
    batches: records.flatMap(({ kind }) => (kind.case === "batch" ? [kind.value] : [])),
    state: { arms: state?.arms, cursor: state?.cursor, samples: state?.samplesRecorded, policy: state?.policy },
  };
}

test("training goes bit for bit as in a run without evaluation", async () => {
  const alone = await trace(await runOf(wire, "alone"), async () => undefined);
  const run = await runOf(wire, "beside", arms);
  const beside = await trace(run, async (batch) => {
    const { tasks } = await evaluation("beside", { armId: "bench/T1", round: BigInt(batch) });
    // Every other round is left unfinished.
    const answered = tasks.slice(batch % 2).map((task) => groupOf(task, mixed(task)));
    await wire.environments.batchStep({ groups: answered });
  });
  expect(beside).toEqual(alone);
  expect((await rounds("beside")).map(({ closed, cursor }) => [closed, cursor])).toEqual(
    [0, 1, 2, 3, 4].map((batch) => [batch % 2 === 0, BigInt(2 * batch + 2)]),
  );
});

describe("CreateRun refuses evaluation arms", () => {
  const refused = async (over: Readonly<Record<string, unknown>>) => {
    const evaluationArms = [{ ...held, ...over }];
    const { field } = await failureOf(
      wire.curriculum.createRun({ runId: "refused", config: configOf({ evaluationArms }) }),
    );
    return field;
  };

  test.each([
    ["of the train split", { spec: { environment: "countdown", split: Split.TRAIN } }, "spec.split"],
    ["without tasks", { tasks: 0 }, "tasks"],
    ["with an arm's id", { id: "easy" }, "id"],
    ["with too many generations", { numGenerations: 2000 }, "num_generations"],
    ["without a spec", { spec: undefined }, "spec"],
    [
      "of more tasks than a pool has rows",
      { tasks: 65_536, numGenerations: 1, spec: { environment: "countdown", source: Source.REAL } },
      "tasks",
    ],
  ])("%s", async (_, over, field) => {
    expect(await refused(over)).toBe(`config.evaluation_arms[0].${field}`);
  });

  test("that are larger than what is kept", async () => {
    expect(await refused({ tasks: 65_536, numGenerations: 8 })).toBe("config.evaluation_arms");
  });
});
