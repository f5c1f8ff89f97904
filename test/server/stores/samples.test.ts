/** Tests that every store of runs' completions must pass. */
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
