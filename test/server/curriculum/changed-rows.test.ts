/** What was changed in the file of runs, by hand or by a flipped bit, is told with the run's name, or does no harm: never another run. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { StoreDamaged } from "../../../server/stores/store.ts";
import { adscArms, adscConstraints, banditPolicy, bench, runConfig, train, value } from "./support.ts";

const config = runConfig({ arms: adscArms, policy: banditPolicy({}, adscConstraints) });
const where = mkdtempSync(join(tmpdir(), "gradus-"));
const ids = ["alpha", "beta"];
afterAll(() => rmSync(where, { recursive: true }));

/** What is known of each run: a text, and "refused" before it where it is a refusal that names the run. */
async function seen(directory: string): Promise<Readonly<Record<string, string>>> {
  const store = await sqliteStore({ directory });
  const { runs } = bench({ store });
  try {
    const looked = ids.map(async (id) => {
      const run = await runs.get(id);
      if (run.kind === "ok") return [id, inspect(run.value, { depth: null })];
      return [id, run.message.includes(`"${id}"`) ? `refused: ${run.message}` : run.message];
    });
    return Object.fromEntries(await Promise.all(looked)) as Record<string, string>;
  } finally {
    runs.close();
    await store.close();
  }
}

/** A folder with the file as the server left it, changed. */
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
  await train(runs, "beta", 2);
  runs.close();
  await store.close();
  whole = await seen(where);
});

const ofAlpha = "run = (SELECT key FROM runs WHERE id = 'alpha')";

test.each([
  ["rewards", `UPDATE events SET body = replace(body, '[1]', '[0.5]') WHERE ${ofAlpha} AND body LIKE '%"fed"%'`],
  ["alpha of the policy", `UPDATE events SET body = replace(body, '"alpha":', '"alpha":1') WHERE ${ofAlpha}`],
  ["the seed", `UPDATE events SET body = replace(body, '"seed":"', '"seed":"9') WHERE ${ofAlpha}`],
  [
    "the seed, without its sum",
    `UPDATE events SET body = replace(body, '"seed":"', '"seed":"9'), sum = NULL WHERE ${ofAlpha}`,
  ],
  ["a blank", `UPDATE events SET body = body || ' ' WHERE ${ofAlpha} AND version = 3`],
  [
    "two events that change places",
    `UPDATE events SET version = CASE version WHEN 3 THEN -4 ELSE -3 END WHERE ${ofAlpha} AND version IN (3, 4);
     UPDATE events SET version = -version WHERE version < 0`,
  ],
  [
    "an event of another run",
    `UPDATE events SET (body, sum) = (SELECT body, sum FROM events AS other WHERE other.run <> events.run AND other.version = 4)
     WHERE ${ofAlpha} AND version = 4`,
  ],
  [
    "an event twice",
    `UPDATE events SET (body, sum) = (SELECT body, sum FROM events AS other WHERE other.run = events.run AND other.version = 3)
     WHERE ${ofAlpha} AND version = 4`,
  ],
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

/** What the history and an export of alpha say. */
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
    "record 2 of its history is not as it was written",
  ],
  [
    "one is changed and has no sum",
    `UPDATE records SET body = replace(body, '"prompts":', '"prompts":1'), sum = NULL WHERE seq = 2`,
    "record 2 of its history is not as it was written",
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

/** The page that a table or an index of the file begins with. */
function pageOf(name: string): { readonly at: number; readonly bytes: Buffer } {
  const db = new DatabaseSync(join(where, "runs.sqlite"), { readOnly: true });
  const row = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name) as { rootpage: number };
  db.close();
  return { at: (row.rootpage - 1) * 4096, bytes: readFileSync(join(where, "runs.sqlite")) };
}

test("where the index of the runs' names is damaged it is made anew; and where that fails, no run is said not to be there", async () => {
  const { at, bytes } = pageOf("sqlite_autoindex_runs_1");
  const used = [...bytes.subarray(at, at + 4096).keys()].filter((offset) => bytes[at + offset] !== 0);
  let mended = 0;
  // Every other one: opening takes time.
  for (const offset of used.filter((_, i) => i % 2 === 0)) {
    const directory = changed((file) => {
      const flipped = Buffer.from(bytes);
      flipped[at + offset] = (bytes[at + offset] ?? 0) ^ 4;
      writeFileSync(file, flipped);
    });
    const losses: string[] = [];
    const store = await sqliteStore({ directory, onLoss: (loss) => losses.push(loss) });
    for (const id of ids) {
      const found = await store.find(id).catch((error: unknown) => error);
      if (found instanceof StoreDamaged) expect(losses[0]).toContain("some cannot be found");
      else expect(found, `byte ${offset}`).toMatchObject({ id });
    }
    if (losses[0]?.includes("are mended") === true) mended++;
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
  test("of 120 that are flipped each is told, or does no harm", async () => {
    const bytes = readFileSync(join(where, "runs.sqlite"));
    const used = [...bytes.keys()].filter((at) => bytes[at] !== 0);
    const random = rngFor("changed-rows");
    let told = 0;
    for (let i = 0; i < 120; i++) {
      const at = used[random.int(0, used.length - 1)] ?? 0;
      const directory = changed((file) => {
        const flipped = Buffer.from(bytes);
        flipped[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7));
        writeFileSync(file, flipped);
      });
      const runs: Readonly<Record<string, string>> = await seen(directory).catch((error: unknown) => {
        // The whole file cannot be opened, and its name is said.
        expect((error as Error).message).toContain(directory);
        return {};
      });
      for (const [id, now] of Object.entries(runs)) {
        if (now === whole[id]) continue;
        told++;
        expect(now, `${id} with byte ${at} changed`).toMatch(/^refused: /);
      }
      rmSync(directory, { recursive: true });
    }
    expect(told).toBeGreaterThan(40);
  });
});
