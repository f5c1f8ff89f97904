/** A real pool is gone through in epochs: each row once an epoch, in an order of the epoch's own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Source, type Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { MIXTURE, runOf } from "./run-of.ts";
import { openWire, type Wire } from "./wire.ts";
import { writeRows } from "../../support/rows-file.ts";

const ROWS = 90;

let folder: string;
let wire: Wire;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-epochs-"));
  const path = join(folder, "few.jsonl");
  const rows = Array.from({ length: ROWS }, (_, i) => ({ nums: [i + 1, 50, 60], target: i + 111 }));
  writeRows(path, rows);
  wire = await openWire({ pool: [`few=${path}@train`] });
});
afterAll(async () => {
  await wire[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const spec = {
  environment: "countdown",
  source: Source.REAL,
  pool: "few",
  difficulty: { case: "level", value: "T1" } as const,
};

async function tasksOf(runId: string, count: number): Promise<readonly Task[]> {
  const run = await runOf(wire, runId, { arms: [{ id: "rows", spec }], policy: MIXTURE, promptsPerUpdate: 10 });
  return run.next(0, count);
}

test("each row comes once an epoch, which its task says; later epochs are not passed over", async () => {
  const tasks = await tasksOf("epochs", 3 * ROWS);
  expect(tasks.length).toBe(3 * ROWS);
  const orders = [0, 1, 2].map((epoch) => {
    const own = tasks.slice(epoch * ROWS, (epoch + 1) * ROWS);
    expect(new Set(own.map(({ poolEpoch }) => poolEpoch))).toEqual(new Set([epoch]));
    return own.map(({ instanceHash }) => instanceHash);
  });
  const [first = [], ...others] = orders;
  expect(new Set(first).size).toBe(ROWS);
  for (const order of others) {
    expect(new Set(order)).toEqual(new Set(first));
    expect(order).not.toEqual(first);
  }
  const { run } = await wire.curriculum.getRun({ runId: "epochs" });
  // The run gives out repeated tasks, and counts them as repeats.
  expect(run?.state?.arms[0]?.repeats).toBe(2n * BigInt(ROWS));
});

test("is the same for the same seed", async () => {
  const hashes = (tasks: readonly Task[]) => tasks.map(({ instanceHash, poolEpoch }) => [instanceHash, poolEpoch]);
  expect(hashes(await tasksOf("again", 200))).toEqual(hashes(await tasksOf("other", 200)));
});
