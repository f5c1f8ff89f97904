/** Rows of a run keep their identity when the file of their pool is reversed, shuffled, extended or shortened between two starts. */
import { afterEach, describe, expect, test } from "vitest";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { math } from "../../../../envs/math/index.ts";
import type { TaskKey } from "../../../../envs/origin.ts";
import { loadPool, type Pool, rowOf } from "../../../../envs/pool.ts";
import { createRegistry } from "../../../../envs/registry.ts";
import type { RowsSeen } from "../../../../server/curriculum/events.ts";
import type { RowRule, RunConfig } from "../../../../server/curriculum/types.ts";
import type { IssuedTask } from "../../../../server/curriculum/batches.ts";
import { createRuns, type Runs } from "../../../../server/runs/runs.ts";
import { createMaker } from "../../../../server/tasks/making/make.ts";
import { createRunRanks } from "../../../../server/tasks/making/run-ranks.ts";
import { type RowsChanged, withRowsSeen } from "../../../../server/curriculum/row-lists.ts";
import type { RowsLook } from "../../../../server/runs/dependencies.ts";
import { createRunRows } from "../../../../server/tasks/making/run-rows.ts";
import { createRunSource } from "../../../../server/tasks/making/run-source.ts";
import { poolDigest } from "../../../../server/rows/digest.ts";
import { countRanks } from "../../../../server/rpc/curriculum/rank-ranges.ts";
import { memoryStore } from "../../../../server/stores/memory.ts";
import { sqliteStore } from "../../../../server/stores/sqlite.ts";
import type { Store } from "../../../../server/stores/store.ts";
import type { TaskSpec } from "../../../../server/tasks/spec.ts";
import { shortened } from "../../../simulation/reading.ts";
import { unlikeJournals } from "../../../simulation/unlike.ts";
import { temporaryFolder } from "../../../support/server-process.ts";
import {
  arm,
  fakeClock,
  mixturePolicy,
  replayPolicy,
  runConfig,
  stage,
  stagedPolicy,
  value,
} from "../../curriculum/support.ts";

const registry = createRegistry([math]);
/** Rows are numbers here: row n asks for n + n, and n is its difficulty. */
type File = readonly number[];
const N = 40;
const file: File = Array.from({ length: N }, (_, n) => n);
const reversed = file.toReversed();
const shuffled = rngFor("shuffled").shuffle(file);
const without = (...gone: readonly number[]): File => file.filter((n) => !gone.includes(n));
const extended: File = [...file, N, N + 1, N + 2];
const mixed: File = [N + 1, ...shuffled.slice(0, 20), N, ...shuffled.slice(20)];

function poolOf(rows: File, split: "train" | "eval" = "train"): Pool {
  const lines = rows.map((n) => JSON.stringify({ problem: `What is ${n} + ${n}?`, answer: `${2 * n}`, difficulty: n }));
  return loadPool(math, split, lines.join("\n"), [{ from: 0, to: Infinity, split }]);
}

const spec = (split: "train" | "eval"): TaskSpec => ({
  environment: "math",
  version: math.version,
  level: "all",
  parameters: {},
  split,
  source: "real",
  pool: split,
  answerFormat: "boxed",
  thinking: "stripped",
  rewardScheme: "graded",
  rewardParameters: {},
});

interface Server {
  readonly runs: Runs<TaskSpec, TaskKey>;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly stale: readonly string[];
  /** Returns the number n of a task's row, whatever the row's place in the file. */
  readonly n: (key: TaskKey) => number;
  shows(tasks: readonly IssuedTask<TaskKey>[]): Promise<readonly string[]>;
}

/** Each store that a server was started with, and how its runs are read back. */
const stores = new Map<Store, () => Promise<readonly string[]>>();

/** Checks that the servers' runs equal those that the independent reader builds from their journals. */
async function checkJournals(): Promise<void> {
  const all = [...stores.values()];
  stores.clear();
  for (const unlike of all) expect(await unlike()).toEqual([]);
}

