/** Tests of faults between a server and its database: nothing that was answered is lost, and nothing is there twice. */
import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { PostgresStores } from "../../../../server/stores/postgres/postgres.ts";
import { type Appended, type Store, StoreDamaged, StoreUnavailable } from "../../../../server/stores/store.ts";
import { type CuttingProxy, cuttingProxy } from "../../../support/cutting-proxy.ts";
import { eventually, until } from "../../../support/patience.ts";
import { startPostgres } from "../../../support/postgres.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";
import { bytes } from "../bytes.ts";
import { onPostgres } from "./support.ts";

const HOUR_MS = 3_600_000;
const opened: PostgresStores[] = [];
const proxies: CuttingProxy[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
  await Promise.all(proxies.splice(0).map((proxy) => proxy[Symbol.asyncDispose]()));
});

async function open(url: string, onProblem?: (problem: string | undefined) => void): Promise<PostgresStores> {
  const stores = await onPostgres({ url, ...(onProblem && { onProblem }) });
  opened.push(stores);
  return stores;
}

const newRun = (id: string) => ({
  id,
  timeToLiveMs: HOUR_MS,
  events: [bytes("0")],
  records: [],
  summary: { state: "" },
});
const appendAt = (store: Store, key: number, expectedVersion: number, ...events: string[]) =>
  store.append(key, { expectedVersion, events: events.map(bytes), records: [], summary: { state: "" } });

async function begin(store: Store, id = "run"): Promise<number> {
  expect(await store.create(newRun(id))).toBe("created");
  return (await store.find(id))?.key ?? -1;
}

async function textsOf(store: Store, key: number): Promise<readonly string[] | undefined> {
  return (await store.read(key, 0))?.map((event) => Buffer.from(event).toString());
}

async function sql(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text, [...values]);
  await client.end();
}

