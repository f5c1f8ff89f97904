/** Tests of opening a database: its tables, its key, and the servers that use it. */
import pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { HOLD_MS, postgresHolds } from "../../../../server/stores/postgres/holds.ts";
import type { PostgresOptions, PostgresStores } from "../../../../server/stores/postgres/postgres.ts";
import { StoreDamaged } from "../../../../server/stores/store.ts";
import { CannotOpen } from "../../../../server/stores/thread.ts";
import { signingKey } from "../../../../server/tasks/keyring.ts";
import { eventually } from "../../../support/patience.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";
import { bytes } from "../bytes.ts";
import { key, onPostgres } from "./support.ts";

const opened: PostgresStores[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
});

async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresStores> {
  const stores = await onPostgres({ url, ...options });
  opened.push(stores);
  return stores;
}

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

const run = { id: "run", timeToLiveMs: 3_600_000, events: [bytes("0")], records: [], summary: { state: "" } };

test("servers that open a new database at once make its tables and its key once", async () => {
  const url = await sharedDatabase();
  const all = await Promise.all([1, 2, 3, 4].map(() => open(url)));
  await all[0]?.store.create(run);
  const found = await Promise.all(all.map(async ({ store }) => store.read((await store.find("run"))?.key ?? -1, 0)));
  expect(found).toEqual([[bytes("0")], [bytes("0")], [bytes("0")], [bytes("0")]]);
  expect(await query(url, "SELECT name FROM migrations")).toEqual([
    { name: "0001_start" },
    { name: "0002_samples" },
    { name: "0003_checksums" },
    { name: "0004_sessions" },
    { name: "0005_counts" },
  ]);
});

test("what a server left that ended in the middle of a migration is taken further", async () => {
  const url = await sharedDatabase();
  await open(url);
  await query(url, "DROP TABLE samples; DROP TABLE holds; DELETE FROM migrations");
  const { store, evaluationStore } = await open(url);
  expect(await store.create(run)).toBe("created");
  expect(await evaluationStore.create("e", "body")).toBe("created");
});

test("an older server refuses the tables of a newer one in words, and changes nothing", async () => {
  const url = await sharedDatabase();
  await open(url);
  await query(url, "INSERT INTO migrations (name, run_on) VALUES ('0099_later', now())");
  const refusal = onPostgres({ url });
  await expect(refusal).rejects.toThrow(CannotOpen);
  await expect(refusal).rejects.toThrow(
    "tables are of a newer server (0099_later), and this one knows them up to 0005_counts",
  );
});

test("a database that is not there is refused in words", async () => {
  const url = (await sharedDatabase()).replace(/[^/]*$/, "nowhere");
  await expect(onPostgres({ url })).rejects.toThrow(
    'cannot open or update the database: database "nowhere" does not exist',
  );
});

test("a server with other task keys is refused, and keys that are rotated seal it anew", async () => {
  const url = await sharedDatabase();
  const { store } = await open(url);
  await store.create(run);
  const [other, later] = [signingKey(Buffer.alloc(32, 1)), signingKey(Buffer.alloc(32, 2))];
  await expect(onPostgres({ url, keys: [other] })).rejects.toThrow(
    "sealed by task keys that this server does not have",
  );
  const both = await open(url, { keys: [later, key] });
  const runKey = (await store.find("run"))?.key ?? -1;
  expect(await both.store.read(runKey, 0)).toEqual([bytes("0")]);
  const fresh = await open(url, { keys: [later] });
  expect(await fresh.store.read(runKey, 0)).toEqual([bytes("0")]);
});

test("runs with the keyed hashes of an earlier version are read, and go on", async () => {
  const url = await sharedDatabase();
  const before = await open(url);
  await before.store.create({ ...run, events: [bytes("0"), bytes("1")] });
  await before.store.close();
  for (const table of ["events", "heads", "summaries", "runs"])
    await query(url, `UPDATE ${table} SET hash = '\\x00112233445566778899aabbccddeeff'`);
  await query(url, "UPDATE runs SET hash = '\\xffeeddccbbaa99887766554433221100'");
  await query(url, "DELETE FROM migrations WHERE name >= '0003_checksums'");
  const { store } = await open(url);
  const runKey = (await store.find("run"))?.key ?? -1;
  expect(await store.append(runKey, { expectedVersion: 2, events: [bytes("2")], records: [] })).toBe("appended");
  expect(await store.read(runKey, 2)).toEqual([bytes("2")]);
  expect(await store.read(runKey, 0)).toEqual([bytes("0"), bytes("1"), bytes("2")]);
  await query(url, "UPDATE events SET body = 'x' WHERE version = 3");
  await expect(store.read(runKey, 0)).rejects.toThrow("event 3 of its journal differs from what was written");
});

