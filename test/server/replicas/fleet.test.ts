/**
 * Tests of the agreement between servers of one store: its time, the available resources, and which servers may serve.
 */
import { expect, test } from "vitest";
import { type Fleet, joinFleet } from "../../../server/replicas/fleet.ts";
import { differences, type Identity } from "../../../server/replicas/identity.ts";
import type { ReplicaStore, StoredReplica } from "../../../server/stores/replica-store.ts";
import { StoreUnavailable } from "../../../server/stores/store.ts";
import { fakeClock } from "../curriculum/support.ts";

const HOUR_MS = 3_600_000;

const plain: Identity = {
  version: "1.0.0",
  environments: { "np/tsp version 2": "known" },
  pools: { rows: "aa" },
  ports: { judge: "open" },
  keys: ["k1"],
};

/** Returns a store that answers at once, and can be made unreachable. */
function world() {
  const clock = fakeClock();
  const rows = new Map<string, StoredReplica>();
  const store = { isAway: false };
  const replicas: ReplicaStore = {
    meet: async (id, body, forgetMs) => {
      if (store.isAway) throw new StoreUnavailable("it is away");
      const nowMs = clock.wallNow();
      rows.set(id, { id, body, sinceMs: rows.get(id)?.sinceMs ?? nowMs, seenAtMs: nowMs });
      for (const row of rows.values()) if (row.seenAtMs < nowMs - forgetMs) rows.delete(row.id);
      return { nowMs, replicas: [...rows.values()].sort((a, b) => a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : 1)) };
    },
    leave: async (id) => void rows.delete(id),
    close: async () => undefined,
  };
  /** Starts a server; `aheadMs` is the error of its own clock. */
  const join = async (
    id: string,
    more: {
      aheadMs?: number;
      identity?: { -readonly [Name in keyof Identity]?: Identity[Name] };
      drainOthers?: boolean;
    } = {},
  ) => {
    const { aheadMs = 0, identity = {}, drainOthers = false } = more;
    let killed = false;
    const own = {
      ...clock,
      now: () => clock.now() + aheadMs,
      setTimer: (delayMs: number, callback: () => void) => clock.setTimer(delayMs, () => killed || callback()),
    };
    const joined = await joinFleet({
      store: replicas,
      id,
      identity: () => ({ ...plain, ...identity }),
      drainOthers,
      clock: own,
      pause: (ms) => clock.advance(ms),
    });
    await clock.advance(1);
    if (joined.kind === "refused") return { refused: joined.message };
    const down = new Map<string, string>();
    const lacking: (string | undefined)[] = [];
    const replacedBy: string[] = [];
    const problems: boolean[] = [];
    let keys: string | undefined;
    joined.fleet.start({
      onDown: (resource, reason) => (reason === undefined ? down.delete(resource) : down.set(resource, reason)),
      onLack: (resource) => lacking.push(resource),
      onKeys: (trouble) => (keys = trouble),
      onReplaced: (by) => replacedBy.push(by),
      onProblem: (error) => problems.push(error !== undefined),
    });
    /** Ends mounting, with these environments. */
    const mounted = (environments: Identity["environments"]): void => {
      identity.environments = environments;
      delete identity.isMounting;
    };
    const turnKeys = (...given: readonly string[]): void => void (identity.keys = given);
    return {
      fleet: joined.fleet,
      down,
      lacking,
      replacedBy,
      problems,
      keys: () => keys,
      turnKeys,
      mounted,
      kill: () => (killed = true),
    };
  };
  const joining = async (...args: Parameters<typeof join>) => {
    const made = await join(...args);
    if (made.refused !== undefined) throw new Error(made.refused);
    return made;
  };
  return { clock, store, join, joining };
}

test("one that was killed keeps no other out for longer than it counts, and one that is there does", async () => {
  const { clock, join, joining } = world();
  const identity = { ports: { judge: "open", teacher: "open" } };
  const first = await joining("first", { identity });
  expect((await join("second")).refused).toMatch(/^this server differs from replica first: /);
  first.kill();
  const beforeMs = clock.now();
  await joining("third");
  expect(clock.now() - beforeMs).toBeGreaterThan(8_000);
  expect(clock.now() - beforeMs).toBeLessThan(15_000);
});