describe("two servers", () => {
  async function two() {
    const url = await sharedDatabase();
    const [one, other] = [await open(url), await open(url)];
    return { url, one: one.store, other: other.store, key: await begin(one.store) };
  }

  test("that write to a run at one version: one appends, the other is told, and both see the same", async () => {
    const { one, other, key } = await two();
    const outcomes = await Promise.all([appendAt(one, key, 1, "a"), appendAt(other, key, 1, "b")]);
    expect(outcomes.toSorted()).toEqual(["appended", "conflict"]);
    expect(await textsOf(one, key)).toEqual(await textsOf(other, key));
  });

  test("whose writes alternate each go on where the other ended, many runs at a time", async () => {
    const { one, other } = await two();
    const keys = await Promise.all(Array.from({ length: 20 }, (_, i) => begin(one, `run-${i}`)));
    for (let version = 1; version < 6; version++) {
      const store = version % 2 === 0 ? one : other;
      const outcomes = await Promise.all(keys.map((key) => appendAt(store, key, version, String(version))));
      expect(new Set(outcomes)).toEqual(new Set(["appended"]));
    }
    for (const key of keys) expect(await textsOf(other, key)).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  test("take turns: nobody else appends in one, and those who wait have theirs", async () => {
    const { one, other, key } = await two();
    const turn = await one.turn?.(key);
    expect(await appendAt(other, key, 1, "barges in")).toBe("conflict");
    const next = other.turn?.(key);
    expect(await turn?.append({ expectedVersion: 1, events: [bytes("a")], records: [] })).toBe("appended");
    const second = await next;
    expect(await textsOf(other, key)).toEqual(["0", "a"]);
    await second?.release();
    await second?.release();
    expect(await appendAt(one, key, 2, "b")).toBe("appended");
  });

  test("a server that is paused in its turn loses it, and writes nothing when it wakes up", async () => {
    const { one, other, key } = await two();
    const turn = await one.turn?.(key);
    // Waits until the database takes the turn back.
    const next = await other.turn?.(key);
    expect(await next?.append({ expectedVersion: 1, events: [bytes("b")], records: [] })).toBe("appended");
    expect(await turn?.append({ expectedVersion: 1, events: [bytes("a")], records: [] })).toBe("conflict");
    expect(await textsOf(one, key)).toEqual(["0", "b"]);
  });

  test("with clocks that are hours apart agree on what has expired: the database's time tells", async () => {
    const { one, other, key } = await two();
    const realMs = Date.now();
    vi.setSystemTime(realMs + 2 * HOUR_MS);
    await one.touch(key, HOUR_MS);
    expect((await one.expired()).runs).toEqual([]);
    vi.setSystemTime(realMs - 2 * HOUR_MS);
    await other.touch(key, HOUR_MS);
    const { nowMs } = await other.expired();
    expect(Math.abs(nowMs - realMs)).toBeLessThan(HOUR_MS);
    expect(await other.removeExpired(nowMs + 0.9 * HOUR_MS)).toEqual([]);
    expect(await other.removeExpired(nowMs + 1.1 * HOUR_MS)).toMatchObject([{ id: "run", key }]);
  });
});

describe("a failover lost what one server had written, and another wrote in its place", () => {
  async function setBack() {
    const url = await sharedDatabase();
    const [one, other] = [(await open(url)).store, (await open(url)).store];
    const key = await begin(one);
    await sql(url, "CREATE TABLE standby AS SELECT key, version, hash FROM runs");
    expect(await appendAt(one, key, 1, "lost")).toBe("appended");
    await sql(url, "DELETE FROM events WHERE version = 2");
    await sql(url, "UPDATE runs SET version = s.version, hash = s.hash FROM standby s WHERE s.key = runs.key");
    expect(await appendAt(other, key, 1, "instead")).toBe("appended");
    return { one, other, key };
  }
  const setBackTo =
    "event 2 of its journal differs from the one that this server has read: the database was restored to an earlier state";

  test.each([
    ["append", (store: Store, key: number) => appendAt(store, key, 2, "after what is lost")],
    [
      "take a turn",
      async (store: Store, key: number) =>
        (await store.turn?.(key))?.append({ expectedVersion: 2, events: [bytes("after what is lost")], records: [] }),
    ],
  ])("the first one does not %s behind what it knows, and is refused", async (_, write) => {
    const { one, other, key } = await setBack();
    expect(await write(one, key)).toBe("conflict");
    await expect(one.read(key, 2)).rejects.toThrow(setBackTo);
    expect(await write(one, key)).toBe("conflict");
    expect(await textsOf(other, key)).toEqual(["0", "instead"]);
    expect(await appendAt(other, key, 2, "and on")).toBe("appended");
    await expect(one.read(key, 2)).rejects.toThrow(setBackTo);
    expect(await textsOf(other, key)).toEqual(["0", "instead", "and on"]);
  });
});

describe("a journal that was changed by hand is refused", () => {
  const journalEnds = "its journal ends at event 4, but 5 events were written";
  test.each([
    [
      "edited",
      "UPDATE events SET body = 'x' WHERE run = $1 AND version = 3",
      "event 3 of its journal differs from what was written",
    ],
    ["missing", "DELETE FROM events WHERE run = $1 AND version = 3", "event 3 of its journal is missing"],
    ["missing at the end", "DELETE FROM events WHERE run = $1 AND version = 5", journalEnds],
    [
      "in another order",
      "UPDATE events SET version = CASE version WHEN 2 THEN -3 ELSE -2 END WHERE run = $1 AND version IN (2, 3)",
      "event 2 of its journal is missing",
    ],
    [
      "doubled at the end",
      "INSERT INTO events SELECT run, 6, part, writer, hash, body FROM events WHERE run = $1 AND version = 5",
      "event 6 of its journal comes after the last event",
    ],
    [
      "cut off with the run's version",
      "UPDATE runs SET version = 4 WHERE key = $1",
      "event 5 of its journal comes after the last event",
    ],
  ])("%s", async (_, text, message) => {
    const url = await sharedDatabase();
    const { store } = await open(url);
    const key = await begin(store);
    const beside = await begin(store, "beside");
    await appendAt(store, key, 1, "1", "2", "3", "4");
    await sql(url, text, [key]);
    if (text.includes("-3"))
      await sql(url, "UPDATE events SET version = -version WHERE run = $1 AND version < 0", [key]);
    const fresh = (await open(url)).store;
    const failure: unknown = await fresh.read(key, 0).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreDamaged);
    expect((failure as Error).message).toContain(
      text.includes("-3") ? "event 2 of its journal differs from what was written" : message,
    );
    expect(await textsOf(fresh, beside)).toEqual(["0"]);
  });

  test("a snapshot and a summary that were changed are not believed", async () => {
    const url = await sharedDatabase();
    const { store } = await open(url);
    const key = await begin(store);
    await store.saveSnapshot(key, { version: 1, body: bytes("state") });
    await sql(url, "UPDATE snapshots SET body = 'other'");
    expect(await store.snapshot(key)).toBeUndefined();
    await sql(url, "UPDATE summaries SET body = 'other'");
    expect((await store.list("", 10)).runs).toMatchObject([{ id: "run", summary: undefined }]);
  });
});

describe("a reply that is lost on its way", () => {
  async function behindProxy() {
    const url = await sharedDatabase();
    const proxy = await cuttingProxy(Number(new URL(url).port));
    proxies.push(proxy);
    const near = new URL(url);
    near.port = String(proxy.port);
    return { url, proxy, store: (await open(near.href)).store, direct: (await open(url)).store };
  }

  test("an append that was committed is appended, and there once", async () => {
    const { proxy, store, direct } = await behindProxy();
    const key = await begin(store);
    await appendAt(store, key, 1, "warm");
    const cut = proxy.cutReplyTo("append");
    expect(await appendAt(store, key, 2, "a", "b")).toBe("appended");
    await cut;
    expect(await textsOf(direct, key)).toEqual(["0", "warm", "a", "b"]);
    expect(await appendAt(store, key, 4, "c")).toBe("appended");
  });

  test("one of many in a group, some of which conflict: each is told what became of it", async () => {
    const { proxy, store, direct } = await behindProxy();
    const keys = await Promise.all(["a", "b", "c"].map((id) => begin(store, id)));
    for (const key of keys) await appendAt(store, key, 1, "warm");
    await appendAt(direct, keys[1] ?? -1, 2, "another's");
    const cut = proxy.cutReplyTo("append");
    const outcomes = await Promise.all(keys.map((key) => appendAt(store, key, 2, "mine")));
    await cut;
    expect(outcomes).toEqual(["appended", "conflict", "appended"]);
    const texts = await Promise.all(keys.map((key) => textsOf(direct, key)));
    expect(texts.map((each) => each?.at(-1))).toEqual(["mine", "another's", "mine"]);
  });

  test("an append that another has followed meanwhile is appended all the same", async () => {
    const { proxy, store, direct } = await behindProxy();
    const key = await begin(store);
    await appendAt(store, key, 1, "warm");
    const cut = proxy.cutReplyTo("append");
    const mine = appendAt(store, key, 2, "mine");
    await cut;
    proxy.cutAll();
    await eventually(async () => expect(await appendAt(direct, key, 3, "another's")).toBe("appended"));
    proxy.mend();
    expect(await mine).toBe("appended");
    expect(await textsOf(direct, key)).toEqual(["0", "warm", "mine", "another's"]);
  });

  test("the end of a turn, of a creation and of a deletion", async () => {
    const { proxy, store, direct } = await behindProxy();
    let cut = proxy.cutReplyTo("COMMIT");
    expect(await store.create(newRun("run"))).toBe("created");
    await cut;
    const key = (await direct.find("run"))?.key ?? -1;
    const turn = await store.turn?.(key);
    cut = proxy.cutReplyTo("COMMIT");
    expect(await turn?.append({ expectedVersion: 1, events: [bytes("a")], records: [] })).toBe("appended");
    await cut;
    expect(await textsOf(direct, key)).toEqual(["0", "a"]);
    await store.find("run");
    cut = proxy.cutReplyTo("DELETE FROM runs");
    expect(await store.remove(key)).toBe(true);
    await cut;
    expect(await direct.find("run")).toBeUndefined();
  });
});

describe("the database", () => {
  test("killed while runs are written: what was answered is there, once, and it goes on by itself", async () => {
    await using postgres = await startPostgres();
    const problems: (string | undefined)[] = [];
    const { store } = await open(postgres.url, (problem) => problems.push(problem));
    const keys = await Promise.all(["a", "b", "c", "d"].map((id) => begin(store, id)));
    const appended = keys.map((): string[] => []);
    let over = false;
    const writers = keys.map(async (key, writer) => {
      for (let i = 0; !over; i++) {
        const text = `${writer} ${i}`;
        if ((await appendNext(store, key, text)) === "appended") appended[writer]?.push(text);
      }
    });
    /** Waits until each writer has had `count` more answers. */
    const more = async (count: number): Promise<void> => {
      const before = appended.map(({ length }) => length);
      await until(() => appended.every(({ length }, i) => length >= (before[i] ?? 0) + count));
    };
    for (let times = 0; times < 3; times++) {
      await more(4);
      await postgres.stop("immediate");
      await postgres.start();
    }
    await eventually(() => expect(problems.at(-1)).toBeUndefined());
    await more(4);
    over = true;
    await Promise.all(writers);
    for (const [i, key] of keys.entries()) {
      const texts = (await textsOf(store, key)) ?? [];
      expect(new Set(texts).size).toBe(texts.length);
      expect(appended[i]?.filter((text) => !texts.includes(text))).toEqual([]);
      expect(appended[i]?.length).toBeGreaterThanOrEqual(16);
    }
  });

  test("away: calls are refused as what may pass, health is told, and it is found again by itself", async () => {
    await using postgres = await startPostgres();
    const problems: (string | undefined)[] = [];
    const { store } = await open(postgres.url, (problem) => problems.push(problem));
    const key = await begin(store);
    await postgres.stop("immediate");
    await expect(store.find("run")).rejects.toThrow(StoreUnavailable);
    expect(problems.at(-1)).toContain("the database cannot be reached");
    await expect(appendAt(store, key, 1, "a")).rejects.toThrow(StoreUnavailable);
    await expect(store.create(newRun("other"))).rejects.toThrow(StoreUnavailable);
    await postgres.start();
    const backAtMs = performance.now();
    await eventually(() => expect(problems.at(-1)).toBeUndefined());
    expect(performance.now() - backAtMs).toBeLessThan(5000);
    expect(await appendAt(store, key, 1, "a")).toBe("appended");
  });
});

/** Appends at the run's current version; undefined: the outcome is not known. */
async function appendNext(store: Store, key: number, text: string): Promise<Appended | undefined> {
  try {
    const events = await store.read(key, 0);
    return await appendAt(store, key, events?.length ?? 0, text);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return undefined;
  }
}
