/** ExportRun, ImportRun and WatchRun, point by point from the contract's comments. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunState } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { right, wrong } from "./answers.ts";
import { MIXTURE, type TestRun, configOf, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

const seen = ({ instanceHash, hints, armId, cursor }: Task) => ({
  instanceHash,
  metadata: hints?.metadata,
  armId,
  cursor,
});
const statusOf = async (run: TestRun, task: Task, sample = 0) =>
  (await run.step(task, sample, wrong(task))).feedback?.status;

/** A run whose first batch is answered, and whose second one is given out. */
async function underWay(runId: string) {
  const run = await runOf(wire, runId);
  const first = await run.next(0);
  await run.answer(first);
  const second = await run.next(2);
  const exported = await wire.curriculum.exportRun({ runId });
  return { run, first, second, exported };
}

describe("ExportRun and ImportRun", () => {
  test("in place: a new epoch, in which what was issued later is stale", async () => {
    const { run, second, exported } = await underWay("place");
    expect(exported).toMatchObject({ epoch: 0, cursor: 4n });
    await run.answer(second);
    const later = await run.next(4);

    const { run: back, outstanding } = await wire.curriculum.importRun({ state: exported.state });
    expect(back).toMatchObject({ runId: "place", state: { epoch: 1, cursor: 4n, groupsOutstanding: 2 } });
    // The outstanding tasks are unchanged, and new results for them count.
    expect(outstanding.map(seen)).toEqual(second.map(seen));
    // The tasks have new ids, and the former ids no longer count.
    expect(await statusOf(run, second[0] as Task)).toBe(FeedbackStatus.STALE_EPOCH);
    expect(await statusOf(run, later[0] as Task)).toBe(FeedbackStatus.STALE_EPOCH);
    await run.answer(outstanding);
    const again = await run.next(4);
    // A run is a function of its seed and its feedback: the same tasks come, under ids of the new epoch.
    expect(again.map(seen)).toEqual(later.map(seen));
    const { incarnation } = back?.state ?? {};
    expect(again.map(({ groupId }) => groupId)).toEqual([`place/${incarnation}/4`, `place/${incarnation}/5`]);
    expect(await statusOf(run, again[0] as Task)).toBe(FeedbackStatus.RECORDED);
    expect(await statusOf(run, later[1] as Task)).toBe(FeedbackStatus.STALE_EPOCH);
    const { records } = await wire.curriculum.getHistory({ runId: "place" });
    const controls = records.flatMap(({ kind }) => (kind.case === "control" ? [kind.value] : []));
    expect(controls.map(({ kind, cursor }) => [kind, cursor])).toEqual([["import", 4n]]);
  });

  test("twice in place: an epoch each", async () => {
    const { exported } = await underWay("twice");
    const epochs = [];
    for (let i = 0; i < 2; i++)
      epochs.push((await wire.curriculum.importRun({ state: exported.state })).run?.state?.epoch);
    expect(epochs).toEqual([1, 2]);
  });

  test("after the run was deleted: it is there again", async () => {
    const { run, second, exported } = await underWay("restored");
    await wire.curriculum.deleteRun({ runId: "restored" });
    const { outstanding } = await wire.curriculum.importRun({ state: exported.state });
    expect(outstanding.map(seen)).toEqual(second.map(seen));
    expect(await statusOf(run, outstanding[0] as Task)).toBe(FeedbackStatus.RECORDED);
  });

  test("under another id: outstanding tasks are issued under that id, and the first run goes on", async () => {
    const { run, second, exported } = await underWay("original");
    const { run: copy, outstanding } = await wire.curriculum.importRun({ state: exported.state, runId: "copy" });
    expect(copy).toMatchObject({ runId: "copy", state: { epoch: 1, cursor: 4n } });
    expect(outstanding.map(seen)).toEqual(second.map(seen));
    expect(outstanding.map(({ groupId }) => groupId)).toEqual(
      [2, 3].map((cursor) => `copy/${copy?.state?.incarnation}/${cursor}`),
    );
    await run.answer(outstanding);
    await run.answer(second);
    const tasksOf = async (runId: string) =>
      (await wire.curriculum.nextBatch({ runId, cursor: 4n, wait: { seconds: 0n } })).tasks.map(seen);
    expect(await tasksOf("copy")).toEqual(await tasksOf("original"));
    const taken = await failureOf(
      wire.curriculum
        .importRun({ state: exported.state, runId: "original-2" })
        .then(() => wire.curriculum.importRun({ state: exported.state, runId: "original-2" })),
    );
    expect(taken).toMatchObject({
      code: "ALREADY_EXISTS",
      message: 'run "original-2" already exists: choose another run id',
    });
  });

  test("refuses bytes that are not what a server with this key exported", async () => {
    const { exported } = await underWay("tampered");
    const { state } = exported;
    const changed = (at: number) => Uint8Array.from(state, (byte, i) => (i === at ? byte ^ 1 : byte));
    const refused = async (bytes: Uint8Array) => failureOf(wire.curriculum.importRun({ state: bytes }));
    const tampered = {
      code: "FAILED_PRECONDITION",
      field: "state",
      message: "state: it was changed after it was issued",
    };
    for (const at of [5, 20, 21, state.length >> 1, state.length - 1])
      expect(await refused(changed(at))).toEqual(tampered);
    expect(await refused(state.slice(0, -1))).toEqual(tampered);
    expect((await refused(changed(0))).message).toBe("state: it has a format that this server does not know");
    expect((await refused(changed(1))).message).toBe("state: it was made with a key that this server does not have");
    expect((await refused(state.slice(0, 21))).message).toBe("state: it is too short");
    expect(await refused(new Uint8Array())).toMatchObject({ code: "INVALID_ARGUMENT", field: "state" });
    // A task id is signed by the same key, for another purpose.
    const [task] = (await wire.curriculum.nextBatch({ runId: "tampered", cursor: 2n })).tasks;
    expect(await refused(Buffer.from(task?.taskId ?? "", "base64url"))).toEqual(tampered);
    expect((await wire.curriculum.getRun({ runId: "tampered" })).run?.state?.epoch).toBe(0);
  });

  test("moves a run to another server with the same key", async () => {
    const { run, second, exported } = await underWay("moved");
    const keys = readFileSync(join(wire.dataDir, "task-keys"), "utf8");
    await using stranger = await openWire();
    const refused = await failureOf(stranger.curriculum.importRun({ state: exported.state }));
    expect(refused.message).toBe("state: it was made with a key that this server does not have");
    const keyFile = join(stranger.dataDir, "shared-keys");
    writeFileSync(keyFile, keys, { mode: 0o600 });
    await using twin = await openWire({ keyFile });
    const { outstanding } = await twin.curriculum.importRun({ state: exported.state });
    expect(outstanding.map(seen)).toEqual(second.map(seen));
    const { tasks } = await twin.curriculum.nextBatch({ runId: "moved", cursor: 2n });
    expect(tasks.map(seen)).toEqual((await run.next(2)).map(seen));
  });

  test.each([
    ["exportRun", { runId: "nobody" }, "NOT_FOUND", 'there is no run "nobody"'],
    ["exportRun", {}, "INVALID_ARGUMENT", "run_id: must be set"],
  ] as const)("%s refuses %o", async (method, request, code, message) => {
    expect(await failureOf(wire.curriculum[method](request))).toMatchObject({ code, message });
  });
});