test("bodies that are larger than a statement may be are written in parts, and read as they were", async () => {
  const url = await sharedDatabase();
  const sizes: number[] = [];
  const real = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    sizes.push(sizeOf((args[0] as { readonly values?: readonly unknown[] }).values ?? []));
    return real.apply(this, args) as never;
  });
  const { store } = await open(url);
  await store.create(run);
  const runKey = (await store.find("run"))?.key ?? -1;
  const large = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7) % 251);
  const events = [large(3_000_000), bytes("small"), large(700_000), ...Array.from({ length: 20 }, () => large(90_000))];
  const records = Array.from({ length: 12 }, (_, seq) => ({ seq, body: "r".repeat(100_000) }));
  expect(await store.append(runKey, { expectedVersion: 1, events, records })).toBe("appended");
  expect(await store.append(runKey, { expectedVersion: 24, events: [large(2_000_000)], records: [] })).toBe("appended");
  await store.saveSnapshot(runKey, { version: 25, body: large(5_000_000) });
  expect(Math.max(...sizes)).toBeGreaterThan(500_000);
  expect(Math.max(...sizes)).toBeLessThan(1024 ** 2);
  const reader = (await open(url)).store;
  const isSame = (all: readonly Uint8Array[], others: readonly Uint8Array[]): boolean =>
    all.length === others.length && all.every((each, i) => Buffer.compare(each, others[i] ?? Buffer.alloc(0)) === 0);
  expect(isSame((await reader.read(runKey, 1)) ?? [], [...events, large(2_000_000)])).toBe(true);
  expect(isSame([(await reader.snapshot(runKey))?.body ?? bytes("")], [large(5_000_000)])).toBe(true);
  expect(await reader.records(runKey, 0, 100)).toEqual(records);
  await query(url, "DELETE FROM events WHERE run = 1 AND version = 2 AND part = 1");
  await expect(reader.read(runKey, 1)).rejects.toThrow(StoreDamaged);
  const text = { seq: 0, body: "r".repeat(1_000_000) };
  await expect(store.append(runKey, { expectedVersion: 25, events: [], records: [text] })).rejects.toThrow(
    "a record of the history has 1000000 bytes, and at most 196608 fit in a database",
  );
});

/** Returns the bytes of values on the wire. Bytes in a list are sent in hex. */
function sizeOf(values: readonly unknown[]): number {
  return values.reduce((sum: number, value) => {
    if (Array.isArray(value)) return sum + value.reduce((all: number, each) => all + 2 * sizeOf([each]) + 6, 0);
    return sum + (value instanceof Uint8Array ? value.length : String(value).length);
  }, 0);
}

test("a name is held by one server at a time, which is told when it has lost it", async () => {
  const url = await sharedDatabase();
  const [one, other] = [await open(url), await open(url)];
  const holds = postgresHolds(one.calls, 300);
  const lost = vi.fn();
  const release = await holds.hold("e", lost);
  expect(release).toBeDefined();
  expect(await other.holds.hold("e")).toBeUndefined();
  expect(await holds.hold("e")).toBeUndefined();
  // The holder renews the hold.
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(await other.holds.hold("e")).toBeUndefined();
  // The hold has expired, as when the holder was paused for longer than the hold lasts.
  await query(url, "UPDATE holds SET until = now() - interval '1 second' WHERE name = 'e'");
  let taken: Awaited<ReturnType<typeof other.holds.hold>>;
  await eventually(async () => {
    await query(url, "UPDATE holds SET until = now() - interval '1 second' WHERE name = 'e'");
    taken = await other.holds.hold("e");
    expect(taken).toBeDefined();
  });
  await eventually(() => expect(lost).toHaveBeenCalledTimes(1));
  // A holder that lost its hold does not release the new one.
  release?.();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await holds.hold("e")).toBeUndefined();
  taken?.();
  await eventually(async () => expect(await holds.hold("e")).toBeDefined());
  expect(HOLD_MS).toBeLessThanOrEqual(15_000);
});
