import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { runSchema } from "../../../server/stores/sqlite-runs.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { StoreDamaged, StoreUnavailable } from "../../../server/stores/store.ts";
import { eventually } from "../../support/patience.ts";
import { bytes } from "./bytes.ts";

const directories: string[] = [];
const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), "gradus-"));
  directories.push(made);
  return made;
};
afterAll(() => directories.forEach((made) => rmSync(made, { recursive: true })));

const summary = { state: "" };

const module = fileURLToPath(new URL("../../../server/stores/sqlite.ts", import.meta.url));

/** Runs a script in another process, in which `store` is open. Returns its output, line by line. */
function elsewhere(where: string, script: string) {
  const open = `import { sqliteStore } from ${JSON.stringify(module)};
    const store = await sqliteStore({ directory: ${JSON.stringify(where)} });
    const summary = { state: "" };`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", open + script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.split("\n").filter(Boolean)));
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { child, lines, exited };
}

test("what was written is copied from the log to the file once nobody writes", async () => {
  const [where, other] = [directory(), directory()];
  const store = await sqliteStore({ directory: where });
  await store.create({ id: "run", timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
  await eventually(() => {
    copyFileSync(join(where, "runs.sqlite"), join(other, "runs.sqlite"));
    const copy = new DatabaseSync(join(other, "runs.sqlite"));
    try {
      expect(copy.prepare("SELECT id FROM runs").all()).toEqual([{ id: "run" }]);
    } finally {
      copy.close();
    }
  });
  await store.close();
});

test("survives kill -9: what was answered is there", async () => {
  const where = directory();
  const { child, lines, exited } = elsewhere(
    where,
    `await store.create({ id: "run", timeToLiveMs: 3_600_000, events: [Buffer.from("0")], records: [], summary });
     const { key } = await store.find("run");
     for (let i = 1; ; i++) {
       await store.append(key, { expectedVersion: i, events: [Buffer.from(String(i))], records: [], summary });
       console.log(i);
       if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
     }`,
  );
  while (lines.length < 500) await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGKILL");
  await exited;
  const store = await sqliteStore({ directory: where });
  const run = await store.find("run");
  const events = (await store.read(run?.key ?? -1, 0)) ?? [];
  expect(events.length).toBeGreaterThan(Number(lines.at(-1)));
  expect(events).toEqual(events.map((_, i) => bytes(String(i))));
  expect(run?.version).toBe(events.length);
  await store.close();
});

test.each([
  ["the first", 1, "event 1 of its journal is missing"],
  ["one in the middle", 3, "event 3 of its journal is missing"],
  ["the last", 5, "its journal ends at event 4, but 5 events were written"],
])("a journal without %s of its events is refused, and the run beside it is read", async (_name, version, message) => {
  const where = directory();
  const store = await sqliteStore({ directory: where });
  const events = ["0", "1", "2", "3", "4"].map(bytes);
  for (const id of ["run", "other"]) await store.create({ id, timeToLiveMs: 3_600_000, events, records: [], summary });
  const [run, other] = await Promise.all([store.find("run"), store.find("other")]);
  const db = new DatabaseSync(join(where, "runs.sqlite"));
  db.prepare("DELETE FROM events WHERE run = ? AND version = ?").run(run?.key ?? -1, version);
  db.close();
  await expect(store.read(run?.key ?? -1, 0)).rejects.toThrow(new StoreDamaged(message));
  expect(await store.read(other?.key ?? -1, 0)).toEqual(events);
  await store.close();
});

test("survives kill -9 in the middle of deleting a run: it is gone, and what is left of it goes at the next start", async () => {
  const where = directory();
  const { child, lines, exited } = elsewhere(
    where,
    `const events = Array.from({ length: 30_000 }, (_, i) => Buffer.from(String(i)));
     await store.create({ id: "run", timeToLiveMs: 3_600_000, events, records: [], summary });
     const { key } = await store.find("run");
     console.log(key);
     await store.remove(key);
     console.log("removed");
     setInterval(() => undefined, 1000);`,
  );
  while (lines.length < 2) await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGKILL");
  await exited;
  const db = new DatabaseSync(join(where, "runs.sqlite"));
  const left = db.prepare("SELECT COUNT(*) AS rows FROM events");
  const rows = (): number => (left.get() as { rows: number }).rows;
  expect(rows()).toBeGreaterThan(0);
  const store = await sqliteStore({ directory: where });
  expect(await store.find("run")).toBeUndefined();
  expect(await store.read(Number(lines[0]), 0)).toBeUndefined();
  expect(await store.list("", 10)).toEqual({ runs: [], more: false });
  while (rows() > 0) await store.find("run");
  db.close();
  await store.close();
});

test("may be opened by many processes at once, and counts each of their writes", async () => {
  const where = directory();
  const writers = [1, 2, 3, 4].map(() =>
    elsewhere(
      where,
      `await store.create({ id: "run", timeToLiveMs: 3_600_000, events: [Buffer.from("0")], records: [], summary });
       const { key } = await store.find("run");
       for (let done = 0; done < 100; ) {
         const { version } = await store.find("run");
         const outcome = await store.append(key, { expectedVersion: version, events: [Buffer.from("e")], records: [], summary });
         if (outcome === "appended") done++;
       }
       console.log("done");`,
    ),
  );
  await Promise.all(writers.map(({ exited }) => exited));
  expect(writers.map(({ lines }) => lines)).toEqual([["done"], ["done"], ["done"], ["done"]]);
  const store = await sqliteStore({ directory: where });
  expect((await store.find("run"))?.version).toBe(401);
  await store.close();
});

test.each([5, 8])("refuses a file of schema %i in words, and leaves it as it is", async (version) => {
  const where = directory();
  await (await sqliteStore({ directory: where })).close();
  const db = new DatabaseSync(join(where, "runs.sqlite"));
  db.exec(`PRAGMA user_version = ${version}`);
  const refusal = `it has schema version ${version}, and this server reads version ${runSchema.version}: use the version of Gradus that wrote it`;
  await expect(sqliteStore({ directory: where })).rejects.toThrow(refusal);
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: version });
  db.close();
});

test("what another process's lock or a full disk keeps from being written can be written later", async () => {
  const where = directory();
  const store = await sqliteStore({ directory: where, busyTimeoutMs: 1 });
  const run = { id: "run", timeToLiveMs: 3_600_000, events: [bytes("created")], records: [], summary };
  const other = new DatabaseSync(join(where, "runs.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  await expect(store.create(run)).rejects.toThrow(StoreUnavailable);
  expect(await store.find("run")).toBeUndefined();
  other.exec("ROLLBACK");
  other.close();
  expect(await store.create(run)).toBe("created");
  await store.close();
});

test("a bug is not taken for a full disk", async () => {
  const store = await sqliteStore({ directory: directory() });
  await store.close();
  const failure: unknown = await store.find("run").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(StoreUnavailable);
});

test("its files are for their owner only", async () => {
  const where = directory();
  const store = await sqliteStore({ directory: where });
  await store.create({ id: "run", timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
  const modes = readdirSync(where).map((name) => [name, statSync(join(where, name)).mode & 0o777] as const);
  await store.close();
  expect(new Map(modes)).toEqual(
    new Map(["runs.sqlite", "runs.sqlite-shm", "runs.sqlite-wal"].map((name) => [name, 0o600])),
  );
});