describe("WatchRun", () => {
  /** The states of a run as they come, until `enough` says so or the stream ends. */
  async function watch(runId: string, enough: (state: RunState) => boolean, from: Wire = wire) {
    const states: RunState[] = [];
    for await (const { state } of from.curriculum.watchRun({ runId })) {
      if (state === undefined) throw new Error("no state");
      states.push(state);
      if (enough(state)) break;
    }
    return states;
  }

  test("shows the state at once, and then after each change", async () => {
    const run = await runOf(wire, "watched");
    const [first] = await watch("watched", () => true);
    expect(first).toEqual((await wire.curriculum.getRun({ runId: "watched" })).run?.state);
    const watching = watch("watched", ({ samplesRecorded }) => samplesRecorded === 4n);
    await run.answer(await run.next(0));
    const states = await watching;
    const versions = states.map(({ version }) => version);
    expect(versions).toEqual([...versions].sort((a, b) => Number(a - b)));
    expect(new Set(versions).size).toBe(versions.length);
    expect(states.at(-1)).toMatchObject({ cursor: 2n, batchesDrawn: 1n, groupsOutstanding: 0 });
  });

  test("ends when the run is deleted", async () => {
    await runOf(wire, "deleted");
    const watching = watch("deleted", () => false);
    await watch("deleted", () => true);
    await wire.curriculum.deleteRun({ runId: "deleted" });
    expect((await watching).length).toBeGreaterThan(0);
  });

  test("ends when its caller leaves", async () => {
    await runOf(wire, "left", { policy: MIXTURE });
    const leaving = new AbortController();
    const states: unknown[] = [];
    const watching = (async () => {
      for await (const { state } of wire.curriculum.watchRun({ runId: "left" }, { signal: leaving.signal })) {
        states.push(state);
        leaving.abort();
      }
    })();
    expect(ConnectError.from(await watching.catch((error: unknown) => error)).rawMessage).toMatch(/abort|cancel/i);
    expect(states).toHaveLength(1);
  });

  test("is broken off with UNAVAILABLE when the server drains: the run goes on, elsewhere or later", async () => {
    const own = await openWire();
    await own.curriculum.createRun({ runId: "drained", config: configOf() });
    const first = Promise.withResolvers<void>();
    let states = 0;
    const watching = failureOf(
      watch(
        "drained",
        () => {
          states += 1;
          first.resolve();
          return false;
        },
        own,
      ),
    );
    await first.promise;
    await own[Symbol.asyncDispose]();
    expect(await watching).toMatchObject({ code: "UNAVAILABLE" });
    expect(states).toBe(1);
  });

  test("refuses a run that is not there", async () => {
    expect((await failureOf(watch("nobody", () => true))).code).toBe("NOT_FOUND");
    expect((await failureOf(watch("", () => true))).message).toBe("run_id: must be set");
  });
});

test("two ranks may answer the halves of one group through two servers of one store", async () => {
  await using first = await openWire({ store: "sqlite" });
  await using second = await openWire({ store: "sqlite", dataDir: first.dataDir });
  const run = await runOf(first, "shared");
  const [task] = await run.next(0);
  if (task === undefined) throw new Error("no task");
  const { taskId, groupId } = task;
  const half = async ({ environments }: Wire, sampleIndex: number, completion: string) =>
    (await environments.step({ taskId, groupId, sampleIndex, completion })).outcome?.feedback?.status;
  expect(await half(first, 0, right(task))).toBe(FeedbackStatus.RECORDED);
  expect(await half(second, 0, right(task))).toBe(FeedbackStatus.DUPLICATE);
  expect(await half(second, 1, wrong(task))).toBe(FeedbackStatus.RECORDED);
  const { run: seenByFirst } = await first.curriculum.getRun({ runId: "shared" });
  expect(seenByFirst?.state).toMatchObject({ samplesRecorded: 2n, groupsOutstanding: 1 });
});