afterEach(checkJournals);

let starts = 0;
/** Starts a server with the file as it is now. */
function start(
  store: Store,
  rows: File,
  evaluated: File = [1000, 1001, 1002, 1003],
  changing = (look: RowsLook): RowsLook => look,
): Server {
  const pools = new Map([
    ["train", poolOf(rows)],
    ["eval", poolOf(evaluated, "eval")],
  ]);
  const ranks = createRunRanks(pools);
  const workers = { ready: Promise.resolve(), run: () => Promise.reject(new Error("rows need no worker")) };
  const maker = createMaker({ registry, pools, workers: workers as never });
  const stale: string[] = [];
  const loadedAtMs = ++starts;
  const source = createRunSource(maker, ranks);
  const real = createRunRows({ pools, ranks, loadedAtMs });
  stores.set(store, () => unlikeJournals(store, source, fakeClock(), shortened));
  const runs = createRuns<TaskSpec, TaskKey>({
    store,
    source,
    rows: { has: real.has, look: (state) => changing(real.look(state)) },
    onStale: (message) => stale.push(message),
    clock: fakeClock(),
    newIncarnation: () => `incarnation-${starts}-${Math.random()}`,
  });
  const hashes = new Map(
    [...pools.values()].flatMap((pool) =>
      Array.from({ length: pool.size }, (_, place) => {
        const { hash, instance } = rowOf(pool, place);
        return [hash, Number(/What is (\d+)/.exec((instance as { problem: string }).problem)?.[1])] as const;
      }),
    ),
  );
  return {
    runs,
    pools,
    stale,
    n: ({ hash }) => hashes.get(hash) ?? NaN,
    shows: async (tasks) => {
      const made = value(await maker.again(tasks.map(({ key }) => ({ spec: spec("train"), key }))));
      return made.map(({ prompt }) => prompt.at(-1)?.content ?? "");
    },
  };
}

const rule: RowRule = {
  rows: N,
  by: { kind: "learnability", sharpness: 6 },
  floor: 0.2,
  kept: 192,
  retireAfter: 1,
};
const plain = { ...arm("rows", { source: "real" }), spec: spec("train") };
const stages = stagedPolicy(
  stage({ kind: "share", share: 0.5 }, {}, { min: 0, max: 0.5 }),
  stage({ kind: "open" }, {}, { min: 0.25, max: 1 }),
);
type Config = RunConfig<TaskSpec>;
const configs: Readonly<Record<string, Partial<Config>>> = {
  "a mixture": { policy: mixturePolicy() },
  "a row curriculum": { policy: mixturePolicy(), arms: [{ ...plain, rows: rule }] },
  "slices by rank": { policy: stages },
  "a replay of the same instances": {
    policy: replayPolicy({
      stages: [stage({ kind: "open" }, {})],
      cycle: { kind: "tasks", tasks: 24 },
      instances: "SAME",
    }),
  },
};

async function create(server: Server, more: Partial<Config> = {}): Promise<void> {
  const evaluation = { id: "held", spec: spec("eval"), source: "real", tasks: 4, numGenerations: 2 } as const;
  const base = runConfig({
    length: 120,
    numGenerations: 2,
    promptsPerUpdate: 6,
    seed: 11n,
    lag: { kind: "batches", count: 0 },
  });
  const config: Config = { ...base, arms: [plain], evaluationArms: [evaluation], ...more };
  const policy = countRanks({ pools: server.pools, ranks: createRunRanks(server.pools) }, config.policy, config.arms);
  value(await server.runs.create("run", { ...config, policy }));
}

const asked = (cursor: number | undefined, count = 6) => ({
  cursor,
  count,
  waitMs: 0,
  signal: new AbortController().signal,
});

/**
 * Returns a change as a server writes it: it drops all rows of a list, and adds them again in the order of the file.
 */
