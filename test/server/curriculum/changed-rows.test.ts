/**
 * Tests of changes to the file of runs, by hand or by a flipped bit: a change is reported with the run's name or does
 * no harm.
 * No change touches another run.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { isDamage, openFile } from "../../../server/stores/sqlite-file.ts";
import { runSchema, runsIn } from "../../../server/stores/sqlite-runs.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { type Store, StoreDamaged } from "../../../server/stores/store.ts";
import { follow } from "../../support/follow.ts";
import {
  adscArms,
  adscConstraints,
  banditPolicy,
  bench,
  savedState,
  freshTasks,
  runConfig,
  train,
  value,
} from "./support.ts";

const config = runConfig({ arms: adscArms, policy: banditPolicy({}, adscConstraints) });
const where = mkdtempSync(join(tmpdir(), "gradus-"));
const ids = ["alpha", "beta"];
afterAll(() => rmSync(where, { recursive: true }));

/** The list's entry of each run while nothing is changed. */
const lists: Record<string, unknown> = {};

/**
 * Opens the store without its thread, for tests that open it hundreds of times: a thread takes ten times as long to
 * start as the file to open.
 */
function threadless(directory: string): Store {
  const { db } = openFile({ directory, synchronous: "normal", busyTimeoutMs: 1000 }, runSchema);
  const methods = Object.entries(runsIn(db).methods).map(([name, method]) => {
    // Damage becomes StoreDamaged, as in commit-queue.ts.
    const called = (...args: readonly unknown[]): unknown => {
      try {
        return (method as (...args: readonly unknown[]) => unknown)(...args);
      } catch (error) {
        throw isDamage(error) ? new StoreDamaged((error as Error).message) : error;
      }
    };
    return [name, (...args: readonly unknown[]) => Promise.try(called, ...args)] as const;
  });
  return { ...(Object.fromEntries(methods) as unknown as Store), close: () => Promise.try(() => db.close()) };
}

/**
 * Returns a text for each run, from the run by itself and from a list. It begins with "refused" if the server refuses
 * the run by name.
 */
async function seen(
  directory: string,
  open: (directory: string) => Store | Promise<Store> = () => sqliteStore({ directory }),
): Promise<Readonly<Record<string, string>>> {
  const store = await open(directory);
  const { runs } = bench({ store });
  try {
    const { items } = await runs.list("", 10);
    const looked = ids.map(async (id) => {
      const run = await runs.get(id);
      const listed = items.find((item) => (item.kind === "run" ? item.view.runId : item.runId) === id);
      // If the run's summary is whole, a list reads no journal: it may then show what was written before the change,
      // and nothing else.
      if (listed?.kind === "run") expect(listed.view.state, "in the list").toEqual((lists[id] ??= listed.view.state));
      if (run.kind === "ok") return [id, inspect([run.value, listed?.kind], { depth: null })];
      return [id, run.message.includes(`"${id}"`) ? `refused: ${run.message}` : run.message];
    });
    return Object.fromEntries(await Promise.all(looked)) as Record<string, string>;
  } finally {
    runs.close();
    await store.close();
  }
}

/** Returns a folder with a changed copy of the file that the server left. */
function changed(change: (file: string) => void): string {
  const directory = mkdtempSync(join(where, "changed-"));
  const file = join(directory, "runs.sqlite");
  copyFileSync(join(where, "runs.sqlite"), file);
  change(file);
  return directory;
}

let whole: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  const store = await sqliteStore({ directory: where });
  const { runs } = bench({ store });
  for (const id of ids) value(await runs.create(id, config));
  await train(runs, "alpha", 4);
  await train(runs, "beta", 4);
  // A snapshot holds all of alpha but its last events.
  const stored = await store.find("alpha");
  const events = stored && (await store.read(stored.key, 0));
  const state = follow(undefined, events?.slice(0, -2) ?? [], freshTasks);
  if (stored === undefined || state === undefined) throw new Error("there is no run");
  await store.saveSnapshot(stored.key, { version: state.version, body: savedState(state, freshTasks) });
  runs.close();
  await store.close();
  whole = await seen(where);
});

