/** Tests that every store of evaluations must pass. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { EvaluationStore, StoredSample } from "../../../server/stores/evaluation-store.ts";
import { memoryEvaluationStore } from "../../../server/stores/memory.ts";
import { sqliteEvaluationStore } from "../../../server/stores/sqlite.ts";
import { onPostgres } from "./postgres/support.ts";
import { temporaryFolder } from "../../support/server-process.ts";

const folders: ReturnType<typeof temporaryFolder>[] = [];
const directory = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder.path;
};
afterAll(() => folders.forEach((folder) => folder[Symbol.dispose]()));

const stores: readonly { readonly name: string; readonly open: () => EvaluationStore | Promise<EvaluationStore> }[] = [
  { name: "memory", open: memoryEvaluationStore },
  { name: "sqlite", open: () => sqliteEvaluationStore({ directory: directory() }) },
  { name: "postgres", open: async () => (await onPostgres()).evaluationStore },
];

const sample = (ordinal: number, index: number, completion = "text"): StoredSample => ({
  ordinal,
  index,
  completion,
  facts: `facts ${ordinal} ${index}`,
  result: `result ${ordinal} ${index}`,
});
const start = { ordinal: -1, index: -1 };

describe.each(stores)("the store of evaluations: $name", ({ open }) => {
  let store: EvaluationStore;
  const begin = async (...ids: string[]): Promise<number[]> => {
    store = await open();
    for (const id of ids) expect(await store.create(id, `body of ${id}`)).toBe("created");
    return Promise.all(ids.map(async (id) => (await store.find(id))?.key ?? -1));
  };
  afterEach(() => store.close());

  test("takes an id once", async () => {
    const [key = -1] = await begin("one");
    expect(await store.create("one", "another body")).toBe("exists");
    expect(await store.find("one")).toEqual({ id: "one", key, body: "body of one" });
    expect(await store.find("two")).toBeUndefined();
  });

  test("keeps the first sample of a place, and gives it to whoever comes later", async () => {
    const [key = -1] = await begin("one");
    const first = sample(3, 1, 'quote " and \u0000 and \u{1F600}');
    expect(await store.addSample(key, first)).toEqual({ kind: "added" });
    expect(await store.addSample(key, { ...first, completion: "later", result: "r" })).toEqual({
      kind: "exists",
      sample: first,
    });
    expect(await store.samples(key, start, 10)).toEqual([first]);
    expect(await store.count(key)).toBe(1);
  });

  test("lists in order, whatever order samples came in, and keeps evaluations apart", async () => {
    const [one = -1, two = -1] = await begin("one", "two");
    for (const [ordinal, index] of [
      [2, 0],
      [0, 1],
      [10, 0],
      [0, 0],
    ] as const)
      // prettier-ignore
      await store.addSample(one, sample(ordinal, index));
    await store.addSample(two, sample(0, 0));
    const places = [[0, 0], [0, 1], [2, 0], [10, 0]].map(([ordinal, index]) => ({ ordinal, index })); // prettier-ignore
    expect(await store.places(one, 0, 11)).toEqual(places);
    expect(await store.places(one, 1, 10)).toEqual([places[2]]);
    expect(await store.facts(one)).toEqual(
      places.map((place) => ({ ...place, facts: `facts ${place.ordinal} ${place.index}` })),
    );
    const page = await store.samples(one, { ordinal: 0, index: 0 }, 2);
    expect(page.map(({ ordinal, index }) => [ordinal, index])).toEqual([[0, 1], [2, 0]]); // prettier-ignore
    expect([await store.count(one), await store.count(two)]).toEqual([4, 1]);
  });

  test("lists evaluations by id, and deletes one with its samples", async () => {
    const [one = -1, two = -1] = await begin("one", "two", "a.b", "a");
    await store.addSample(one, sample(0, 0));
    await store.addSample(two, sample(0, 0));
    const ids = async (after: string, limit = 10) => (await store.list(after, limit)).map(({ id }) => id);
    expect(await ids("")).toEqual(["a", "a.b", "one", "two"]);
    expect(await ids("a", 2)).toEqual(["a.b", "one"]);
    expect(await store.remove(one)).toBe(true);
    expect(await store.remove(one)).toBe(false);
    expect(await store.find("one")).toBeUndefined();
    expect(await ids("")).toEqual(["a", "a.b", "two"]);
    expect(await store.addSample(one, sample(5, 0))).toEqual({ kind: "gone" });
    expect(await store.create("one", "again")).toBe("created");
    const again = (await store.find("one"))?.key ?? -1;
    expect([await store.count(again), await store.count(two)]).toEqual([0, 1]);
  });

  test("keeps tasks of suites, the first of each place", async () => {
    await begin();
    const task = (ordinal: number, body: string) => ({ ordinal, body });
    await store.saveTasks("s", [task(5, "five"), task(1, "one")]);
    await store.saveTasks("s", [task(5, "another"), task(2, "two")]);
    await store.saveTasks("t", [task(1, "of t")]);
    expect(await store.tasks("s", 0, 10)).toEqual([task(1, "one"), task(2, "two"), task(5, "five")]);
    expect(await store.tasks("s", 2, 5)).toEqual([task(2, "two")]);
    expect(await store.tasks("u", 0, 10)).toEqual([]);
  });
});

test("two processes' stores on one file see each other's samples", async () => {
  const at = directory();
  const [one, two] = await Promise.all([0, 1].map(() => sqliteEvaluationStore({ directory: at })));
  if (one === undefined || two === undefined) throw new Error("no stores");
  await one.create("e", "body");
  const key = (await two.find("e"))?.key ?? -1;
  expect(await one.addSample(key, sample(0, 0, "first"))).toEqual({ kind: "added" });
  expect(await two.addSample(key, sample(0, 0, "second"))).toMatchObject({
    kind: "exists",
    sample: { completion: "first" },
  });
  await Promise.all([one.close(), two.close()]);
});

test("refuses a file of a newer server", async () => {
  const at = directory();
  await (await sqliteEvaluationStore({ directory: at })).close();
  const db = new DatabaseSync(join(at, "evaluations.sqlite"));
  db.exec("PRAGMA user_version = 2");
  db.close();
  await expect(sqliteEvaluationStore({ directory: at })).rejects.toThrow(
    "has schema version 2, and this server reads version 1",
  );
});