function moved({ lists: [list] }: RowsSeen): RowsChanged {
  const places = Array.from({ length: N }, (_, n) => n);
  const pool = poolOf(reversed);
  const added = Buffer.concat(places.map((place) => Buffer.from(rowOf(pool, place).hash, "hex")));
  const change = { environment: "math", level: "all", split: "train" };
  return { ...change, ...list, arms: [], added, gone: [[0, N - 1]], back: [] };
}

/** Answers tasks: the samples of row n are right if n is even. */
async function answer({ runs, n }: Server, tasks: readonly IssuedTask<TaskKey>[]): Promise<void> {
  const items = tasks.flatMap(({ incarnation, cursor, key }) =>
    [0, 1].map((sample) => {
      const solved = n(key) % 2 === 0;
      const result = { kind: "reward", reward: solved ? 1 : 0, solved } as const;
      return { incarnation, cursor, sample, digest: `${sample}`, result };
    }),
  );
  value(await runs.recordFeedback("run", items));
}

/** Trains for some update batches; returns the drawn rows, in order. */
async function train(server: Server, batches: number): Promise<readonly number[]> {
  const drawn: number[] = [];
  for (let i = 0; i < batches; i++) {
    const { tasks } = value(await server.runs.nextBatch("run", asked(undefined)));
    drawn.push(...tasks.map(({ key }) => server.n(key)));
    await answer(server, tasks);
  }
  return drawn;
}

async function reasons({ runs }: Server): Promise<readonly string[]> {
  const { items } = value(await runs.history("run", 0, 1000));
  return items.flatMap((item) => (item.kind === "control" ? [`${item.control}: ${item.reason}`] : []));
}

/** Returns the rows that a run draws if its file changes at the fourth update batch. */
async function changed(more: Partial<Config>, other: File, batches: number): Promise<readonly number[]> {
  const store = memoryStore();
  const before = start(store, file);
  await create(before, more);
  const drawn = [...(await train(before, 4))];
  before.runs.close();
  const after = start(store, other);
  drawn.push(...(await train(after, batches - 4)));
  after.runs.close();
  return drawn;
}

describe.each(Object.entries(configs))("a run with %s", (_, config) => {
  test.each([
    ["reversed", reversed],
    ["shuffled", shuffled],
  ])("draws the rows that it would have drawn where the file is %s", async (__, other) => {
    const undisturbed = await changed(config, file, 16);
    expect(undisturbed.every((n) => n >= 0)).toBe(true);
    expect(await changed(config, other, 16)).toEqual(undisturbed);
  });
});

describe("a pass that is under way", () => {
  const mixture = { policy: mixturePolicy() };

  test("goes on as it was where rows are added, and these join in the next one", async () => {
    for (const other of [extended, mixed]) {
      const undisturbed = await changed(mixture, file, 14);
      const drawn = await changed(mixture, other, 14);
      expect(drawn.slice(0, N)).toEqual(undisturbed.slice(0, N));
      const next = drawn.slice(N, N + other.length);
      expect(next.toSorted((a, b) => a - b)).toEqual(other.toSorted((a, b) => a - b));
    }
  });

  test("passes over rows that are gone, and keeps the order of the others", async () => {
    const undisturbed = (await changed(mixture, file, 6)).slice(24);
    const gone = undisturbed.slice(0, 3);
    const drawn = (await changed(mixture, without(...gone).toReversed(), 6)).slice(24);
    expect(drawn.slice(0, 9)).toEqual(undisturbed.filter((n) => !gone.includes(n)).slice(0, 9));
  });

  test("has a row again that comes back, at its place", async () => {
    const store = memoryStore();
    const first = start(store, file);
    await create(first, mixture);
    const undisturbed = await changed(mixture, file, 7);
    const drawn = [...(await train(first, 4))];
    const late = undisturbed[38] ?? -1;
    const second = start(store, without(late));
    drawn.push(...(await train(second, 1)));
    const third = start(store, reversed);
    drawn.push(...(await train(third, 2)));
    expect(drawn).toEqual(undisturbed);
    expect((await reasons(third)).map((reason) => /(\d+ new, \d+ gone, \d+ back)/.exec(reason)?.[1])).toEqual([
      "0 new, 1 gone, 0 back",
      "0 new, 0 gone, 1 back",
    ]);
  });

  test("goes by the first of rows that are equal, and by the next one where the first is removed", async () => {
    const twice: File = [...file, ...file];
    const undisturbed = await changed(mixture, file, 14);
    expect(await changed(mixture, twice, 14)).toEqual(undisturbed);
    const store = memoryStore();
    const first = start(store, twice);
    await create(first, mixture);
    const drawn = [...(await train(first, 4))];
    const second = start(store, twice.slice(N / 2));
    drawn.push(...(await train(second, 10)));
    expect(drawn).toEqual(undisturbed);
  });
});