test.each([
  ["the first", "second", "first"],
  ["the second", "first", "second"],
] as const)(
  "replicas that still mount serve side by side, and %s to be mounted differently is refused",
  async (...names) => {
    const { joining } = world();
    const all = { first: { isMounting: true as const }, second: { isMounting: true as const } };
    const servers = {
      first: await joining("first", { identity: all.first }),
      second: await joining("second", { identity: all.second }),
    };
    const [, before, after] = names;
    servers[before].mounted({ "mine/word version 1": "aa" });
    expect(await servers[before].fleet.differs()).toBeUndefined();
    servers[after].mounted({ "mine/word version 1": "bb" });
    expect(await servers[after].fleet.differs()).toContain(
      `this server differs from replica ${before}: environment mine/word version 1 differs between this server and the other`,
    );
    servers[after].mounted({ "mine/word version 1": "aa" });
    expect(await servers[after].fleet.differs()).toBeUndefined();
  },
);

test("a replica whose clock is two hours off goes by the store's time", async () => {
  const { clock, joining } = world();
  for (const [id, aheadMs] of [
    ["ahead", 2 * HOUR_MS],
    ["behind", -2 * HOUR_MS],
  ] as const) {
    const { fleet } = await joining(id, { aheadMs });
    expect(fleet.clock.now()).toBe(clock.now());
  }
});

test("of replicas whose keys come to differ the odd one says why, and is ready again when it has the others' keys", async () => {
  const { clock, joining } = world();
  const [a, b, c] = [await joining("a"), await joining("b"), await joining("c")];
  const troubles = () => [a.keys(), b.keys(), c.keys()].map((each) => each !== undefined);
  await clock.advance(5_000);
  expect(troubles()).toEqual([false, false, false]);
  // The oldest server differs from the two others.
  a.turnKeys("other");
  await clock.advance(5_000);
  expect(troubles()).toEqual([true, false, false]);
  expect(a.keys()).toContain(
    "replica b: the other server does not have key other, with which this server signs task ids",
  );
  expect(a.keys()).toContain("this server does not have key k1, with which the other server signs task ids");
  a.turnKeys("k1");
  await clock.advance(5_000);
  expect(troubles()).toEqual([false, false, false]);
  // If each has another key, only the oldest goes on.
  b.turnKeys("k2");
  c.turnKeys("k3");
  await clock.advance(5_000);
  expect(troubles()).toEqual([false, true, true]);
  // If only two are left, the older one goes on, whichever has changed.
  c.kill();
  await clock.advance(20_000);
  a.turnKeys("k4");
  await clock.advance(5_000);
  expect([a.keys(), b.keys() !== undefined]).toEqual([undefined, true]);
  // A killed server says nothing of its keys.
  a.kill();
  await clock.advance(20_000);
  expect(b.keys()).toBeUndefined();
});

test("a rotation of keys in the order of the guide leaves every replica ready", async () => {
  const { clock, joining } = world();
  const [a, b] = [await joining("a"), await joining("b")];
  const steps: readonly (readonly string[])[] = [["k1", "k2"], ["k2", "k1"], ["k2"]];
  for (const step of steps)
    for (const each of [a, b]) {
      each.turnKeys(...step);
      await clock.advance(3_000);
      expect([a.keys(), b.keys()]).toEqual([undefined, undefined]);
    }
});

test("an arm's resource is down while no replica that is alive can ask it", async () => {
  const { clock, joining } = world();
  const [a, b] = [await joining("a"), await joining("b")];
  a.fleet.tell("judge", "it does not answer");
  await clock.advance(5_000);
  expect([a.down, b.down]).toEqual([new Map(), new Map()]);
  b.fleet.tell("judge", "nor here");
  await clock.advance(5_000);
  expect([...a.down.keys(), ...b.down.keys()]).toEqual(["judge", "judge"]);
  const c = await joining("c");
  await clock.advance(5_000);
  expect([a.down.size, b.down.size, c.down.size]).toEqual([0, 0, 0]);
  // A replica that was killed serves nothing.
  c.kill();
  await clock.advance(20_000);
  expect([a.down.size, b.down.size]).toEqual([1, 1]);
  a.fleet.tell("judge", undefined);
  await clock.advance(5_000);
  expect([a.down.size, b.down.size]).toEqual([0, 0]);
});

