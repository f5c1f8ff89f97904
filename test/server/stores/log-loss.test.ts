/** A flipped byte in the write-ahead log after a kill: SQLite drops what follows without a word, and the store says so. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { census } from "../../../server/stores/log-loss.ts";
import { openFile } from "../../../server/stores/sqlite-file.ts";
import { folderChain, runSchema, runsIn } from "../../../server/stores/sqlite-runs.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { bytes } from "./bytes.ts";

const root = mkdtempSync(join(tmpdir(), "gradus-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const summary = { state: "" };
/** Files that a killed server leaves behind. */
const files = ["runs.key", "runs.sqlite", "runs.sqlite-wal"];
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

/** A folder as a killed server leaves it: three runs of 1, 8 and 4 events, all of them in the log. */
function killed(name: string, checkpointed: boolean): string {
  const directory = join(root, name);
  const left = join(root, `${name}-left`);
  const { db } = openFile({ directory, synchronous: "normal", busyTimeoutMs: 1000 }, runSchema);
  const { methods } = runsIn(db, folderChain(db, directory));
  const begin = (id: string): number => {
    methods.create({ id, timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
    return methods.find(id)?.key ?? -1;
  };
  const grow = (key: number, events: number): void => {
    for (let version = 1; version < events; version++) {
      methods.append(key, {
        expectedVersion: version,
        events: [bytes(`${"e".repeat(3000)}${version}`)],
        records: [],
        summary,
      });
    }
  };
  const [, b, c] = ["a", "b", "c"].map(begin);
  grow(b ?? -1, 8);
  grow(c ?? -1, 4);
  if (checkpointed) db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  mkdirSync(left);
  for (const file of files) copyFileSync(join(directory, file), join(left, file));
  db.close();
  return left;
}

/** Copies the folder, with one byte of the log flipped. */
function copied(left: string, flipAt: number | undefined): string {
  const directory = mkdtempSync(join(root, "opened-"));
  for (const file of files) copyFileSync(join(left, file), join(directory, file));
  const path = join(directory, "runs.sqlite-wal");
  const log = readFileSync(path);
  if (flipAt !== undefined) log[flipAt] = (log[flipAt] ?? 0) ^ 0x10;
  writeFileSync(path, log);
  return directory;
}

/** Opens such a copy. Returns its content, and the messages at this start and the next. */
async function openedWith(left: string, flipAt: number | undefined) {
  const directory = copied(left, flipAt);
  const said: string[] = [];
  const store = await sqliteStore({ directory, onLoss: (loss) => said.push(loss) });
  const { runs } = await store.list("", 100);
  const there = Object.fromEntries(runs.map(({ id, version }) => [id, version]));
  const again: string[] = [];
  await store.close();
  await (await sqliteStore({ directory, onLoss: (loss) => again.push(loss) })).close();
  return { directory, said, there, again };
}

const whole = { a: 1, b: 8, c: 4 };

test("a log that is whole is opened without a word", async () => {
  expect(await openedWith(killed("whole", false), undefined)).toMatchObject({ said: [], there: whole });
});

test("a log whose end a killed process did not finish is opened without a word", async () => {
  const left = killed("torn", false);
  const path = join(left, "runs.sqlite-wal");
  writeFileSync(path, readFileSync(path).subarray(0, -1000));
  const { said, there } = await openedWith(left, undefined);
  expect([said, there]).toEqual([[], { ...whole, c: 3 }]);
});

test("what was in front of a log that began again is not taken for a loss", async () => {
  const directory = join(root, "restarted");
  const { db } = openFile({ directory, synchronous: "normal", busyTimeoutMs: 1000 }, runSchema);
  const { methods } = runsIn(db, folderChain(db, directory));
  for (let i = 0; i < 20; i++)
    methods.create({ id: `${i}`, timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
  db.exec("PRAGMA wal_checkpoint(RESTART)");
  methods.create({ id: "last", timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary });
  const left = join(root, "restarted-left");
  mkdirSync(left);
  for (const file of files) copyFileSync(join(directory, file), join(left, file));
  db.close();
  const { said, there } = await openedWith(left, undefined);
  expect(said).toEqual([]);
  expect(Object.keys(there)).toHaveLength(21);
});

test.each([
  ["the log's header", 10],
  ["the header of a frame", HEADER_BYTES + 20 * FRAME_BYTES + 9],
  ["a page", HEADER_BYTES + 20 * FRAME_BYTES + 2000],
])("a flipped byte in %s: it is told what is lost, once, and what there was is kept", async (_name, flipAt) => {
  const { directory, said, there, again } = await openedWith(killed(`byte-${flipAt}`, false), flipAt);
  expect(there).not.toEqual(whole);
  expect(said).toHaveLength(1);
  expect(again).toEqual([]);
  expect(said[0]).toContain(`runs.sqlite-wal is damaged at byte`);
  for (const [id, events] of Object.entries(whole)) {
    const left = (there as Record<string, number>)[id];
    if (left === undefined) expect(said[0]).toContain(`run "${id}" (all ${events} events)`);
    else if (left < events) expect(said[0]).toContain(`of run "${id}" the newest ${events - left} of ${events} events`);
  }
  // The copy is opened as any SQLite file is.
  const kept = join(directory, "runs.sqlite.damaged");
  expect([existsSync(kept), existsSync(`${kept}-wal`)]).toEqual([true, true]);
  const db = new DatabaseSync(kept);
  expect(db.prepare("SELECT 1 AS one").get()).toEqual({ one: 1 });
  db.close();
});

test.each([
  ["not yet copied to the file", false],
  ["copied to the file", true],
])("wherever a byte of a log %s is flipped, nothing is lost unsaid", (name, checkpointed) => {
  const left = killed(`any-${name}`, checkpointed);
  const { length } = readFileSync(join(left, "runs.sqlite-wal"));
  for (let i = 0; i < 30; i++) {
    // 7919 is a prime: bytes all over the log, in headers and pages.
    const directory = copied(left, (i * Math.floor(length / 30) + i * 7919) % length);
    const { db, loss = "" } = openFile({ directory, synchronous: "normal", busyTimeoutMs: 1000 }, runSchema);
    const isWhole = JSON.stringify(Object.fromEntries(census(db, runSchema.census))) === JSON.stringify(whole);
    db.close();
    if (!isWhole) expect(loss, `flip ${i}`).toContain("is damaged at byte");
  }
});
