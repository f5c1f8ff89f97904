/** A backup is made while a run is written to, and a server that has it restored goes on as the first one did. */
import { createHash } from "node:crypto";
import { closeSync, cpSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GradusClient, Run } from "../../clients/ts/src/index.ts";
import { backUp, restore } from "../../server/stores/backup.ts";
import { openServer } from "../support/in-process.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { adscRun, completionsOf, taskLine } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";

const RUN = "kept";
const PROMPTS = 8;
const BATCHES = 24;
/** Batches after which backups are made, while the trainer goes on. */
const AT = [3, 9, 15];

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const path = (name: string): string => join(folder.path, name);

interface Seen {
  readonly tasks: Map<bigint, string>;
  readonly run: Run;
}

/** Drives the run to its end from where its oldest open update batch begins. */
async function train(client: GradusClient, onBatch: (batch: number) => void = () => undefined): Promise<Seen> {
  const run = client.run(RUN);
  const { state } = await run.create(adscRun({ length: BATCHES * PROMPTS, promptsPerUpdate: PROMPTS }));
  const tasks = new Map<bigint, string>();
  let batches = Number(state?.batchesClosed ?? 0n);
  for await (const batch of run.batches({ cursor: BigInt(batches * PROMPTS) })) {
    for (const task of batch.tasks) tasks.set(task.cursor, taskLine(task));
    await client.batchStep(batch.tasks.map((task) => completionsOf(task, 4)));
    onBatch(++batches);
  }
  return { tasks, run: await run.get() };
}

/** Returns the figures of a run that do not depend on the time of reading. */
function figures({ state }: Run): unknown {
  return { cursor: state?.cursor, arms: state?.arms, samples: state?.samplesRecorded, closed: state?.batchesClosed };
}

let original: Seen;
const backups: string[] = [];

beforeAll(async () => {
  await using server = await openServer();
  const key = join(server.dataDir, "task-keys");
  const made: Promise<void>[] = [];
  original = await train(server.client, (batch) => {
    if (!AT.includes(batch)) return;
    const file = path(`at-${batch}`);
    closeSync(openSync(file, "w"));
    made.push(backUp(server.dataDir, key, file).then(() => void backups.push(file)));
  });
  await Promise.all(made);
  // The server has not noticed.
  expect((await fetch(`${server.http}/healthz`)).status).toBe(200);
}, PATIENCE_MS);

test("each backup is restored to the same future", { timeout: PATIENCE_MS }, async () => {
  expect(backups).toHaveLength(AT.length);
  for (const file of backups) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const dataDir = `${file}-restored`;
    const restored = await restore(file, dataDir, false);
    expect(restored).toMatchObject({ runs: 1, replaced: undefined });
    expect(restored.files.toSorted()).toEqual(["evaluations.sqlite", "runs.sqlite", "task-keys"]);
    expect(readdirSync(dataDir).toSorted()).toEqual(["evaluations.sqlite", "runs.sqlite", "task-keys"]);
    await using server = await openServer({ dataDir });
    const { tasks, run } = await train(server.client);
    expect(tasks.size).toBeGreaterThan(0);
    for (const [cursor, line] of tasks) expect(line).toBe(original.tasks.get(cursor));
    expect(figures(run)).toEqual(figures(original.run));
  }
});

test("a folder that has something is refused, and with --force its files are moved away", async () => {
  const [file = ""] = backups;
  const dataDir = path("taken");
  await restore(file, dataDir, false);
  const before = readFileSync(join(dataDir, "task-keys"), "utf8");
  await expect(restore(file, dataDir, false)).rejects.toThrow(
    /has .*runs\.sqlite.*: give an empty --data-dir, or --force/,
  );
  {
    await using server = await openServer({ dataDir });
    expect(server.dataDir).toBe(dataDir);
    await expect(restore(file, dataDir, true)).rejects.toThrow(/a server has .*runs\.sqlite open: stop it first/);
  }
  writeFileSync(join(dataDir, "samples.sqlite"), "Completions of the runs that were there.");
  const { replaced } = await restore(file, dataDir, true);
  expect([existsSync(join(dataDir, "samples.sqlite")), existsSync(join(replaced ?? "", "samples.sqlite"))]).toEqual([
    false,
    true,
  ]);
  expect(readFileSync(join(replaced ?? "", "task-keys"), "utf8")).toBe(before);
  expect(readdirSync(dataDir).filter((name) => name.startsWith("restoring-"))).toEqual([]);
});

/** Changes one event of a backup, and its file's hash with it, as somebody would who means to. */
function forge(from: string, to: string): void {
  cpSync(from, to);
  const db = new DatabaseSync(to);
  const rows = db.prepare("SELECT place, body FROM pieces WHERE name = 'runs.sqlite' ORDER BY place").all();
  const whole = path("forged.sqlite");
  writeFileSync(whole, Buffer.concat(rows.map(({ body }) => body as Uint8Array)));
  const runs = new DatabaseSync(whole);
  runs.exec("UPDATE events SET body = zeroblob(length(body)) WHERE version = 5");
  runs.close();
  const bytes = readFileSync(whole);
  db.exec("DELETE FROM pieces WHERE name = 'runs.sqlite'");
  db.prepare("INSERT INTO pieces VALUES ('runs.sqlite', 0, ?)").run(bytes);
  db.prepare("UPDATE files SET sha256 = ? WHERE name = 'runs.sqlite'").run(createHash("sha256").update(bytes).digest());
  db.close();
}

test("what is damaged, changed or none is refused, and nothing is left in the folder", async () => {
  const [file = ""] = backups;
  const flipped = path("flipped");
  cpSync(file, flipped);
  const db = new DatabaseSync(flipped);
  db.exec("UPDATE pieces SET body = zeroblob(length(body)) WHERE name = 'task-keys'");
  db.close();
  forge(file, path("forged"));
  writeFileSync(path("text"), "not a backup");
  new DatabaseSync(path("other.sqlite")).exec("CREATE TABLE a (b)");
  for (const [name, words] of [
    ["flipped", /flipped is damaged: task-keys differs from what was backed up/],
    ["forged", /event 4|was changed|differs from what was written/],
    ["text", /was not made by gradus backup/],
    ["other.sqlite", /was not made by gradus backup/],
    ["nowhere", /there is no file/],
  ] as const) {
    const dataDir = path(`for-${name}`);
    await expect(restore(path(name), dataDir, false), name).rejects.toThrow(words);
    expect(existsSync(dataDir)).toBe(false);
  }
});
