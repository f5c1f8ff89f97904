/** Tests that every store of replicas must pass. */
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReplicaStore } from "../../../server/stores/replica-store.ts";
import { sqliteReplicas } from "../../../server/stores/sqlite-replicas.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { onPostgres } from "./postgres/support.ts";

const MINUTE_MS = 60_000;

interface Opened extends AsyncDisposable {
  readonly replicas: ReplicaStore;
}

const stores: readonly { readonly name: string; readonly open: () => Promise<Opened> }[] = [
  {
    name: "sqlite",
    open: async () => {
      const folder = temporaryFolder();
      const replicas = sqliteReplicas(folder.path);
      return {
        replicas,
        [Symbol.asyncDispose]: async () => {
          await replicas.close();
          folder[Symbol.dispose]();
        },
      };
    },
  },
  {
    name: "postgres",
    open: async () => {
      const opened = await onPostgres();
      return { replicas: opened.replicas, [Symbol.asyncDispose]: () => opened.close() };
    },
  },
];

test.each(stores)("$name: who meets sees all, in the order in which they came, at one time", async ({ open }) => {
  await using opened = await open();
  const { replicas } = opened;
  const first = await replicas.meet("b", "one", MINUTE_MS);
  expect(first.replicas.map(({ id, body }) => [id, body])).toEqual([["b", "one"]]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await replicas.meet("a", "another", MINUTE_MS);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { nowMs, replicas: all } = await replicas.meet("b", 'two "é\u0000', MINUTE_MS);
  expect(all.map(({ id, body }) => [id, body])).toEqual([
    ["b", 'two "é\u0000'],
    ["a", "another"],
  ]);
  const [b, a] = all;
  expect(b!.sinceMs).toBe(first.replicas[0]!.sinceMs);
  expect(b!.seenAtMs).toBeGreaterThan(a!.seenAtMs);
  expect(nowMs).toBeGreaterThanOrEqual(b!.seenAtMs);
});

test.each(stores)("$name: who left, and who was not seen for long, is forgotten", async ({ open }) => {
  await using opened = await open();
  const { replicas } = opened;
  for (const id of ["a", "b", "c"]) await replicas.meet(id, "", MINUTE_MS);
  await replicas.leave("b");
  const idsAfter = async (forgetMs: number) => (await replicas.meet("c", "", forgetMs)).replicas.map(({ id }) => id);
  expect(await idsAfter(MINUTE_MS)).toEqual(["a", "c"]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await idsAfter(10)).toEqual(["c"]);
});

test("nobody else can read the file of replicas, whoever made it, nor what SQLite puts beside it", async () => {
  using folder = temporaryFolder();
  const modes = (): readonly number[] =>
    readdirSync(folder.path).map((name) => statSync(join(folder.path, name)).mode & 0o077);
  // Servers of earlier versions made the file with these modes, in a folder that the operator had made.
  chmodSync(folder.path, 0o755);
  for (const name of ["replicas.sqlite", "replicas.sqlite-wal"])
    writeFileSync(join(folder.path, name), "", { mode: 0o644 });
  const replicas = sqliteReplicas(folder.path);
  await replicas.meet("a", "{}", MINUTE_MS);
  expect(modes().length).toBeGreaterThanOrEqual(3);
  expect(new Set(modes())).toEqual(new Set([0]));
  await replicas.close();
  using fresh = temporaryFolder();
  const others = sqliteReplicas(fresh.path);
  await others.meet("a", "{}", MINUTE_MS);
  for (const name of readdirSync(fresh.path)) expect(statSync(join(fresh.path, name)).mode & 0o077, name).toBe(0);
  await others.close();
});
