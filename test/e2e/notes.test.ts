/** Notes and tags of runs, on each store: they outlive a restart, and each replica shows the same. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openServer } from "../support/in-process.ts";
import { sharedDatabase } from "../support/shared-postgres.ts";
import { temporaryFolder } from "../support/server-process.ts";

const choice = {
  arms: [{ id: "only", environment: "countdown", level: "T0" }],
  policy: { kind: "mixture" },
  promptsPerUpdate: 2,
  numGenerations: 2,
} as const;

const change = { note: "A note,\nof two lines: ü", addTags: ["math/easy", "baseline", "baseline"] };
const changed = { note: change.note, tags: ["baseline", "math/easy"] };

test("on SQLite they outlive a restart, and a list of runs has them before and after", async () => {
  using folder = temporaryFolder();
  for (const isFirst of [true, false]) {
    await using server = await openServer({ dataDir: folder.path });
    const run = server.client.run("noted");
    if (isFirst) {
      await run.create(choice);
      expect(await run.annotate(change)).toEqual(changed);
    }
    expect((await run.get()).state).toMatchObject(changed);
    expect((await server.client.listRuns()).map(({ state }) => state)).toMatchObject([changed]);
  }
});

test("on PostgreSQL each replica shows them, and changes of both are kept", async () => {
  const store = await sharedDatabase();
  using folder = temporaryFolder();
  await using near = await openServer({ store });
  copyFileSync(join(near.dataDir, "task-keys"), join(folder.path, "task-keys"));
  await using far = await openServer({ store, dataDir: folder.path });
  const [here, there] = [near.client.run("noted"), far.client.run("noted")];
  await here.create(choice);
  await here.annotate(change);
  expect((await there.get()).state).toMatchObject(changed);
  await there.annotate({ removeTags: ["baseline"], addTags: ["far"] });
  await here.annotate({ addTags: ["near"] });
  const both = { note: change.note, tags: ["far", "math/easy", "near"] };
  for (const run of [here, there]) expect((await run.get()).state).toMatchObject(both);
  for (const { client } of [near, far])
    expect((await client.listRuns()).map(({ state }) => state)).toMatchObject([both]);
});

test("on the memory store a change says what it does not do, what is refused and why", async () => {
  await using server = await openServer({ store: "memory" });
  const run = server.client.run("noted");
  await run.create(choice);
  const without: string[] = [];
  const options = { onNoEffect: (words: readonly string[]) => void without.push(...words) };
  expect(await run.annotate(change, { validateOnly: true })).toEqual(changed);
  expect((await run.get()).state).toMatchObject({ note: "", tags: [], version: 0n });
  await run.annotate(change, options);
  expect(without).toEqual([]);
  const { version } = (await run.get()).state ?? {};
  await run.annotate(change, options);
  await run.annotate({ addTags: ["other"], removeTags: ["none", "other"] }, options);
  await run.annotate({}, options);
  expect(without).toEqual([
    'the run already has the tag "math/easy"',
    'the run already has the tag "baseline"',
    'the run does not have the tag "none"',
    "the run already has this note and these tags",
  ]);
  // Changes without an effect leave no event.
  expect((await run.get()).state?.version).toBe((version ?? 0n) + 1n);
  const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => `tag-${from + at}`);
  await run.annotate({ addTags: many(0, 13) });
  const refused = [
    [{ addTags: many(13, 1) }, /^add_tags: the run would have 17 tags, and may have at most 16: remove some of them/],
    [{ note: "ü".repeat(2049) }, /^note: must have at most 4096 bytes; got 4098/],
    [{ addTags: many(0, 17) }, /^add_tags: must have at most 16 entries; got 17/],
    [{ addTags: ["good", "not good"] }, /^add_tags\[1\]: must have no characters but .*; got ' '/],
    [{ removeTags: ["x".repeat(33)] }, /^remove_tags\[0\]: must have at most 32 bytes; got 33/],
    [{ addTags: [""] }, /^add_tags\[0\]: must be set/],
  ] as const;
  for (const [asked, message] of refused)
    await expect(run.annotate(asked)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(message) as string,
    });
  await expect(server.client.run("none").annotate(change)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await run.annotate({ note: "" })).toMatchObject({ note: "" });
});
