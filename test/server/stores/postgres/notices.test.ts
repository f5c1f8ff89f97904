/** Servers of a database tell each other at once which runs they have written to, and do without where that cannot be. */
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import type { PostgresStores } from "../../../../server/stores/postgres/postgres.ts";
import type { Store } from "../../../../server/stores/store.ts";
import { type CuttingProxy, cuttingProxy } from "../../../support/cutting-proxy.ts";
import { until } from "../../../support/patience.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";
import { ask, bench, feedbackOf, runConfig, settled, value } from "../../curriculum/support.ts";
import { bytes } from "../bytes.ts";
import { onPostgres } from "./support.ts";

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function open(url: string): Promise<Store> {
  const stores: PostgresStores = await onPostgres({ url });
  opened.push({ [Symbol.asyncDispose]: stores.close });
  return stores.store;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  opened.push({ [Symbol.asyncDispose]: () => client.end() });
  return client;
}

const begin = async (store: Store, id: string): Promise<number> => {
  await store.create({ id, timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary: { state: "" } });
  return (await store.find(id))?.key ?? -1;
};
const append = (store: Store, key: number, expectedVersion: number) =>
  store.append(key, { expectedVersion, events: [bytes("e")], records: [] });

/** Collects the notices that a store hears of some runs. */
function hearing(store: Store, keys: readonly number[]) {
  const heard: number[] = [];
  const ends = keys.map((key) => store.listen?.(key, () => heard.push(key)));
  return { heard, end: () => ends.forEach((end) => end?.()) };
}

/** Writes to a run until another store hears of it: from then on its connection listens. Gives the run's version. */
async function untilHeard(writer: Store, key: number, heard: readonly number[], from: number): Promise<number> {
  let version = from;
  await until(async () => {
    if (heard.includes(key)) return true;
    await append(writer, key, version++);
    return false;
  });
  return version;
}

test("a server hears of what others write to the runs that it listens for, and of nothing else", async () => {
  const url = await sharedDatabase();
  const [one, other] = [await open(url), await open(url)];
  const [run, turned, removed, silent] = [
    await begin(one, "run"),
    await begin(one, "turned"),
    await begin(one, "removed"),
    await begin(one, "silent"),
  ];
  const [there, own] = [hearing(other, [run, turned, removed]), hearing(one, [run, silent])];
  const version = await untilHeard(one, run, there.heard, 1);
  await append(one, silent, 1);
  expect(await (await one.turn?.(turned))?.append({ expectedVersion: 1, events: [bytes("e")], records: [] })).toBe(
    "appended",
  );
  await one.remove(removed);
  await until(() => there.heard.includes(turned) && there.heard.includes(removed));
  expect(own.heard).toEqual([]);
  there.end();
  const before = there.heard.length;
  await append(one, run, version);
  // Writes the other way, so that earlier notices have arrived.
  await untilHeard(other, silent, own.heard, 2);
  expect(there.heard).toHaveLength(before);
});

test("a few notices name hundreds of runs that are written to at once", async () => {
  const url = await sharedDatabase();
  const [one, other] = [await open(url), await open(url)];
  const keys: number[] = [];
  for (let i = 0; i < 300; i++) keys.push(await begin(one, `run-${i}`));
  const [first = -1] = keys;
  const { heard } = hearing(other, keys);
  await untilHeard(one, first, heard, 1);
  const client = await connect(url);
  let notices = 0;
  client.on("notification", () => notices++);
  await client.query("LISTEN gradus_runs");
  await Promise.all(keys.slice(1).map((key) => append(one, key, 1)));
  await until(() => new Set(heard).size === keys.length);
  expect(notices).toBeLessThan(50);
});

test("a server whose connection broke hears of the others again", async () => {
  const url = await sharedDatabase();
  const proxy: CuttingProxy = await cuttingProxy(Number(new URL(url).port));
  opened.push(proxy);
  const [one, other] = [await open(url), await open(url.replace(/:\d+\//, `:${proxy.port}/`))];
  const key = await begin(one, "run");
  const { heard } = hearing(other, [key]);
  const version = await untilHeard(one, key, heard, 1);
  proxy.cutAll();
  proxy.mend();
  heard.length = 0;
  await untilHeard(one, key, heard, version);
});

/** Returns a run that one server waits for; its clock stands still. */
async function waiting(one: Store, other: Store) {
  const [writer, waiter] = [bench({ store: one }), bench({ store: other })];
  value(await writer.runs.create("run", runConfig({ lag: { kind: "batches", count: 0 } })));
  const { tasks } = value(await ask(writer.runs, "run", 0, 6));
  const { signal } = new AbortController();
  let isAnswered = false;
  const answer = waiter.runs
    .nextBatch("run", { cursor: 6, count: 6, waitMs: 3_600_000, signal })
    .finally(() => (isAnswered = true));
  return {
    clock: waiter.clock,
    isAnswered: () => isAnswered,
    answer,
    end: async () => void value(await writer.runs.recordFeedback("run", feedbackOf(tasks, 4))),
  };
}

test("a call that waits at one server is answered as soon as another has written, though no time passes", async () => {
  const url = await sharedDatabase();
  const [one, other] = [await open(url), await open(url)];
  const key = await begin(one, "first");
  await untilHeard(one, key, hearing(other, [key]).heard, 1);
  const { isAnswered, answer, end } = await waiting(one, other);
  await settled();
  expect(isAnswered()).toBe(false);
  await end();
  expect(value(await answer).tasks).toHaveLength(6);
});

test("a database that delivers no notices is written to and read every so often all the same", async () => {
  const url = await sharedDatabase();
  const client = await connect(url);
  const user = `plain_${new URL(url).pathname.slice(1)}`;
  const [database] = (await client.query<{ name: string }>("SELECT current_database() AS name")).rows;
  // The role may not call pg_notify, as on CockroachDB, which has no NOTIFY.
  await client.query("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
  await client.query(`CREATE ROLE ${user} LOGIN`);
  await client.query(`GRANT ALL ON DATABASE ${database?.name} TO ${user}`);
  await client.query(`GRANT ALL ON SCHEMA public TO ${user}`);
  const plain = url.replace(/\/\/[^@]*@/, `//${user}@`);
  await expect((await connect(plain)).query("SELECT pg_notify('gradus_runs', '')")).rejects.toThrow(
    "permission denied",
  );
  const [one, other] = [await open(plain), await open(plain)];
  const { clock, isAnswered, answer, end } = await waiting(one, other);
  await end();
  await until(async () => {
    await clock.advance(250);
    return isAnswered();
  });
  expect(value(await answer).tasks).toHaveLength(6);
});