describe("what is known of rows", () => {
  test("stays with their content, and is kept of rows that are gone", async () => {
    const store = memoryStore();
    const first = start(store, file);
    await create(first, configs["a row curriculum"]);
    const drawn = new Set(await train(first, 3));
    const known = value(await first.runs.rows("run", 0, 0, 100));
    const gone = [...drawn].slice(0, 2);
    const second = start(store, [...without(...gone).toReversed(), N]);
    const after = value(await second.runs.rows("run", 0, 0, 100));
    expect(after.total).toBe(N + 1);
    expect(after.gone).toBe(2);
    // A place is the row's number in the file as the run first saw it.
    for (const [n, row] of known.rows.entries())
      expect(after.rows[n]).toEqual({ ...row, retired: row.retired && !gone.includes(n), gone: gone.includes(n) });
    const more = await train(second, 10);
    expect(more.some((n) => gone.includes(n))).toBe(false);
    // The rows are retired once they are solved: none is drawn a second time.
    const solved = more.filter((n) => n % 2 === 0);
    expect(new Set(solved).size).toBe(solved.length);
    expect(solved.some((n) => drawn.has(n))).toBe(false);
    expect(more).toContain(N);
  });

  test("stays where all rows are gone, and the run says that it cannot draw; they come back", async () => {
    const store = memoryStore();
    const first = start(store, file);
    await create(first, configs["a row curriculum"]);
    await train(first, 2);
    const other = start(store, [900, 901]);
    const drawn = await train(other, 1);
    expect(new Set(drawn)).toEqual(new Set([900, 901]));
    const back = start(store, file);
    const { total, gone } = value(await back.runs.rows("run", 0, 0, 100));
    expect({ total, gone }).toEqual({ total: N + 2, gone: 2 });
  });
});

describe("an update batch that is out while rows change", () => {
  test("is given again by content; groups of rows that are gone are closed with a reason", async () => {
    const store = memoryStore();
    const first = start(store, file);
    await create(first, { policy: mixturePolicy() });
    await train(first, 1);
    const { tasks } = value(await first.runs.nextBatch("run", asked(6)));
    const shown = await first.shows(tasks);
    const gone = tasks.slice(0, 2).map(({ key }) => first.n(key));
    const second = start(store, [N, ...without(...gone).toReversed()]);
    const again = value(await second.runs.nextBatch("run", asked(6)));
    expect(again.tasks.map(({ cursor }) => cursor)).toEqual([8, 9, 10, 11]);
    expect(again.nextCursor).toBe(12);
    expect(await second.shows(again.tasks)).toEqual(shown.slice(2));
    const wanted = {
      wanted: { kind: "open" },
      from: 0,
      limit: 100,
      waitMs: 0,
      signal: new AbortController().signal,
    } as const;
    const open = value(await second.runs.groups("run", wanted));
    expect(open.groups.map(({ task }) => task.cursor)).toEqual([8, 9, 10, 11]);
    expect(await reasons(second)).toContain("close_groups: row_gone: the pool no longer has the group's row");
    await answer(second, again.tasks);
    expect(await train(second, 2)).not.toContain(gone[0]);
  });

  test("lets no task of a gone row out of a reserve", async () => {
    const store = memoryStore();
    const first = start(store, file);
    const dynamicSampling = { oversampleMax: 3, alike: "rewards" } as const;
    await create(first, { policy: mixturePolicy(), dynamicSampling });
    const { tasks } = value(await first.runs.nextBatch("run", asked(0)));
    const drawn = new Set(tasks.map(({ key }) => first.n(key)));
    const second = start(store, [...drawn, ...file.filter((n) => n % 2 === 0 && !drawn.has(n))]);
    const seen: number[] = [];
    for (let i = 0; i < 20; i++) {
      const batch = value(await second.runs.nextBatch("run", asked(i === 0 ? 0 : undefined)));
      expect(await second.shows(batch.tasks)).toHaveLength(batch.tasks.length);
      seen.push(...batch.tasks.map(({ key }) => second.n(key)));
      await answer(second, batch.tasks);
    }
    expect(seen.length).toBeGreaterThan(20);
    expect(seen.every((n) => n >= 0)).toBe(true);
  });
});

