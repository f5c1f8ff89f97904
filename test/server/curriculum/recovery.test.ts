/** A server that dies forgets nothing that it answered; servers beside each other lose and count nothing twice. */
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import type { Store } from "../../../server/stores/store.ts";
import { share } from "../../support/share.ts";
import { trainBySchedule } from "./scheduled.ts";
import { adscArms, adscConstraints, ask, banditPolicy, bench, runConfig, train, value, type Runs } from "./support.ts";

const directories: string[] = [];
const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), "gradus-"));
  directories.push(made);
  return made;
};
afterAll(() => directories.forEach((made) => rmSync(made, { recursive: true })));

const config = runConfig({ arms: adscArms, policy: banditPolicy({}, adscConstraints) });
const BATCHES = 8;
const END = BATCHES * config.promptsPerUpdate;

async function undisturbed() {
  const { runs } = bench();
  value(await runs.create("run", config));
  return train(runs, "run", BATCHES);
}

/** A store whose server dies with it: what reopens it finds what was committed. */
const stores: readonly { name: string; opener: () => () => Store | Promise<Store> }[] = [
  {
    name: "memory",
    opener: () => {
      const kept = memoryStore();
      return () => kept;
    },
  },
  {
    name: "sqlite",
    opener: () => {
      const where = directory();
      return () => sqliteStore({ directory: where });
    },
  },
];

describe.each(stores)("on the $name store", ({ name, opener }) => {
  test("a run goes on exactly as it would have, wherever its server dies", async () => {
    const expected = await undisturbed();
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const open = opener();
        let store = await open();
        let { runs } = bench({ store });
        value(await runs.create("run", config));
        const trace = await trainBySchedule(
          () => runs,
          "run",
          END,
          seed,
          async (rng) => {
            if (rng.int(0, 4) > 0) return;
            // The old server is not told: it is simply no longer asked.
            const old = store;
            store = await open();
            runs = bench({ store }).runs;
            if (name === "sqlite") await old.close();
          },
        );
        expect(trace).toEqual(expected);
      }),
      { numRuns: share(12) },
    );
  });

  test("servers that share it answer as one", async () => {
    const expected = await undisturbed();
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const open = opener();
        const both = [await open(), await open()] as const;
        const servers = both.map((store) => bench({ store }).runs) as [Runs, Runs];
        value(await servers[0].create("run", config));
        expect(value(await servers[1].create("run", config)).created).toBe(false);
        let turn = 0;
        const trace = await trainBySchedule(() => servers[turn++ % 2] as Runs, "run", END, seed);
        expect(trace).toEqual(expected);
        const [one, other] = await Promise.all(servers.map(async (runs) => value(await runs.get("run")).state));
        expect(one).toEqual(other);
        expect(one?.samplesRecorded).toBe(END * config.numGenerations);
        await Promise.all(both.map((store) => store.close()));
      }),
      { numRuns: share(12) },
    );
  });
});

async function twoOn(where: string): Promise<[Runs, Runs]> {
  const open = async () => bench({ store: await sqliteStore({ directory: where }) }).runs;
  return [await open(), await open()];
}

describe("two servers on one SQLite file at the same moment", () => {
  test("record each sample once between them", async () => {
    const where = directory();
    const servers = await twoOn(where);
    value(await servers[0].create("run", config));
    const asked = await Promise.all(
      servers.flatMap((runs) => [0, 6].map((cursor) => runs.nextBatch("run", { cursor, count: 6, waitMs: 0, signal }))),
    );
    const [first, second, ...others] = asked.map((result) => value(result).tasks);
    expect(others).toEqual([first, second]);
    const items = [...(first ?? []), ...(second ?? [])].flatMap(({ incarnation, cursor }) =>
      [0, 1, 2, 3].map((sample) => {
        const result = { kind: "reward", reward: sample % 2, solved: false } as const;
        return { incarnation, cursor, sample, digest: "same", result };
      }),
    );
    const statuses = await Promise.all(
      servers.flatMap((runs) => items.map(async (item) => value(await runs.recordFeedback("run", [item]))[0]?.kind)),
    );
    expect(statuses.filter((status) => status === "recorded")).toHaveLength(items.length);
    expect(statuses.filter((status) => status === "duplicate")).toHaveLength(items.length);
    for (const runs of servers) {
      expect(value(await runs.get("run")).state).toMatchObject({ samplesRecorded: items.length, batchesClosed: 2 });
    }
  });

  test("see what the other does: deletion, another run of the same id, and control", async () => {
    const where = directory();
    const [one, other] = await twoOn(where);
    value(await one.create("run", config));
    value(await other.pause("run"));
    expect(value(await one.get("run")).state.paused).toBe(true);
    value(await other.remove("run"));
    expect((await one.pause("run")).kind).toBe("not_found");
    value(await other.create("run", runConfig({ seed: 99n })));
    expect(value(await one.get("run")).config.seed).toBe(99n);
    expect(value(await one.resume("run"))).toMatchObject({ appliesFromCursor: 0 });
  });

  test("a run that another server deleted and created again is found at the first call", async () => {
    const where = directory();
    const [one, other] = await twoOn(where);
    value(await one.create("run", config));
    value(await other.remove("run"));
    value(await other.create("run", runConfig({ seed: 99n })));
    expect(value(await one.get("run")).config.seed).toBe(99n);
  });

  const { signal } = new AbortController();
});

test("a long run is read back from a snapshot and a short journal, to the same state", async () => {
  const store = memoryStore();
  const { runs, clock } = bench({ store });
  value(await runs.create("run", runConfig({ promptsPerUpdate: 64, numGenerations: 8 })));
  await train(runs, "run", 40);
  // The caller whose change makes a snapshot due is answered before the snapshot is written.
  await clock.advance(100);
  const row = await store.find("run");
  const snapshot = await store.snapshot(row?.key ?? 0);
  expect(snapshot?.version).toBeGreaterThan(0);
  const { state } = value(await runs.get("run"));
  expect(value(await bench({ store }).runs.get("run")).state).toEqual(state);
  // A snapshot of another server's format is left aside for the whole journal.
  const unread: Store = { ...store, snapshot: async () => ({ version: 5, body: Buffer.from('{"format":0}') }) };
  expect(value(await bench({ store: unread }).runs.get("run")).state).toEqual(state);
});

test("a store that fails refuses nothing silently, and the run goes on when it is well again", async () => {
  const store = memoryStore();
  let broken = false;
  const failing: Store = {
    ...store,
    append: async (key, append) => {
      if (broken) throw new Error("disk full");
      return store.append(key, append);
    },
  };
  const { runs } = bench({ store: failing });
  value(await runs.create("run", config));
  const { tasks } = await train(runs, "run", 1);
  const item = { ...(tasks[0] as (typeof tasks)[0]), sample: 0, digest: "d" };
  broken = true;
  await expect(runs.pause("run")).rejects.toThrow("disk full");
  await expect(ask(runs, "run", 6, 6)).rejects.toThrow("disk full");
  const reward = { kind: "reward", reward: 1, solved: true } as const;
  expect(value(await runs.recordFeedback("run", [{ ...item, result: reward }]))[0]?.kind).toBe(
    "conflicting_completion",
  );
  broken = false;
  expect((await train(runs, "run", 3, 6)).tasks).toHaveLength(18);
});
