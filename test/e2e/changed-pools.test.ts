/**
 * Tests of a pool's file that changes while the server is down: it refuses rates of the old file, and the run reports
 * the change.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRates } from "../../clients/ts/src/index.ts";
import { math } from "../../envs/math/index.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { loadPool } from "../../envs/pool.ts";
import { createRegistry } from "../../envs/registry.ts";
import { createRuns } from "../../server/runs/runs.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import { createMaker } from "../../server/tasks/making/make.ts";
import { createRunRanks } from "../../server/tasks/making/run-ranks.ts";
import { createRunRows } from "../../server/tasks/making/run-rows.ts";
import { createRunSource } from "../../server/tasks/making/run-source.ts";
import { poolDigest } from "../../server/rows/digest.ts";
import { sqliteStore } from "../../server/stores/sqlite.ts";
import type { TaskSpec } from "../../server/tasks/spec.ts";
import { openServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const rows = (numbers: readonly number[]): string =>
  numbers.map((n) => `{"problem": "What is ${n} + ${n}?", "answer": "${2 * n}"}\n`).join("");

const numbers = Array.from({ length: 12 }, (_, n) => n);
const config = {
  arms: [{ id: "own", environment: "math", source: "real" as const, pool: "own", rows: { retireAfter: 1 } }],
  policy: { kind: "mixture" as const },
  numGenerations: 2,
  promptsPerUpdate: 4,
};

test("rates are taken for the pool that they are of alone, and none without a digest once it has changed", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "own.jsonl");
  const flags = { dataDir: folder.path, pool: [`own=${file}@train`] };
  writeFileSync(file, rows(numbers));
  let first = "";
  {
    await using server = await openServer(flags);
    const run = server.client.run("run");
    await run.create(config);
    const known = await run.rows("own");
    first = known.poolDigest;
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    const { pools } = await server.client.getEnvironment("math");
    expect(pools.find(({ name }) => name === "own")?.digest).toBe(first);
    // An older client says no digest, and the pool is as the run first saw it.
    await run.rateRows("own", new Map([[3, 0.25]]));
    await run.rateRows("own", readRates(`row,pass_rate,pool_digest\n4,0.75,${first}\n`));
    await run.nextBatch({ count: 4 });
  }
  writeFileSync(file, rows([...numbers.filter((n) => n !== 7).toReversed(), 99]));
  await using server = await openServer(flags);
  const run = server.client.run("run");
  const known = await run.rows("own");
  expect(known.poolDigest).not.toBe(first);
  expect(known.gone).toBe(1);
  const rateOf = (row: number) => known.rows.find((each) => !each.gone && each.row === row)?.passRate;
  // Rows 3 and 4 of the first file are the rows 7 and 6 of this one.
  expect(rateOf(7)).toBeLessThan(0.35);
  expect(rateOf(6)).toBeGreaterThan(0.65);
  const both = new RegExp(`digest ${first}, and pool "own" has the digest ${known.poolDigest}`);
  await expect(run.rateRows("own", new Map([[3, 0.5]]), 8, { poolDigest: first })).rejects.toThrow(both);
  await expect(run.rateRows("own", new Map([[3, 0.5]]))).rejects.toThrow("do not name the pool");
  await expect(run.rateRows("own", new Map([[11, 0.5]]), 1000, { poolDigest: known.poolDigest })).resolves.toBe(4n);
  expect((await run.rows("own")).rows.find(({ row }) => row === 11)?.samples).toBe(1000);
  const { state, config: created } = await run.get();
  expect(state?.pools).toMatchObject([{ name: "own", digest: known.poolDigest, rows: 12, gone: 1 }]);
  expect(created).toBeDefined();
  // An equal configuration gives the same run, although its pool has other rows by now.
  await run.create(config);
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 4 });
  expect(tasks.length).toBeGreaterThanOrEqual(3);
  const history = await run.history();
  const told = history.flatMap(({ kind }) =>
    kind.case === "control" && kind.value.kind === "rows" ? [kind.value] : [],
  );
  expect(told[0]?.reason).toMatch(new RegExp(`digest ${first} to ${known.poolDigest}.*1 new, 1 gone, 0 back`));
});

test("a server whose pool is older than the run's refuses the run, names both digests, and is not ready", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "own.jsonl");
  const flags = { dataDir: folder.path, pool: [`own=${file}@train`] };
  writeFileSync(file, rows(numbers));
  await using old = await openServer(flags);
  const run = old.client.run("run");
  await run.create(config);
  const { poolDigest: was } = await run.rows("own");
  const ready = async () => {
    const reply = await fetch(`${old.http}/readyz`);
    return { status: reply.status, words: await reply.text() };
  };
  expect((await ready()).status).toBe(200);
  // Another server of the same store has read a newer file.
  const pool = loadPool(math, "own", rows([...numbers, 99]), [{ from: 0, to: Infinity, split: "train" }]);
  const pools = new Map([["own", pool]]);
  const registry = createRegistry([math]);
  const workers = { ready: Promise.resolve(), run: () => Promise.reject(new Error("rows need no worker")) };
  const store = await sqliteStore({ directory: folder.path });
  const ranks = createRunRanks(pools);
  const runs = createRuns<TaskSpec, TaskKey>({
    store,
    clock: systemClock,
    source: createRunSource(createMaker({ registry, pools, workers: workers as never })),
    rows: createRunRows({ pools, ranks, loadedAtMs: systemClock.now() }),
    newIncarnation: () => "other",
  });
  expect((await runs.get("run")).kind).toBe("ok");
  const both = new RegExp(`digest ${poolDigest(pool)}.*digest ${was}.*restart the server with the newer file`);
  for (const call of [() => run.nextBatch({ count: 4 }), () => run.get(), () => run.pause()])
    await expect(call()).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringMatching(both) as string,
    });
  const { status, words } = await ready();
  expect(status).toBe(503);
  expect(words).toContain("a pool is older than the one that a run draws from");
  runs.close();
  await store.close();
});