test("a round of evaluation has its tasks by content, and leaves those out whose rows are gone", async () => {
  const store = memoryStore();
  const first = start(store, file);
  await create(first);
  const request = (round: number) => ({
    armId: "held",
    round,
    cursor: 0,
    count: 10,
    signal: new AbortController().signal,
  });
  const one = value(await first.runs.nextEvaluation("run", request(1)));
  const names = one.tasks.map(({ key }) => first.n(key));
  const second = start(store, file, [1003, 1002, 1000, 1009]);
  const two = value(await second.runs.nextEvaluation("run", request(2)));
  expect(two.tasks.map(({ key }) => second.n(key))).toEqual(names.filter((n) => n !== 1001));
  const evaluationOf = async (server: Server) => value(await server.runs.get("run")).state.evaluations[0];
  expect(await evaluationOf(second)).toMatchObject({ round: 2, tasks: 3, closed: false });
  const items = two.tasks.flatMap(({ ordinal: cursor }) =>
    [0, 1].map((sample) => {
      const result = { kind: "reward", reward: 1, solved: true } as const;
      return { incarnation: two.incarnation, cursor, sample, digest: "", result, evaluation: { arm: 0, round: 2 } };
    }),
  );
  value(await second.runs.recordFeedback("run", items as never));
  expect(await evaluationOf(second)).toMatchObject({ samples: 6, closed: true });
  // Reading back gives the same evaluation.
  expect(await evaluationOf(start(store, file, [1003, 1002, 1000, 1009]))).toEqual(await evaluationOf(second));
});

describe("a run that is read back, or taken elsewhere", () => {
  test.each(Object.entries(configs))("draws on as it would have, with %s", async (_, config) => {
    using folder = temporaryFolder();
    const store = await sqliteStore({ directory: folder.path });
    const first = start(store, file);
    await create(first, config);
    await train(first, 4);
    const second = start(store, [...without(1, 2, 3).toReversed(), N]);
    await train(second, 2);
    const { state } = value(await second.runs.export("run"));
    const elsewhere = start(memoryStore(), [N, ...without(1, 2, 3)]);
    value(await elsewhere.runs.import(state, undefined));
    const killed = start(store, [...without(1, 2, 3).toReversed(), N]);
    const expected = await train(second, 1);
    expect(await train(elsewhere, 8)).toEqual([...expected, ...(await train(killed, 7))]);
    await checkJournals();
    await store.close();
  });

  test("goes back to the earlier file on one server", async () => {
    const store = memoryStore();
    await create(start(store, file), configs["a mixture"]);
    const undisturbed = await changed({ policy: mixturePolicy() }, file, 7);
    const drawn = [...(await train(start(store, file), 4))];
    const late = undisturbed[30] ?? -1;
    drawn.push(...(await train(start(store, without(late)), 1)));
    drawn.push(...(await train(start(store, file), 2)));
    expect(drawn).toEqual(undisturbed);
  });
});

