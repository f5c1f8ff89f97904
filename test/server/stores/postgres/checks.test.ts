/** Tests that a journal that is read in stretches is checked in each of them. */
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import type { PostgresStores } from "../../../../server/stores/postgres/postgres.ts";
import type { Store } from "../../../../server/stores/store.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";
import { bytes } from "../bytes.ts";
import { onPostgres } from "./support.ts";

const opened: PostgresStores[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
});

/** More events than one stretch has: some are empty, and one stands in several parts. */
const EVENTS = 2500;
const LARGE = 1700;
const bodyOf = (version: number): Uint8Array =>
  version === LARGE ? new Uint8Array(900_000).fill(7) : bytes("e".repeat(version % 5));

async function journal(): Promise<{ readonly url: string; readonly store: Store; readonly key: number }> {
  const url = await sharedDatabase();
  const stores = await onPostgres({ url });
  opened.push(stores);
  const { store } = stores;
  await store.create({ id: "run", timeToLiveMs: 3_600_000, events: [bodyOf(1)], records: [], summary: { state: "" } });
  const key = (await store.find("run"))?.key ?? -1;
  const events = Array.from({ length: EVENTS - 1 }, (_, i) => bodyOf(i + 2));
  expect(await store.append(key, { expectedVersion: 1, events, records: [] })).toBe("appended");
  return { url, store, key };
}

/** Reads the journal from a version on, and returns the version that it reached. */
async function lookThrough(store: Store, key: number, from: number): Promise<number> {
  for (let at = from; ;) {
    const events = await store.read(key, at, 256 * 1024);
    if (events === undefined || events.length === 0) return at;
    at += events.length;
  }
}

async function sql(url: string, text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}

test("one that is as it was written is read from anywhere to its end", async () => {
  const { store, key } = await journal();
  for (const from of [0, 1, LARGE - 1, LARGE, LARGE + 3, EVENTS])
    expect(await lookThrough(store, key, from)).toBe(EVENTS);
  await store.remove(key);
  expect(await store.read(key, 0)).toBeUndefined();
});

test.each([
  ["a byte of a body", 1203, "UPDATE events SET body = 'x' WHERE version = 1203"],
  ["an empty body", 1205, "UPDATE events SET body = 'x' WHERE version = 1205"],
  ["a part that is not the first", LARGE, `UPDATE events SET body = 'x' WHERE version = ${LARGE} AND part = 1`],
  ["a checksum", 2203, "UPDATE events SET hash = '\\x00112233' WHERE version = 2203"],
  ["a checksum that is shorter", 2204, "UPDATE events SET hash = '\\x00' WHERE version = 2204"],
  [
    "two bodies whose lengths together are as before",
    1003,
    "UPDATE events SET body = CASE version WHEN 1003 THEN 'eeee'::bytea ELSE 'eee'::bytea END WHERE version IN (1003, 1004)",
  ],
])("%s that was changed is found", async (_, version, change) => {
  const { url, store, key } = await journal();
  await sql(url, change);
  await expect(lookThrough(store, key, 0)).rejects.toThrow(
    `event ${version} of its journal differs from what was written`,
  );
});

test("an event that is missing is found", async () => {
  const { url, store, key } = await journal();
  await sql(url, "DELETE FROM events WHERE version = 2100");
  await expect(lookThrough(store, key, 0)).rejects.toThrow("event 2100 of its journal is missing");
});