/** SQL that changes bytes, in hexadecimal digits, of an event or a snapshot. */
const instead = (from: string, to: string): string => `body = unhex(replace(hex(body), '${from}', '${to}'))`;
const hex = (text: string): string => Buffer.from(text).toString("hex").toUpperCase();

// A field's number and type, and its eight bytes.
const rewardOfOne = "19000000000000F03F";
const rewardOfHalf = "19000000000000E03F";
const [seedOf7, seedOf9] = ["190700000000000000", "190900000000000000"];

const ofAlpha = "run = (SELECT key FROM runs WHERE id = 'alpha')";

test.each([
  ["rewards", `UPDATE events SET ${instead(rewardOfOne, rewardOfHalf)} WHERE ${ofAlpha}`],
  ["alpha of the policy", `UPDATE events SET ${instead(hex('"alpha":0'), hex('"alpha":1'))} WHERE ${ofAlpha}`],
  ["the seed", `UPDATE events SET ${instead(seedOf7, seedOf9)} WHERE ${ofAlpha}`],
  ["the seed, and no hash", `UPDATE events SET ${instead(seedOf7, seedOf9)}, hash = x'' WHERE ${ofAlpha}`],
  ["a byte more", `UPDATE events SET body = unhex(hex(body) || '00') WHERE ${ofAlpha} AND version = 3`],
  [
    "two events that change places",
    `UPDATE events SET version = CASE version WHEN 3 THEN -4 ELSE -3 END WHERE ${ofAlpha} AND version IN (3, 4);
     UPDATE events SET version = -version WHERE version < 0`,
  ],
  [
    "an event of another run",
    `UPDATE events SET (body, hash) = (SELECT body, hash FROM events AS other WHERE other.run <> events.run AND other.version = 4)
     WHERE ${ofAlpha} AND version = 4`,
  ],
  [
    "an event twice",
    `UPDATE events SET (body, hash) = (SELECT body, hash FROM events AS other WHERE other.run = events.run AND other.version = 3)
     WHERE ${ofAlpha} AND version = 4`,
  ],
  ["an event in the middle, taken away", `DELETE FROM events WHERE ${ofAlpha} AND version = 3`],
  [
    "an event in the middle, taken away, and those behind it moved up",
    `DELETE FROM events WHERE ${ofAlpha} AND version = 3;
     UPDATE events SET version = 1 - version WHERE ${ofAlpha} AND version > 3;
     UPDATE events SET version = -version WHERE version < 0; UPDATE runs SET version = version - 1 WHERE id = 'alpha'`,
  ],
  ["the last events, taken away", `DELETE FROM events WHERE ${ofAlpha} AND version > 3`],
  ["the run's version, made less", "UPDATE runs SET version = version - 3 WHERE id = 'alpha'"],
  ["the run's version, made more", "UPDATE runs SET version = version + 1 WHERE id = 'alpha'"],
  [
    "the names of two runs",
    `UPDATE runs SET id = 'x' WHERE id = 'alpha'; UPDATE runs SET id = 'alpha' WHERE id = 'beta';
     UPDATE runs SET id = 'beta' WHERE id = 'x'`,
  ],
])("%s: the run is refused by name", async (name, sql) => {
  const directory = changed((file) => {
    const db = new DatabaseSync(file);
    db.exec(sql);
    expect(db.prepare("SELECT total_changes() AS count").get()).not.toEqual({ count: 0 });
    db.close();
  });
  const { alpha, beta } = await seen(directory);
  expect(alpha).toMatch(/^refused: run "alpha" cannot be read/);
  if (name !== "the names of two runs") expect(beta).toBe(whole["beta"]);
});

test.each([
  ["a snapshot", `UPDATE snapshots SET ${instead(seedOf7, seedOf9)}`],
  ["a snapshot's version", "UPDATE snapshots SET version = version - 1"],
  ["a summary", `UPDATE summaries SET body = replace(body, '"epoch":0', '"epoch":7')`],
  ["a summary's head", `UPDATE heads SET body = replace(body, '"alpha":', '"alpha":1')`],
  ["a summary of another run", "UPDATE summaries SET (hash, body) = (SELECT hash, body FROM summaries LIMIT 1)"],
])("%s that was changed is passed over for the journal", async (_name, sql) => {
  const directory = changed((file) => {
    const db = new DatabaseSync(file);
    db.exec(sql);
    expect(db.prepare("SELECT total_changes() AS count").get()).not.toEqual({ count: 0 });
    db.close();
  });
  expect(await seen(directory)).toEqual(whole);
});