test("a list that had no rows begins with a pass through those that come", () => {
  const seen = { pool: "train", digest: "0123456789abcdef", loadedAtMs: 1 };
  const change = { environment: "math", level: "all", split: "train", gone: [], back: [] };
  const state = { config: { seed: 0n, arms: [plain], evaluationArms: [] }, arms: [{ nextOrdinal: 0 }] };
  const none = { ...change, arms: [plain.id], added: new Uint8Array() };
  const lists = withRowsSeen({ ...state, lists: [] }, seen, [none]);
  const [list] = withRowsSeen({ ...state, lists }, seen, [{ ...change, arms: [], added: new Uint8Array(16) }]);
  expect(list?.walks.get(plain.id)?.passes).toEqual([{ from: 0, epoch: 0, rows: 2 }]);
});

test("the independent reader finds a server that moves rows to other places when the file changes", async () => {
  const store = memoryStore();
  const first = start(store, file);
  await create(first, configs["a mixture"]);
  await train(first, 2);
  first.runs.close();
  const moving = start(store, reversed, undefined, (look) => {
    if (look.kind !== "changed") return look;
    const events = look.events.map((event) =>
      event.kind === "rowsSeen" && event.reason !== "" ? { ...event, lists: [moved(event)] } : event,
    );
    return { ...look, events };
  });
  await train(moving, 2);
  const [unlike] = [...stores.values()];
  stores.clear();
  expect(await unlike?.()).toContainEqual(expect.stringMatching(/row [0-9a-f]{16} gets a second place/));
});

describe("a server whose pool is older than the run's", () => {
  test("refuses the run, names both digests and the remedy, and says so once it is asked", async () => {
    const store = memoryStore();
    const old = start(store, file);
    await create(old, configs["a mixture"]);
    await train(old, 1);
    const newer = start(store, extended);
    await train(newer, 1);
    expect(old.stale).toEqual([]);
    const [was, is] = [old, newer].map(({ pools }) => poolDigest(pools.get("train") as Pool));
    for (const refused of [
      await old.runs.nextBatch("run", asked(undefined)),
      await old.runs.get("run"),
      await old.runs.recordFeedback("run", []),
      await old.runs.pause("run"),
    ])
      expect(refused).toMatchObject({
        kind: "failed_precondition",
        message: expect.stringMatching(new RegExp(`digest ${is}.*digest ${was}.*restart the server`)) as string,
      });
    expect(old.stale[0]).toContain(is);
    await train(newer, 2);
  });
});

describe("a run of a server that recorded no rows", () => {
  const old = async (store: Store, more: Partial<Config>) => {
    const { runs, ...server } = start(store, file);
    runs.close();
    const ports = { store, clock: fakeClock(), newIncarnation: () => "old" };
    const ranks = createRunRanks(server.pools);
    const workers = { ready: Promise.resolve(), run: () => Promise.reject(new Error("rows need no worker")) };
    const maker = createMaker({ registry, pools: server.pools, workers: workers as never });
    const without: Server = { ...server, runs: createRuns({ ...ports, source: createRunSource(maker, ranks) }) };
    await create(without, more);
    return without;
  };

  test("takes the rows over, and says nothing where those it drew are where they were", async () => {
    const store = memoryStore();
    const drawn = [...(await train(await old(store, { policy: mixturePolicy() }), 4))];
    const now = start(store, file);
    drawn.push(...(await train(now, 4)));
    expect(drawn).toEqual(await changed({ policy: mixturePolicy() }, file, 8));
    expect(await reasons(now)).toEqual([]);
  });

  test("says so where the rows it drew are elsewhere", async () => {
    const store = memoryStore();
    await train(await old(store, { policy: mixturePolicy() }), 4);
    const now = start(store, reversed);
    await train(now, 1);
    expect(await reasons(now)).toEqual([
      expect.stringMatching(/^rows: the run recorded no rows of pool "train" before.*24 of the 24 last rows/),
    ]);
  });
});