test("a replica that cannot ask what another can leaves calls to it, and one that has no better does not", async () => {
  const { clock, joining } = world();
  const [a, b] = [await joining("a"), await joining("b")];
  a.fleet.tell("judge", "it does not answer");
  await clock.advance(5_000);
  expect([a.lacking, b.lacking]).toEqual([["judge"], []]);
  b.fleet.tell("sandbox", "it does not answer");
  await clock.advance(5_000);
  expect([a.lacking, b.lacking]).toEqual([["judge", undefined], []]);
  b.fleet.tell("judge", "nor here");
  await clock.advance(5_000);
  expect([a.lacking, b.lacking]).toEqual([["judge", undefined], ["sandbox"]]);
});

test("a row from before the store's clock was set back is nobody's, and those who are there are not taken for dead", async () => {
  const { clock, joining } = world();
  const [a, b, killed] = [await joining("a"), await joining("b"), await joining("killed")];
  a.fleet.tell("judge", "it does not answer");
  await clock.advance(5_000);
  killed.kill();
  clock.jump(-2 * HOUR_MS);
  await clock.advance(20_000);
  expect([a.down, b.down]).toEqual([new Map(), new Map()]);
  b.fleet.tell("judge", "nor here");
  await clock.advance(5_000);
  expect([...a.down.keys(), ...b.down.keys()]).toEqual(["judge", "judge"]);
  expect([a.lacking, b.lacking]).toEqual([["judge", undefined], []]);
});

test("while the store is away nothing is decided, and after it not before all could come back", async () => {
  const { clock, store, joining } = world();
  const [a, b] = [await joining("a"), await joining("b")];
  a.fleet.tell("judge", "it does not answer");
  await clock.advance(5_000);
  store.isAway = true;
  await clock.advance(60_000);
  expect(a.problems).toEqual([true]);
  store.isAway = false;
  await clock.advance(20_000);
  expect(a.problems).toEqual([true, false]);
  expect([a.down.size, b.down.size]).toEqual([0, 0]);
});

test("a replica that differs is refused with the difference", async () => {
  const { join, joining } = world();
  await joining("first");
  const refusedFor = async (identity: Partial<Identity>) => (await join("other", { identity })).refused;
  expect(await refusedFor({ pools: { rows: "bb" } })).toContain(
    "replica first: pool rows has different rows on this server and the other",
  );
  expect(await refusedFor({ pools: { rows: "aa", more: "cc" } })).toContain("pool more is only on this server");
  expect(await refusedFor({ version: "2.0.0" })).toContain("this server has Gradus 2.0.0, and the other has 1.0.0");
  expect(await refusedFor({ environments: {} })).toContain("environment np/tsp version 2 is only on the other server");
  const own = { policies: { "module mine.ts": "dd" } };
  expect(await refusedFor(own)).toContain("policies of module mine.ts is only on this server");
  expect(await refusedFor({ ports: {} })).toContain("judge is only on the other server");
  expect(await refusedFor({ keys: ["k2"] })).toContain(
    "the other server does not have key k2, with which this server signs task ids",
  );
  expect(await refusedFor({})).toBeUndefined();
});

test("keys are rotated while replicas run: each must open what the others sign", () => {
  const of = (...keys: string[]): Identity => ({ ...plain, keys });
  expect(differences(of("old", "new"), of("old"))).toEqual([]);
  expect(differences(of("new", "old"), of("old", "new"))).toEqual([]);
  expect(differences(of("new", "old"), of("old"))).toHaveLength(1);
});

test("a new version drains the others, which do not come back beside it; then it is replaced the same way", async () => {
  const { clock, join, joining } = world();
  const old = [await joining("a"), await joining("b")];
  const rollout = { identity: { version: "2.0.0" }, drainOthers: true };
  const next = await joining("c", rollout);
  await clock.advance(5_000);
  for (const { replacedBy } of old) expect(replacedBy).toEqual([expect.stringContaining("c: this server has Gradus")]);
  expect(next.replacedBy).toEqual([]);
  // A supervisor starts the drained server again.
  expect((await join("b again", { drainOthers: true })).refused).toContain(
    "replica c is replacing servers like this one",
  );
  await Promise.all(old.map(({ fleet }: { fleet: Fleet }) => fleet.leave()));
  await clock.advance(5_000);
  await joining("a back", { drainOthers: true });
  await clock.advance(5_000);
  expect(next.replacedBy).toHaveLength(1);
});