test("of 200 rows that are changed, taken away, doubled or moved each is told, or does no harm", async () => {
  const random = rngFor("changed-rows, by hand");
  const edits: readonly ((table: string, row: number) => string)[] = [
    (table, row) => `DELETE FROM ${table} WHERE rowid = ${row}`,
    (table, row) =>
      `UPDATE ${table} SET body = (SELECT body FROM ${table} WHERE rowid = ${row} + 1) WHERE rowid = ${row}`,
    (table, row) =>
      `UPDATE ${table} SET (hash, body) = (SELECT hash, body FROM ${table} WHERE rowid = ${row} + 1) WHERE rowid = ${row}`,
    (table, row) => {
      const at = random.int(1, 60);
      const text = `substr(body, 1, ${at}) || '7' || substr(body, ${at} + 2)`;
      const digits = `substr(hex(body), 1, ${2 * at}) || '37' || substr(hex(body), ${2 * at} + 3)`;
      const isBinary = table === "events" || table === "snapshots";
      return `UPDATE ${table} SET body = ${isBinary ? `unhex(${digits})` : text} WHERE rowid = ${row}`;
    },
    (table, row) =>
      `UPDATE ${table} SET body = substr(body, 1, length(body) - ${random.int(1, 9)}) WHERE rowid = ${row}`,
    (table, row) => `UPDATE ${table} SET hash = randomblob(16) WHERE rowid = ${row}`,
    (_table, row) => `UPDATE runs SET version = version + ${random.int(-3, 3)} WHERE key = ${1 + (row % 2)}`,
  ];
  let refused = 0;
  for (let i = 0; i < 200; i++) {
    const table = random.int(0, 3) > 0 ? "events" : (["snapshots", "heads", "summaries"][random.int(0, 2)] ?? "");
    const sql = edits[i % edits.length]?.(table, random.int(1, table === "events" ? 26 : 2)) ?? "";
    const directory = changed((file) => {
      const db = new DatabaseSync(file);
      db.exec("PRAGMA synchronous = OFF");
      try {
        db.exec(sql);
      } catch {
        // The table's own constraints refused the change, so nothing was changed.
      }
      db.close();
    });
    const told = Object.entries(await seen(directory, threadless)).filter(([id, now]) => now !== whole[id]);
    for (const [, now] of told) expect(now, sql).toMatch(/^refused: run/);
    expect(told.length, sql).toBeLessThan(2);
    refused += told.length;
    rmSync(directory, { recursive: true });
  }
  expect(refused).toBeGreaterThan(100);
});

/** Returns the error messages of alpha's history and export; undefined for each that succeeds. */
async function told(directory: string): Promise<readonly (string | undefined)[]> {
  const store = await sqliteStore({ directory });
  const { runs } = bench({ store });
  try {
    const all = [await runs.history("alpha", 0, 100), await runs.export("alpha")];
    return all.map((result) => (result.kind === "ok" ? undefined : result.message));
  } finally {
    runs.close();
    await store.close();
  }
}

test.each([
  ["the first is missing", "DELETE FROM records WHERE seq = 0", "record 0 of its history is missing"],
  ["one in the middle is missing", "DELETE FROM records WHERE seq = 2", "record 2 of its history is missing"],
  ["the last is missing", "DELETE FROM records WHERE seq = 3", "record 3 of its history is missing"],
  [
    "one is changed",
    `UPDATE records SET body = replace(body, '"prompts":', '"prompts":1') WHERE seq = 2`,
    "record 2 of its history differs from what was written",
  ],
  [
    "one is changed and has no hash",
    `UPDATE records SET body = replace(body, '"prompts":', '"prompts":1'), hash = x'' WHERE seq = 2`,
    "record 2 of its history differs from what was written",
  ],
])("of records of the history %s: the history is refused by the run's name", async (name, sql, message) => {
  const directory = changed((file) => {
    const db = new DatabaseSync(file);
    db.exec(`${sql} AND ${ofAlpha}`);
    db.close();
  });
  const [history, exported] = await told(directory);
  expect(history).toBe(`run "alpha" cannot be read: ${message}`);
  // An export takes the newest records only.
  if (name !== "the first is missing") expect(exported).toBe(history);
  expect((await seen(directory))["alpha"]).toBe(whole["alpha"]);
});

