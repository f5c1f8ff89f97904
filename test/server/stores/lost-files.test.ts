/**
 * Tests of a store whose file is deleted, moved, locked or full under it: it never claims to have kept what it has not.
 */
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { type StoreCall, type CommitQueue, commitQueue, type Reply } from "../../../server/stores/commit-queue.ts";
import { openFile, watchFile } from "../../../server/stores/sqlite-file.ts";
import { runSchema, runsIn } from "../../../server/stores/sqlite-runs.ts";
import { sqliteEvaluationStore, sqliteStore } from "../../../server/stores/sqlite.ts";
import { type Store, StoreUnavailable } from "../../../server/stores/store.ts";
import { bytes } from "./bytes.ts";

const directories: string[] = [];
const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), "gradus-"));
  directories.push(made);
  return made;
};
afterAll(() => directories.forEach((made) => rmSync(made, { recursive: true, force: true })));

const summary = { state: "" };
const run = (id: string) => ({ id, timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
const again = (version: number) => ({ expectedVersion: version, events: [bytes("e")], records: [], summary });

/** Opens a store, and records the messages that it logs. */
async function opened(where: string) {
  const said: (string | undefined)[] = [];
  const listeners = new Set<() => void>();
  const store = await sqliteStore({
    directory: where,
    onProblem: (problem) => {
      said.push(problem);
      for (const listener of listeners) listener();
    },
  });
  /** Resolves when the store has said that many things. */
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (said.length < count) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  return { store, said, until };
}

/** Moves the files of a store away or back. */
function move(from: string, to: string, names: readonly string[]): void {
  for (const name of names) renameSync(join(from, name), join(to, name));
}

describe.each([
  ["the file", ["runs.sqlite"]],
  ["the log beside it", ["runs.sqlite-wal"]],
  ["the index of the log", ["runs.sqlite-shm"]],
  ["all three", ["runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm"]],
])("where %s is moved away", (_name, names) => {
  test("nothing is said to be kept or read, and all is as before when it is put back", async () => {
    const [where, away] = [directory(), directory()];
    const { store, said, until } = await opened(where);
    await store.create(run("run"));
    const key = (await store.find("run"))?.key ?? -1;
    move(where, away, names);
    for (let i = 0; i < 3; i++) {
      await expect(store.append(key, again(1))).rejects.toThrow(StoreUnavailable);
      await expect(store.read(key, 0)).rejects.toThrow("was deleted or moved away while the server had it open");
    }
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(join(where, names[0] ?? ""));
    move(away, where, names);
    await until(2);
    expect(said[1]).toBeUndefined();
    // One of the three events may have been written before the loss was found; the store did not acknowledge it.
    const version = (await store.find("run"))?.version ?? -1;
    expect(version).toBeLessThanOrEqual(2);
    expect(await store.append(key, again(version))).toBe("appended");
    await store.close();
  });
});

test("a file that was deleted, or replaced by another, is found out without a call", async () => {
  const where = directory();
  const { store, said, until } = await opened(where);
  rmSync(where, { recursive: true });
  await until(1);
  const other = await sqliteStore({ directory: where });
  await other.create(run("of the other"));
  await expect(store.find("of the other")).rejects.toThrow(StoreUnavailable);
  await expect(store.create(run("run"))).rejects.toThrow("was replaced while the server had it open");
  expect(await other.find("run")).toBeUndefined();
  expect(said.at(-1)).toContain("start the server again");
  await Promise.all([store.close(), other.close()]);
});

test("a store of evaluations is no different", async () => {
  const where = directory();
  const store = await sqliteEvaluationStore({ directory: where });
  expect(await store.create("one", "body")).toBe("created");
  rmSync(where, { recursive: true });
  await expect(store.create("two", "body")).rejects.toThrow(StoreUnavailable);
  await store.close();
});

test("another process's lock keeps writes waiting, and neither reads nor the event loop", async () => {
  const where = directory();
  const { store, said, until } = await opened(where);
  await store.create(run("run"));
  const key = (await store.find("run"))?.key ?? -1;
  const other = new DatabaseSync(join(where, "runs.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  const order: string[] = [];
  const first = store.append(key, again(1)).then(() => order.push("first"));
  const second = store.append(key, again(2)).then(() => order.push("second"));
  for (let i = 0; i < 10; i++) {
    expect(await store.read(key, 0)).toEqual([bytes("0")]);
    order.push("read");
  }
  other.exec("COMMIT");
  await Promise.all([first, second]);
  expect(order).toEqual([...Array.from({ length: 10 }, () => "read"), "first", "second"]);
  expect(said).toEqual([]);
  // The store reports a lock that is held too long, and reports when it is free again.
  const impatient = await sqliteStore({
    directory: where,
    busyTimeoutMs: 20,
    onProblem: (problem) => said.push(problem),
  });
  other.exec("BEGIN IMMEDIATE");
  await expect(impatient.append(key, again(3))).rejects.toThrow(StoreUnavailable);
  expect(said).toEqual([expect.stringContaining("another process holds its lock")]);
  other.exec("COMMIT");
  expect(await impatient.append(key, again(3))).toBe("appended");
  other.close();
  await until(0);
  await Promise.all([store.close(), impatient.close()]);
});

test("closing waits for what was asked, and refuses what is asked later", async () => {
  const where = directory();
  const store = await sqliteStore({ directory: where });
  const created = Array.from({ length: 100 }, (_, i) => store.create(run(String(i))));
  const closed = store.close();
  await expect(store.find("0")).rejects.toThrow("the store is closed");
  expect(new Set(await Promise.all(created))).toEqual(new Set(["created"]));
  await closed;
  const reopened = await sqliteStore({ directory: where });
  expect((await reopened.list("", 1000)).runs).toHaveLength(100);
  await reopened.close();
});

test("no more than so many bytes wait, and what is refused can be asked again", async () => {
  const store = await sqliteStore({ directory: directory() });
  const large = "x".repeat(16 * 1024 ** 2);
  const asked = Array.from({ length: 12 }, (_, i) => store.create({ ...run(String(i)), events: [bytes(large)] }));
  const outcomes = await Promise.allSettled(asked);
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(StoreUnavailable);
    expect(String(reason)).toContain("bytes wait to be written, and the limit is 134217728");
  }
  expect((await store.list("", 100)).runs).toHaveLength(12 - refused.length);
  expect(await store.create(run("11"))).toBe("created");
  await store.close();
});

/** Returns the commit queue on this thread, over a file that is limited to some pages. */
function queueOver(where: string) {
  const { db, path } = openFile({ directory: where, synchronous: "normal", busyTimeoutMs: 100 }, runSchema);
  const problems: (string | undefined)[] = [];
  const waiting = new Map<number, (reply: Reply) => void>();
  const queue: CommitQueue = commitQueue({
    db,
    store: runsIn(db),
    busyTimeoutMs: 100,
    lost: watchFile(path),
    answer: (replies) => replies.forEach((reply) => waiting.get(reply.id)?.(reply)),
    onProblem: (problem) => problems.push(problem),
  });
  let id = 0;
  const asked = (method: keyof Store, ...args: readonly unknown[]): StoreCall => ({ id: id++, method, args });
  const answers = (calls: readonly StoreCall[]): Promise<readonly Reply[]> => {
    const all = calls.map((call) => new Promise<Reply>((resolve) => waiting.set(call.id, resolve)));
    queue.ask(calls);
    return Promise.all(all);
  };
  return { db, queue, problems, asked, answers };
}

describe("a full file", () => {
  test("refuses what has no room, and nothing beside it, and says when there is room again", async () => {
    const { db, queue, problems, asked, answers } = queueOver(directory());
    const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
    db.exec(`PRAGMA max_page_count = ${pages + 8}`);
    const large = { ...run("large"), events: [bytes("x".repeat(100_000))] };
    const replies = await answers([asked("create", run("a")), asked("create", large), asked("create", run("b"))]);
    expect(replies).toMatchObject([
      { kind: "done", value: "created" },
      { kind: "unavailable", message: "database or disk is full" },
      { kind: "done", value: "created" },
    ]);
    const only = await answers([asked("create", large)]);
    expect(only).toMatchObject([{ kind: "unavailable" }]);
    expect(problems.at(-1)).toContain("it cannot be written to");
    queue.look(false);
    expect(problems.at(-1)).toContain("it cannot be written to");
    db.exec("PRAGMA max_page_count = 100000");
    queue.look(false);
    expect(problems.at(-1)).toBeUndefined();
    expect(await answers([asked("create", large)])).toMatchObject([{ kind: "done", value: "created" }]);
    await new Promise<void>((resolve) => queue.close(resolve));
    db.close();
  });

  test("is found out without a call", async () => {
    const { db, queue, problems } = queueOver(directory());
    const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
    db.exec(`PRAGMA max_page_count = ${pages}`);
    queue.look(true);
    expect(problems).toEqual([expect.stringContaining("full")]);
    await new Promise<void>((resolve) => queue.close(resolve));
    db.close();
  });
});

test("what is left of a deleted run at a start is deleted then", async () => {
  const where = directory();
  const store = await sqliteStore({ directory: where });
  await store.create(run("run"));
  await store.create(run("other"));
  const key = (await store.find("run"))?.key ?? -1;
  await store.remove(key);
  await store.close();
  /** Opens another connection, which waits for the store's locks. */
  const apart = <T>(use: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(join(where, "runs.sqlite"), { timeout: 5000 });
    const result = use(db);
    db.close();
    return result;
  };
  // The rows are as a store leaves them that is killed while it deletes.
  apart((db) =>
    db.exec(`INSERT OR IGNORE INTO removals VALUES (${key});
      WITH RECURSIVE versions(version) AS (SELECT 10 UNION ALL SELECT version + 1 FROM versions LIMIT 2000)
      INSERT INTO events (run, version, hash, body) SELECT ${key}, version, x'', x'30' FROM versions`),
  );
  const left = (): number =>
    apart((db) => Number(db.prepare("SELECT COUNT(*) AS rows FROM events WHERE run = ?").get(key)?.rows));
  expect(left()).toBeGreaterThanOrEqual(2000);
  const next = await sqliteStore({ directory: where });
  expect((await next.list("", 10)).runs.map(({ id }) => id)).toEqual(["other"]);
  while (left() > 0) await next.find("other");
  expect(await next.find("other")).toMatchObject({ version: 1 });
  await next.close();
  expect(readdirSync(where)).toEqual(["runs.sqlite"]);
});
