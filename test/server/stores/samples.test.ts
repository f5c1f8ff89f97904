/** Tests that every store of runs' completions must pass. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { memorySampleStore } from "../../../server/stores/memory.ts";
import type { SampleStore } from "../../../server/stores/sample-store.ts";
import { sqliteSampleStore } from "../../../server/stores/sqlite.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { onPostgres } from "./postgres/support.ts";

const folders: ReturnType<typeof temporaryFolder>[] = [];
afterAll(() => folders.forEach((folder) => folder[Symbol.dispose]()));

const stores: readonly { readonly name: string; readonly open: () => SampleStore | Promise<SampleStore> }[] = [
  { name: "memory", open: () => memorySampleStore() },
  {
    name: "sqlite",
    open: () => {
      const folder = temporaryFolder();
      folders.push(folder);
      return sqliteSampleStore({ directory: folder.path });
    },
  },
  { name: "postgres", open: async () => (await onPostgres()).sampleStore },
];

const sample = (completion: string) => ({ about: "about", completion });

test("a file of an earlier version keeps its samples, and gets counts", async () => {
  using folder = temporaryFolder();
  const db = new DatabaseSync(join(folder.path, "samples.sqlite"));
  db.exec(`
    CREATE TABLE samples (
      number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL,
      about TEXT NOT NULL, completion TEXT NOT NULL
    ) STRICT;
    INSERT INTO samples (run, at, bytes, about, completion) VALUES ('a', 0, 5, '{}', 'old');
    PRAGMA user_version = 1;
  `);
  db.close();
  const store = await sqliteSampleStore({ directory: folder.path });
  await store.addCounts("a", "body");
  expect(await store.counts("a")).toMatchObject([{ body: "body" }]);
  expect(await store.newest("a", undefined, 1, 1e6)).toMatchObject([{ completion: "old" }]);
  await store.close();
});

describe.each(stores)("the store of completions: $name", ({ open }) => {
  let store: SampleStore;
  afterEach(() => store.close());
  const texts = async (run: string, below?: number, limit = 100, length = 1e6): Promise<string[]> =>
    (await store.newest(run, below, limit, length)).map(({ completion }) => completion);

  test("gives the newest first, of each run its own, and what is older than one", async () => {
    store = await open();
    await store.add("a", [sample("one"), sample('two " \u0000 \u{1F600}')]);
    await store.add("b", [sample("of b")]);
    await store.add("a", [sample("three")]);
    expect(await texts("a")).toEqual(["three", 'two " \u0000 \u{1F600}', "one"]);
    expect(await texts("b")).toEqual(["of b"]);
    expect(await texts("c")).toEqual([]);
    const [newest] = await store.newest("a", undefined, 1, 1e6);
    expect(newest).toMatchObject({ about: "about", completion: "three" });
    expect(await texts("a", newest?.number, 1)).toEqual(['two " \u0000 \u{1F600}']);
  });

  test("gives as many as reach a length, and one at least", async () => {
    store = await open();
    await store.add(
      "a",
      [1, 2, 3, 4].map((i) => sample(`${i}`.repeat(100))),
    );
    expect(await texts("a", undefined, 100, 1)).toHaveLength(1);
    expect(await texts("a", undefined, 100, 150)).toHaveLength(2);
  });

  test("keeps rows of counts, which are replaced only if all are there", async () => {
    store = await open();
    const bodies = async (run: string): Promise<string[]> => (await store.counts(run)).map(({ body }) => body);
    for (const body of ["one", 'two " \u{1F600}', "three"]) await store.addCounts("a", body);
    await store.addCounts("b", "of b");
    expect(await bodies("a")).toEqual(["one", 'two " \u{1F600}', "three"]);
    const [first, second, third] = (await store.counts("a")).map(({ number }) => number) as [number, number, number];
    expect(third).toBeGreaterThan(first);
    expect(await store.replaceCounts("a", [first, second], ["both", "x".repeat(100_000)])).toBe(true);
    expect(await bodies("a")).toEqual(["three", "both", "x".repeat(100_000)]);
    expect(await store.replaceCounts("a", [second, third], ["lost"])).toBe(false);
    expect(await store.replaceCounts("b", [third], ["stolen"])).toBe(false);
    expect(await bodies("a")).toHaveLength(3);
    await store.removeRun("a");
    expect([await bodies("a"), await bodies("b")]).toEqual([[], ["of b"]]);
    await store.expire(86_400_000, 10);
    expect(await bodies("b")).toEqual(["of b"]);
    await store.expire(-86_400_000, 10);
    expect(await bodies("b")).toEqual([]);
  });

  test("keeps the newest that fit, and deletes those of a run or of long ago", async () => {
    store = await open();
    await store.add(
      "a",
      [1, 2, 3].map((i) => sample(`${i}`.repeat(95))),
    );
    await store.add("b", [sample("of b")]);
    await store.trim("a", 250);
    expect(await texts("a")).toEqual(["3".repeat(95), "2".repeat(95)]);
    await store.trim("a", 250);
    expect(await texts("a")).toHaveLength(2);
    await store.removeRun("a");
    expect([await texts("a"), await texts("b")]).toEqual([[], ["of b"]]);
    expect(await store.expire(86_400_000, 10)).toBe(0);
    // Expires everything that was kept before now.
    expect(await store.expire(-86_400_000, 10)).toBe(1);
    expect(await texts("b")).toEqual([]);
  });
});
