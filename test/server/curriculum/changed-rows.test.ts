/** What was changed in the file of runs, by hand or by a flipped bit, is told with the run's name, or does no harm: never another run. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
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
