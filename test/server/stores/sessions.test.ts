/** Tests that every store of sessions must pass. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { memorySessionStore } from "../../../server/stores/memory.ts";
import { openedLater, type SessionStore } from "../../../server/stores/session-store.ts";
import { sqliteSessionStore } from "../../../server/stores/sqlite.ts";
import { StoreUnavailable } from "../../../server/stores/store.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { onPostgres } from "./postgres/support.ts";

const folders: ReturnType<typeof temporaryFolder>[] = [];
afterAll(() => folders.forEach((folder) => folder[Symbol.dispose]()));

const stores: readonly { readonly name: string; readonly open: () => Promise<SessionStore> }[] = [
  { name: "memory", open: async () => memorySessionStore() },
  {
    name: "sqlite",
    open: () => {
      const folder = temporaryFolder();
      folders.push(folder);
      return sqliteSessionStore({ directory: folder.path });
    },
  },
  {
    name: "postgres",
    open: async () => {
      const { sessions, close } = await onPostgres();
      return { ...sessions, close };
    },
  },
];

const WIDE = { callerMax: 100, idleMs: 60_000 } as const;

describe.each(stores)("the store of sessions: $name", ({ open }) => {
  let store: SessionStore;
  afterEach(() => store.close());
  const opened = (id: string, caller = "mine", limits: Parameters<SessionStore["open"]>[1] = WIDE) =>
    store.open({ id, caller, task: `task of ${id} \u0000`, state: "0" }, limits);
  const there = async (...ids: readonly string[]): Promise<string[]> => {
    const found = await Promise.all(ids.map(async (id) => ((await store.find(id)) === undefined ? [] : [id])));
    return found.flat();
  };

  test("keeps a session until it is removed, and opens none twice", async () => {
    store = await open();
    expect(await store.find("a")).toBeUndefined();
    expect(await opened("a")).toBe("opened");
    expect(await opened("a", "other")).toBe("exists");
    const found = await store.find("a");
    expect(found).toMatchObject({ caller: "mine", task: "task of a \u0000", state: "0", version: 0 });
    expect(found?.idleMs).toBeGreaterThanOrEqual(0);
    await store.remove("a");
    expect(await there("a")).toEqual([]);
    await store.touch("a");
    expect(await there("a")).toEqual([]);
  });

  test("replaces the state at the version that its caller has seen, and at no other", async () => {
    store = await open();
    await opened("a");
    expect(await store.save("a", 0, "first")).toBe(true);
    expect(await store.save("a", 0, "second")).toBe(false);
    expect(await store.find("a")).toMatchObject({ state: "first", version: 1 });
    expect(await store.save("b", 0, "of none")).toBe(false);
    const both = await Promise.all([store.save("a", 1, "x"), store.save("a", 1, "y")]);
    expect(both.filter(Boolean)).toHaveLength(1);
  });

  test("a caller beyond its maximum loses its own oldest sessions, and no others", async () => {
    store = await open();
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    await opened("theirs", "other");
    for (const id of ["a", "b", "c"]) {
      await opened(id);
      await pause();
    }
    await store.touch("a");
    await pause();
    await opened("d", "mine", { ...WIDE, callerMax: 3 });
    expect(await there("theirs", "a", "b", "c", "d")).toEqual(["theirs", "a", "c", "d"]);
  });

  test("deletes sessions that were idle for too long when another is opened", async () => {
    store = await open();
    await opened("old");
    await new Promise((resolve) => setTimeout(resolve, 30));
    await opened("new", "other", { ...WIDE, idleMs: 10 });
    expect(await there("old", "new")).toEqual(["new"]);
  });
});

test("a store that is opened later rejects while it cannot be opened, and works once it can", async () => {
  let fails = true;
  const store = openedLater(async () => {
    if (fails) throw new Error("the folder is missing");
    return memorySessionStore();
  });
  await expect(store.find("a")).rejects.toThrow(StoreUnavailable);
  fails = false;
  expect(await store.find("a")).toBeUndefined();
  await store.close();
});
