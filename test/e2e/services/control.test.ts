/** UpdatePolicy, SetWeights, Pause, Resume, Advance and GetHistory, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { BatchRecord, ControlRecord, StageSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { BANDIT, MIXTURE, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

async function historyOf(runId: string) {
  const { records } = await wire.curriculum.getHistory({ runId });
  const batches = records.flatMap(({ kind }): BatchRecord[] => (kind.case === "batch" ? [kind.value] : []));
  const controls = records.flatMap(({ kind }): ControlRecord[] => (kind.case === "control" ? [kind.value] : []));
  return { records, batches, controls };
}

const stateOf = async (runId: string) => (await wire.curriculum.getRun({ runId })).run?.state;

describe("UpdatePolicy", () => {
  test("applies from the first update batch not yet issued, and is kept in the history", async () => {
    const run = await runOf(wire, "policy");
    await run.answer(await run.next(0));
    await run.next(2, 1);
    const policy = {
      kind: { case: "bandit", value: { epsilon: 1, rule: { case: "emaSoftmax", value: { tau: 0.5 } } } },
    } as const;
    const { appliesFromCursor } = await wire.curriculum.updatePolicy({ runId: "policy", policy });
    // Batch 1 is drawn whole, though only half of it was given out.
    expect(appliesFromCursor).toBe(4n);
    const before = (await stateOf("policy"))?.arms.map(({ value }) => value);
    await run.answer(await run.next(2));
    await run.next(4);
    const { batches, controls, records } = await historyOf("policy");
    expect(records.map(({ kind }) => kind.case)).toEqual(["batch", "batch", "control", "batch"]);
    expect(controls[0]).toMatchObject({ kind: "policy", cursor: 4n, reason: "" });
    expect(controls[0]?.policy?.kind).toMatchObject({
      case: "bandit",
      value: { epsilon: 1, rule: { value: { tau: 0.5, alpha: 0.15 } } },
    });
    // ε = 1 spreads evenly, whatever the values; they were kept, for both policies are bandits.
    expect(batches[2]?.probabilities).toEqual([0.5, 0.5]);
    expect(batches[1]?.probabilities).not.toEqual([0.5, 0.5]);
    expect(before?.some((value) => value > 0)).toBe(true);
    expect(batches[2]?.values.every((value, i) => value >= (before?.[i] ?? 0) * 0.85)).toBe(true);
  });

  test("changes the kind of policy; a mixture does not wait for feedback", async () => {
    const run = await runOf(wire, "kind");
    await run.next(0);
    expect((await failureOf(run.next(2))).code).toBe("UNAVAILABLE");
    await wire.curriculum.updatePolicy({ runId: "kind", policy: MIXTURE });
    expect(await run.next(2)).toHaveLength(2);
    expect((await stateOf("kind"))?.policy?.kind.case).toBe("mixture");
  });

  test("refuses at once what no batch can meet", async () => {
    await runOf(wire, "cannot");
    const call = wire.curriculum.updatePolicy({
      runId: "cannot",
      policy: { ...BANDIT, constraints: { realShareMin: 0.5 } },
    });
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field: "policy.constraints.real_share_min" });
    expect((await stateOf("cannot"))?.version).toBe(0n);
  });

  test.each([
    [{ runId: "r" }, "policy", "must be set"],
    [{ runId: "r", policy: {} }, "policy.kind", "must be set"],
    [{ runId: "", policy: MIXTURE }, "run_id", "must be set"],
  ])("refuses %o", async (request, field, message) => {
    await runOf(wire, "r");
    const failure = await failureOf(wire.curriculum.updatePolicy(request));
    expect(failure).toEqual({ code: "INVALID_ARGUMENT", field, message: expect.stringContaining(message) as string });
  });
});

describe("SetWeights", () => {
  test("applies from the first update batch not yet issued; arms left out keep theirs", async () => {
    const run = await runOf(wire, "weights", { policy: MIXTURE });
    await run.next(0);
    const set = await wire.curriculum.setWeights({ runId: "weights", weights: { hard: 3 } });
    expect(set.appliesFromCursor).toBe(2n);
    await run.next(2);
    await wire.curriculum.setWeights({ runId: "weights", weights: { easy: 0 } });
    expect((await run.next(4, 6)).map(({ armId }) => armId)).toEqual(new Array(6).fill("hard"));
    const { batches, controls } = await historyOf("weights");
    expect(batches.slice(0, 3).map(({ probabilities }) => probabilities)).toEqual([
      [0.5, 0.5],
      [0.25, 0.75],
      [0, 1],
    ]);
    expect(controls.map(({ kind, cursor, weights }) => [kind, cursor, weights])).toEqual([
      ["weights", 2n, { easy: 1, hard: 3 }],
      ["weights", 4n, { easy: 0, hard: 3 }],
    ]);
  });

  test.each([
    [{ esay: 1 }, 'weights["esay"]: is not an arm of the run'],
    [{ easy: -1 }, 'weights["easy"]: must be in [0, 1000000000000], not -1'],
    [{ easy: NaN }, 'weights["easy"]: must be in [0, 1000000000000], not NaN'],
    [{ easy: 0, hard: 0 }, "weights: leave no arm that can be drawn: at least one must be above 0"],
    [{ ["x".repeat(65)]: 1 }, "weights: must have at most 64 bytes; got 65"],
    [{ constructor: 1 }, 'weights["constructor"]: is not an arm of the run'],
  ])("refuses %o", async (weights, message) => {
    await runOf(wire, "refused", { policy: MIXTURE });
    const failure = await failureOf(wire.curriculum.setWeights({ runId: "refused", weights }));
    expect([failure.code, failure.message]).toEqual(["INVALID_ARGUMENT", message]);
  });

  test("of 0 takes an arm out of a bandit, which keeps what it has learned of the others", async () => {
    const run = await runOf(wire, "out");
    await run.answer(await run.next(0, 2));
    await run.answer(await run.next(2, 2));
    const before = (await stateOf("out"))?.arms.map(({ value }) => value);
    await wire.curriculum.setWeights({ runId: "out", weights: { easy: 0 } });
    expect((await run.next(4, 2)).map(({ armId }) => armId)).toEqual(["hard", "hard"]);
    const after = await stateOf("out");
    expect(after?.arms.map(({ probability }) => probability)).toEqual([0, 1]);
    expect(before?.some((value) => value > 0)).toBe(true);
    const refused = await failureOf(wire.curriculum.setWeights({ runId: "out", weights: { hard: 0 } }));
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", field: "weights" });
    await wire.curriculum.setWeights({ runId: "out", weights: { easy: 0.001 } });
    await run.answer(await run.next(4, 2));
    await run.next(6, 2);
    // A bandit only reads whether a weight is above 0, so the arm returns with its former values.
    const { batches } = await historyOf("out");
    expect(batches.at(-1)?.probabilities.every((share) => share >= 0.05)).toBe(true);
    expect(batches.at(-1)?.values[0]).toBe(batches.at(-2)?.values[0]);
  });

  test("works for arms with names that objects have already", async () => {
    const spec = { environment: "countdown" };
    const arms = ["constructor", "__proto__", "toString"].map((id) => ({ id, spec }));
    await runOf(wire, "names", { policy: MIXTURE, arms });
    await wire.curriculum.setWeights({ runId: "names", weights: Object.fromEntries([["__proto__", 2]]) });
    expect((await stateOf("names"))?.arms.map(({ armId, weight }) => [armId, weight])).toEqual([
      ["constructor", 1],
      ["__proto__", 2],
      ["toString", 1],
    ]);
    const { controls } = await historyOf("names");
    expect(Object.entries(controls[0]?.weights ?? {})).toHaveLength(3);
  });
});

describe("Pause and Resume", () => {
  test("stop and go on with update batches; those issued go on", async () => {
    const run = await runOf(wire, "pause", { policy: MIXTURE });
    const issued = await run.next(0);
    expect((await wire.curriculum.pause({ runId: "pause" })).appliesFromCursor).toBe(2n);
    const { pausedBy, pausedAt } = (await stateOf("pause")) ?? {};
    const since = pausedAt && toJson(TimestampSchema, pausedAt);
    expect([pausedBy, Date.now() - Date.parse(since ?? "") < 600_000]).toEqual(["", true]);
    expect(await failureOf(run.next(2))).toEqual({
      code: "UNAVAILABLE",
      message: `run "pause" was paused at ${since}, and draws no update batch until \`gradus run resume pause\``,
      retryDelayMs: 1000,
      reason: "PAUSED",
    });
    // An issued task can be asked for again, and scored.
    expect(await run.next(0, 10)).toEqual(issued);
    await run.answer(issued);
    expect((await stateOf("pause"))?.paused).toBe(true);
    // Pausing a paused run changes nothing.
    const { version } = (await stateOf("pause")) ?? {};
    await wire.curriculum.pause({ runId: "pause" });
    expect((await stateOf("pause"))?.version).toBe(version);
    expect((await wire.curriculum.resume({ runId: "pause" })).appliesFromCursor).toBe(2n);
    expect(await run.next(2)).toHaveLength(2);
    const { controls } = await historyOf("pause");
    expect(controls.map(({ kind, cursor }) => [kind, cursor])).toEqual([
      ["pause", 2n],
      ["resume", 2n],
    ]);
  });

  test("are refused for runs that are not there", async () => {
    for (const call of [wire.curriculum.pause, wire.curriculum.resume])
      expect((await failureOf(call({ runId: "nobody" }))).code).toBe("NOT_FOUND");
  });
});

describe("a staged policy", () => {
  type StageInit = MessageInitShape<typeof StageSchema>;
  const only = (id: string, more: StageInit = {}): StageInit => ({ weights: { [id]: 1 }, ...more });
  const stages = (...of: StageInit[]) => ({ kind: { case: "staged", value: { stages: of } } }) as const;
  const share = (value: number): StageInit => ({ extent: { case: "share", value } });
  const armsOf = (tasks: readonly { readonly armId: string }[]) => tasks.map(({ armId }) => armId);

  test("goes through its stages by their shares of the run, and does not wait for feedback", async () => {
    const policy = stages(only("easy", share(0.3)), only("hard", share(0.4)), {});
    const run = await runOf(wire, "shares", { policy, length: 20n });
    // 30% of 20 tasks are 6, and 40% are 8.
    const drawn = armsOf(await run.next(0, 20));
    expect(drawn.slice(0, 14)).toEqual([...new Array<string>(6).fill("easy"), ...new Array<string>(8).fill("hard")]);
    const { batches } = await historyOf("shares");
    expect(batches.slice(7).map(({ probabilities }) => probabilities)).toEqual(new Array(3).fill([0.5, 0.5]));
  });

  test("by numbers of tasks and by Advance, each from the next batch not yet issued", async () => {
    const tasks: StageInit = { extent: { case: "tasks", value: 3n } };
    const policy = stages(only("easy", tasks), only("hard"), only("easy"));
    const run = await runOf(wire, "steps", { policy });
    // The second batch begins inside of the first stage: it is the first stage's whole.
    expect(armsOf(await run.next(0, 8))).toEqual(["easy", "easy", "easy", "easy", "hard", "hard", "hard", "hard"]);
    expect((await wire.curriculum.advance({ runId: "steps" })).appliesFromCursor).toBe(8n);
    expect(armsOf(await run.next(6, 4))).toEqual(["hard", "hard", "easy", "easy"]);
    const failure = await failureOf(wire.curriculum.advance({ runId: "steps" }));
    expect(failure).toEqual({
      code: "FAILED_PRECONDITION",
      message: "the policy is already in the last of its 3 stages",
    });
    const { controls } = await historyOf("steps");
    expect(controls.map(({ kind, cursor }) => [kind, cursor])).toEqual([["advance", 8n]]);
    expect((await stateOf("steps"))?.policy?.kind.case).toBe("staged");
  });

  test("goes on from an export and after another staged policy, and begins anew after a policy without stages", async () => {
    const policy = stages(only("easy"), only("hard"));
    const run = await runOf(wire, "moved", { policy: MIXTURE });
    await run.next(0, 4);
    await wire.curriculum.updatePolicy({ runId: "moved", policy });
    expect(armsOf(await run.next(4, 4))).toEqual(["easy", "easy", "easy", "easy"]);
    await wire.curriculum.advance({ runId: "moved" });
    const { state } = await wire.curriculum.exportRun({ runId: "moved" });
    await wire.curriculum.importRun({ state });
    expect(armsOf(await run.next(8, 2))).toEqual(["hard", "hard"]);
    await wire.curriculum.updatePolicy({ runId: "moved", policy });
    expect(armsOf(await run.next(10, 2))).toEqual(["hard", "hard"]);
    await wire.curriculum.updatePolicy({ runId: "moved", policy: MIXTURE });
    await wire.curriculum.updatePolicy({ runId: "moved", policy });
    expect(armsOf(await run.next(12, 2))).toEqual(["easy", "easy"]);
  });

  test("refuses weights that leave a stage without an arm", async () => {
    await runOf(wire, "empty", { policy: stages(only("easy"), only("hard")) });
    const failure = await failureOf(wire.curriculum.setWeights({ runId: "empty", weights: { hard: 0 } }));
    expect(failure).toEqual({
      code: "INVALID_ARGUMENT",
      field: "weights",
      message: "weights: leave no arm that can be drawn in stage 2 of the policy: at least one must be above 0",
    });
  });
});

test("Advance is refused under a policy without stages", async () => {
  await runOf(wire, "stages");
  const failure = await failureOf(wire.curriculum.advance({ runId: "stages" }));
  expect(failure).toEqual({
    code: "FAILED_PRECONDITION",
    message: 'policy "bandit" has no stages or tiers to advance to',
  });
});

describe("GetHistory", () => {
  test("gives a record for each update batch, which fills as its groups close", async () => {
    const run = await runOf(wire, "history");
    const tasks = await run.next(0);
    const drawn = (await historyOf("history")).batches[0];
    expect(drawn).toMatchObject({ batch: 0n, cursor: 0n, probabilities: [0.5, 0.5], values: [0, 0], closed: false });
    expect(drawn?.counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(drawn?.rewardMean).toBeUndefined();
    await run.answer(tasks.slice(0, 1));
    const half = (await historyOf("history")).batches[0];
    expect(half).toMatchObject({ closed: false, solvedShare: 0.5 });
    expect(half?.rewardMean).toBeCloseTo(0.55, 12);
    await run.answer(tasks.slice(1));
    expect((await historyOf("history")).batches[0]).toMatchObject({ closed: true, solvedShare: 0.5 });
  });

  test("pages", async () => {
    const run = await runOf(wire, "pages", { policy: MIXTURE });
    await run.next(0, 10);
    const cursors: bigint[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page = await wire.curriculum.getHistory({ runId: "pages", pageSize: 2, pageToken });
      for (const { kind } of page.records) if (kind.case === "batch") cursors.push(kind.value.cursor);
      pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
    }
    expect(cursors).toEqual([0n, 2n, 4n, 6n, 8n]);
  });

  test.each([
    [{ runId: "nobody" }, "NOT_FOUND", 'there is no run "nobody"'],
    [{ runId: "r", pageSize: 10_001 }, "INVALID_ARGUMENT", "page_size: must be from 1 to 10000; got 10001"],
    [
      { runId: "r", pageToken: "YQ" },
      "INVALID_ARGUMENT",
      "page_token: this server did not issue it: give back next_page_token unchanged",
    ],
  ])("refuses %o", async (request, code, message) => {
    expect(await failureOf(wire.curriculum.getHistory(request))).toMatchObject({ code, message });
  });
});
