/** Task keys in a database: servers that have only the sealing key in common sign and open each other's ids. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { serve } from "../../../../server/main.ts";
import { readConfig } from "../../../../server/runtime/config.ts";
import { openLog } from "../../../../server/runtime/logging.ts";
import { changeKeyFile, keyName, retire, rotate } from "../../../../server/tasks/rotate-keys.ts";
import { gradus } from "../../../cli/gradus.ts";
import { openServer } from "../../../support/in-process.ts";
import { eventually, PATIENCE_MS } from "../../../support/patience.ts";
import { temporaryFolder } from "../../../support/server-process.ts";
import { sharedDatabase } from "../../../support/shared-postgres.ts";

const choice = { environment: "countdown", level: "T0", seed: 1n } as const;
const answer = "<answer>1</answer>";

// The first two tests wait most of the time for servers to read changed keys.
test.concurrent(
  "are made by the first server, signed with by all, and rotated and retired while these run",
  { timeout: 2 * PATIENCE_MS },
  async () => {
    using folder = temporaryFolder();
    const keyFile = join(folder.path, "sealing");
    writeFileSync(keyFile, `${"a1".repeat(32)}\n`);
    const flags = { store: await sharedDatabase(), keyFile, taskKeys: "store" };
    await using first = await openServer(flags);
    await using second = await openServer(flags);
    const old = await first.client.reset(choice);
    const reasonOf = async (task: typeof old): Promise<string> => {
      const outcome = await second.client.step(task, answer);
      return outcome.kind === "unscored" ? outcome.reason : outcome.kind;
    };
    expect(await reasonOf(old)).toBe("scored");
    // A server that has only the sealing key signs with that key, and the others refuse its ids.
    await using apart = await openServer({ keyFile });
    expect(await reasonOf(await apart.client.reset(choice))).toBe("invalid_task_id");

    const keys = async (...args: readonly string[]) => {
      const place = ["--task-keys", "store", "--store", flags.store, "--key-file", keyFile];
      const { code, out, err } = await gradus({ cwd: folder.path }, "keys", ...args, ...place, "--json", "--quiet");
      expect([code, err]).toEqual([0, ""]);
      return (JSON.parse(out) as { readonly keys: readonly { readonly key: string; readonly signs: boolean }[] }).keys;
    };
    const [before] = await keys("list");
    const rotated = await keys("rotate");
    expect(rotated.map(({ signs }) => signs)).toEqual([true, false]);
    expect(rotated[1]?.key).toBe(before?.key);
    const renewed = await eventually(async () => {
      const task = await first.client.reset(choice);
      expect(task.taskId).not.toBe(old.taskId);
      return task;
    });
    expect(await Promise.all([old, renewed].map(reasonOf))).toEqual(["scored", "scored"]);
    expect(await keys("retire", before?.key ?? "")).toEqual([rotated[0]]);
    await eventually(async () => expect(await reasonOf(old)).toBe("invalid_task_id"));
    expect(await reasonOf(renewed)).toBe("scored");
  },
);

test.concurrent(
  "of a file are rotated and retired while a server runs on a database, which is opened with those that are left",
  { timeout: 2 * PATIENCE_MS },
  async () => {
    using folder = temporaryFolder();
    const keyFile = join(folder.path, "task-keys");
    writeFileSync(keyFile, `${"a1".repeat(32)}\n`);
    const place = { keyFile, dataDir: folder.path };
    const flags = { store: await sharedDatabase(), keyFile };
    {
      await using server = await openServer(flags);
      const old = await server.client.reset(choice);
      const rotated = changeKeyFile(place, rotate);
      if (rotated.kind !== "changed") throw new Error(rotated.message);
      await eventually(async () => expect((await server.client.reset(choice)).taskId).not.toBe(old.taskId));
      expect(changeKeyFile(place, retire(keyName(rotated.keyring[1] ?? rotated.keyring[0]))).kind).toBe("changed");
      await eventually(async () => {
        const outcome = await server.client.step(old, answer);
        expect(outcome.kind === "unscored" && outcome.reason).toBe("invalid_task_id");
      });
    }
    await (await openServer(flags))[Symbol.asyncDispose]();
  },
);

test("are looked at and rotated where a server has made them: a command makes no tables, and changes none", async () => {
  using folder = temporaryFolder();
  const keyFile = join(folder.path, "sealing");
  writeFileSync(keyFile, `${"a1".repeat(32)}\n`);
  const store = await sharedDatabase();
  const place = ["--task-keys", "store", "--store", store, "--key-file", keyFile];
  const keys = async (command: string) => {
    const { code, err } = await gradus({ cwd: folder.path }, "keys", command, ...place, "--quiet");
    return [code, err];
  };
  const client = new Client(store);
  await client.connect();
  const tables = async () => {
    const made = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()";
    return (await client.query<{ readonly tablename: string }>(made)).rows;
  };
  for (const command of ["list", "rotate"]) {
    expect(await keys(command)).toEqual([
      4,
      expect.stringContaining("no tables of Gradus; the first server that starts creates them"),
    ]);
    expect(await tables()).toEqual([]);
  }
  await (await openServer({ store, keyFile }))[Symbol.asyncDispose]();
  const none = "there are none: a server with --task-keys store makes them at its first start";
  for (const command of ["list", "rotate"]) expect(await keys(command)).toEqual([3, expect.stringContaining(none)]);
  expect((await client.query("SELECT purpose FROM keys")).rows).toEqual([{ purpose: "runs" }]);
  await client.end();
});

test("are refused to a server whose key file does not open them, and without a database", async () => {
  using folder = temporaryFolder();
  const [ours, theirs] = ["ours", "theirs"].map((name) => join(folder.path, name)) as [string, string];
  writeFileSync(ours, `${"a1".repeat(32)}\n`);
  writeFileSync(theirs, `${"b2".repeat(32)}\n`);
  const store = await sharedDatabase();
  await (await openServer({ store, keyFile: ours, taskKeys: "store" }))[Symbol.asyncDispose]();
  const read = readConfig(
    { port: "0", httpPort: "0", logLevel: "silent", store, keyFile: theirs, taskKeys: "store" },
    {},
  );
  if (read.kind === "invalid") throw new Error(read.message);
  await expect(serve(read.config, openLog(read.config))).rejects.toThrow("give it the key file of the other servers");
  const alone = readConfig({ taskKeys: "store" }, {});
  expect(alone.kind === "invalid" && alone.message).toContain("--task-keys must be file with --store sqlite");
});
