/** NextBatch, point by point from the contract's comments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Split, Source } from "../../../proto/gen/gradus/v1/task_pb.js";
import { wrong } from "./answers.ts";
import { MIXTURE, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

const nothing = { seconds: 0n };

describe("NextBatch", () => {
  test("gives tasks that say where in the run they are", async () => {
    await runOf(wire, "places");
    const batch = await wire.curriculum.nextBatch({ runId: "places" });
    expect(batch).toMatchObject({ nextCursor: 2n, done: false, epoch: 0 });
    const { incarnation } = (await wire.curriculum.getRun({ runId: "places" })).run?.state ?? {};
    expect(incarnation).toMatch(/^[\w-]{12}$/);
    expect(batch.tasks.map(({ cursor, groupId, runId }) => [cursor, groupId, runId])).toEqual([
      [0n, `places/${incarnation}/0`, "places"],
      [1n, `places/${incarnation}/1`, "places"],
    ]);
    for (const task of batch.tasks) {
      expect(task).toMatchObject({ environment: "countdown", split: Split.TRAIN, source: Source.SYNTHETIC });
      expect(["easy", "hard"]).toContain(task.armId);
      expect(task.level).toBe(task.armId === "easy" ? "T0" : "T1");
      expect(task.prompt.length).toBeGreaterThan(0);
      expect(task.instanceHash).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  test("gives the same tasks when a cursor is asked for again, however the batch is cut", async () => {
    const run = await runOf(wire, "again", { policy: MIXTURE });
    const first = await run.next(0, 4);
    expect(first.map(({ cursor }) => cursor)).toEqual([0n, 1n, 2n, 3n]);
    expect(await run.next(0, 4)).toEqual(first);
    const cut = await Promise.all([3, 1, 2, 0].map(async (cursor) => run.next(cursor, 1)));
    expect(cut.flat()).toEqual([first[3], first[1], first[2], first[0]]);
    // Answered groups are given again too: an answer may have been lost.
    await run.answer(first);
    expect(await run.next(0, 4)).toEqual(first);
  });

  test("goes on from the first task never issued where no cursor is given", async () => {
    await runOf(wire, "on", { policy: MIXTURE });
    const cursors: bigint[] = [];
    for (const count of [1, 3, 2]) {
      const { tasks, nextCursor } = await wire.curriculum.nextBatch({ runId: "on", count });
      cursors.push(...tasks.map(({ cursor }) => cursor));
      expect(nextCursor).toBe(BigInt(cursors.length));
    }
    expect(cursors).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
  });

  test("answers fewer tasks than asked for where the next update batch is not due", async () => {
    const run = await runOf(wire, "short");
    const tasks = await run.next(0, 5);
    expect(tasks.map(({ cursor }) => cursor)).toEqual([0n, 1n]);
    await run.answer(tasks);
    expect((await run.next(1, 5)).map(({ cursor }) => cursor)).toEqual([1n, 2n, 3n]);
  });

  test("runs ahead of feedback as far as the lag allows", async () => {
    const run = await runOf(wire, "lag", { lag: { case: "feedbackLag", value: 2 } });
    expect(await run.next(0, 100)).toHaveLength(6);
    const unbounded = await runOf(wire, "unbounded", { lag: { case: "feedbackUnbounded", value: true } });
    expect(await unbounded.next(0, 20)).toHaveLength(20);
  });

  test("does not answer before feedback that is due, and says when to try again", async () => {
    const run = await runOf(wire, "due");
    const tasks = await run.next(0);
    const failure = await failureOf(run.next(2));
    expect(failure).toEqual({
      code: "UNAVAILABLE",
      message: "the next update batch waits for feedback on update batch 0: score its completions",
      retryDelayMs: 1000,
      reason: "FEEDBACK_DUE",
    });
    const waiting = wire.curriculum.nextBatch({ runId: "due", cursor: 2n, wait: { seconds: 60n } });
    await run.answer(tasks);
    expect((await waiting).tasks.map(({ cursor }) => cursor)).toEqual([2n, 3n]);
  });

  test("is done at the end of the run's length; its last update batch may be short", async () => {
    const run = await runOf(wire, "end", { length: 3n });
    await run.answer(await run.next(0));
    const last = await wire.curriculum.nextBatch({ runId: "end", cursor: 2n, count: 10, wait: nothing });
    expect(last).toMatchObject({ nextCursor: 3n, done: true });
    expect(last.tasks).toHaveLength(1);
    const after = await wire.curriculum.nextBatch({ runId: "end", cursor: 3n, wait: nothing });
    expect(after).toMatchObject({ tasks: [], nextCursor: 3n, done: true });
    expect((await wire.curriculum.getRun({ runId: "end" })).run?.state?.done).toBe(false);
    await run.answer(last.tasks);
    expect((await wire.curriculum.getRun({ runId: "end" })).run?.state?.done).toBe(true);
  });

  test("refuses positions far ahead, and those closed long ago", async () => {
    const run = await runOf(wire, "range", { policy: MIXTURE });
    // The cursor is one update batch (of two tasks) past the drawn tasks.
    expect(await failureOf(run.next(3))).toEqual({
      code: "OUT_OF_RANGE",
      message: "cursor 3 is more than one update batch beyond the 0 tasks drawn so far: use a cursor of at most 2",
    });
    expect(await run.next(2)).toHaveLength(2);
    const tasks = await run.next(0, 1026);
    expect(tasks).toHaveLength(1026);
    await run.answer(tasks);
    expect(await run.next(0)).toHaveLength(2);
    await run.answer(await run.next(1026, 2));
    expect(await failureOf(run.next(0))).toEqual({
      code: "OUT_OF_RANGE",
      message: "the task at cursor 0 was closed long ago and the run no longer keeps it: leave the cursor out to go on",
    });
    expect((await run.next(4)).map(({ cursor }) => cursor)).toEqual([4n, 5n]);
  });

  test("issues no instance twice until there are no others", async () => {
    // Two numbers of 1 to 2 and targets to 3: 1 1 2, 1 2 1, 1 2 2, 1 2 3, 2 2 1 and some of them in the train split.
    const tiny = { numbers_min: 2, numbers_max: 2, number_min: 1, number_max: 2, target_max: 3 };
    const spec = { environment: "countdown", difficulty: { case: "parameters", value: { values: tiny } } };
    const run = await runOf(wire, "tiny", { policy: MIXTURE, arms: [{ id: "tiny", spec }] });
    const seen = (await run.next(0, 20)).map(({ hints }) => {
      const { numbers = "", target = "" } = hints?.metadata ?? {};
      return `${numbers.split(" ").sort().join(" ")} = ${target}`;
    });
    const distinct = new Set(seen).size;
    expect(distinct).toBeLessThan(8);
    expect(new Set(seen.slice(0, distinct)).size).toBe(distinct);
    const [arm] = (await wire.curriculum.getRun({ runId: "tiny" })).run?.state?.arms ?? [];
    expect([arm?.issued, arm?.repeats]).toEqual([20n, BigInt(20 - distinct)]);
  });

  test("closes groups that are not complete in time", async () => {
    const run = await runOf(wire, "timeout", { groupTimeout: { nanos: 1_000_000 } });
    const [task] = await run.next(0);
    if (task === undefined) throw new Error("no task");
    // The next update batch waits for these groups, and no completion of them arrives.
    const next = await wire.curriculum.nextBatch({ runId: "timeout", cursor: 2n, wait: { seconds: 60n } });
    expect(next.tasks).toHaveLength(2);
    const { feedback } = await run.step(task, 0, wrong(task));
    expect(feedback?.detail).toBe("the group was closed");
  });

  test.each([
    [{ runId: "" }, "INVALID_ARGUMENT", "run_id: must be set"],
    [{ runId: "nobody" }, "NOT_FOUND", 'there is no run "nobody"'],
    [{ runId: "r", count: 4097 }, "INVALID_ARGUMENT", "count: must be from 0 to 4096; got 4097"],
    [{ runId: "r", cursor: 2n ** 53n }, "INVALID_ARGUMENT", "cursor: must be at most 2^53 − 1; got 9007199254740992"],
    [{ runId: "r", wait: { seconds: 61n } }, "INVALID_ARGUMENT", "wait: must be from 0 to 60000 ms; got 61000 ms"],
    [{ runId: "r", wait: { seconds: -1n } }, "INVALID_ARGUMENT", "wait: its seconds must be from 0"],
  ])("refuses %o", async (request, code, message) => {
    const failure = await failureOf(wire.curriculum.nextBatch(request));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
  });
});