/** Returns the page at which a table or an index of the file begins. */
function pageOf(name: string): { readonly at: number; readonly bytes: Buffer } {
  const db = new DatabaseSync(join(where, "runs.sqlite"), { readOnly: true });
  const row = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name) as { rootpage: number };
  db.close();
  return { at: (row.rootpage - 1) * 4096, bytes: readFileSync(join(where, "runs.sqlite")) };
}

test("where the index of the runs' names is damaged it is made anew; and where that fails, no run is said not to be there", async () => {
  const { at, bytes } = pageOf("sqlite_autoindex_runs_1");
  const used = [...bytes.subarray(at, at + 4096).keys()].filter((offset) => bytes[at + offset] !== 0);
  const isWhole = (directory: string): boolean => {
    const db = new DatabaseSync(join(directory, "runs.sqlite"));
    try {
      return db.prepare("PRAGMA integrity_check(runs)").get()?.["integrity_check"] === "ok";
    } catch {
      return false;
    } finally {
      db.close();
    }
  };
  let mended = 0;
  // Tests every second offset only, because opening takes time.
  for (const offset of used.filter((_, i) => i % 2 === 0)) {
    const directory = changed((file) => {
      const flipped = Buffer.from(bytes);
      flipped[at + offset] = (bytes[at + offset] ?? 0) ^ 4;
      writeFileSync(file, flipped);
    });
    const store = threadless(directory);
    for (const id of ids) {
      const found = await store.find(id).catch((error: unknown) => error);
      if (!(found instanceof StoreDamaged)) expect(found, `byte ${offset}`).toMatchObject({ id });
    }
    if (isWhole(directory)) mended++;
    await store.close();
    rmSync(directory, { recursive: true });
  }
  expect(mended).toBeGreaterThan(3);
});

test.each(["heads", "summaries"])("where the table of %s cannot be read all runs are listed", async (table) => {
  const { at } = pageOf(table);
  const directory = changed((file) => {
    const bytes = readFileSync(file);
    bytes.fill(0xff, at, at + 8);
    writeFileSync(file, bytes);
  });
  const store = await sqliteStore({ directory });
  const { runs } = bench({ store });
  const { items } = await runs.list("", 10);
  expect(items.map((item) => (item.kind === "run" ? item.view.runId : item.message))).toEqual(ids);
  runs.close();
  await store.close();
});

describe("single bits", () => {
  test("of 200 that are flipped each is told, or does no harm", async () => {
    const bytes = readFileSync(join(where, "runs.sqlite"));
    const used = [...bytes.keys()].filter((at) => bytes[at] !== 0);
    const random = rngFor("changed-rows");
    let told = 0;
    for (let i = 0; i < 200; i++) {
      const at = used[random.int(0, used.length - 1)] ?? 0;
      const directory = changed((file) => {
        const flipped = Buffer.from(bytes);
        flipped[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7));
        writeFileSync(file, flipped);
      });
      const runs: Readonly<Record<string, string>> = await Promise.try(seen, directory, threadless).catch(
        (error: unknown) => {
          // If the whole file cannot be opened, the error names it.
          expect((error as Error).message).toContain(directory);
          return {};
        },
      );
      for (const [id, now] of Object.entries(runs)) {
        if (now === whole[id]) continue;
        told++;
        expect(now, `${id} with byte ${at} changed`).toMatch(/^refused: /);
      }
      rmSync(directory, { recursive: true });
    }
    // The bytes of a run depend on its times and ids: about 60 changes are reported.
    expect(told).toBeGreaterThan(50);
  });
});
