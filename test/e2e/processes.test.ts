/** Several processes of one server: they share its ports and its store, and one that dies is started again. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { until } from "../support/patience.ts";
import { complete } from "../support/scripted-policy.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

const GENERATIONS = 4;

// The first two wait for most of their time: until a process that was killed is started again.
test.concurrent("two processes serve one run, lose nothing when one is killed, and are drained together", async () => {
  using folder = temporaryFolder();
  const server = await startServer(folder.path, "--processes", "2");
  const pids = (): readonly number[] => {
    const listening = server.lines.filter((line) => line.includes('"msg":"listening"'));
    return listening.map((line) => (JSON.parse(line) as { readonly pid: number }).pid);
  };
  await until(() => pids().length === 2);
  expect(new Set(pids()).size).toBe(2);
  // Each has a connection of its own, and the processes get them in turn.
  const clients = Array.from({ length: 4 }, () => createClient(server.address));
  const run = { arms: [{ id: "a", environment: "countdown", level: "T0" }], policy: { kind: "mixture" } as const };
  const shape = { numGenerations: GENERATIONS, promptsPerUpdate: clients.length, length: 6 * clients.length };
  await clients[0]!.run("run").create({ ...run, ...shape });
  const train = async (from: number, to: number): Promise<void> => {
    for (let batch = from; batch < to; batch++) {
      const each = clients.map(async (client, rank) => {
        const { tasks } = await client
          .run("run")
          .nextBatch({ cursor: BigInt(batch * clients.length + rank), count: 1 });
        for (const task of tasks) {
          const completions = Array.from({ length: GENERATIONS }, (_, sample) => complete(task, sample));
          const [outcome] = await client.batchStep([{ task, completions }]);
          for (const { feedback } of outcome!.outcomes) expect(["recorded", "duplicate"]).toContain(feedback?.status);
        }
      });
      await Promise.all(each);
    }
  };
  await train(0, 3);
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${server.httpAddress}/metrics`)).text();
    const [, value] =
      /^gradus_calls_total\{method="gradus.v1.EnvironmentService\/BatchStep".*\} (\d+)$/m.exec(text) ?? [];
    return Number(value);
  };
  expect(await counted()).toBe(3 * clients.length);
  process.kill(pids()[0]!, "SIGKILL");
  await train(3, 6);
  const { state } = await clients[0]!.run("run").get();
  expect(state?.samplesRecorded).toBe(BigInt(6 * clients.length * GENERATIONS));
  await until(() => pids().length === 3);
  // The counts of the process that is gone are still included.
  expect(await counted()).toBeGreaterThanOrEqual(6 * clients.length);
  expect((await fetch(`${server.httpAddress}/healthz`)).status).toBe(200);
  for (const client of clients) client.close();
  expect(await server.kill("SIGTERM")).toBe(0);
  expect(server.lines.filter((line) => line.includes('"msg":"stopped"'))).toHaveLength(2);
});

test.concurrent(
  "one that was killed and cannot begin now is started until it can, and the others serve meanwhile",
  async () => {
    using folder = temporaryFolder();
    const server = await startServer(folder.path, "--processes", "2");
    const listening = () => server.lines.filter((line) => line.includes('"msg":"listening"'));
    await until(() => listening().length === 2);
    const keys = join(folder.path, "task-keys");
    const before = readFileSync(keys);
    writeFileSync(keys, "being written");
    process.kill((JSON.parse(listening()[0]!) as { readonly pid: number }).pid, "SIGKILL");
    await until(() => server.lines.some((line) => line.includes("is not 64 hex digits; repair it")));
    await until(() => server.lines.some((line) => /ended with \d, and is started again/.test(line)));
    expect((await fetch(`${server.httpAddress}/healthz`)).status).toBe(200);
    writeFileSync(keys, before);
    await until(() => listening().length === 3);
    expect(await server.kill("SIGTERM")).toBe(0);
  },
);

test("a server in memory is one process", () => {
  const read = readConfig({ store: "memory", processes: "2" }, {});
  expect(read.kind === "invalid" && read.message).toContain("--processes must be 1 with --store memory");
});

test("a process that cannot begin ends the server with its reason", async () => {
  using folder = temporaryFolder();
  const started = startServer(folder.path, "--processes", "2", "--pool", "rows=/nowhere.jsonl");
  await expect(started).rejects.toThrow(/ended with 3 before it listened[^]*--pool rows=/);
});
