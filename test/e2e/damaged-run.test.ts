/** A run whose journal was damaged on the disk: each call says DATA_LOSS, and the operator hears of it. */
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createClient, type GradusClient, type RunChoice } from "../../clients/ts/src/index.ts";
import { serve } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { openLog } from "../../server/runtime/logging.ts";
import { gradus } from "../cli/gradus.ts";
import { temporaryFolder } from "../support/server-process.ts";

const choice: RunChoice = {
  arms: [{ id: "a", environment: "countdown", level: "T0" }],
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 4,
  seed: 1,
};

async function started(dataDir: string, logFile: string) {
  const flags = { port: "0", httpPort: "0", workers: "1", dataDir, logFormat: "json" };
  const read = readConfig(flags, {});
  if (read.kind === "invalid") throw new Error(read.message);
  const log = openLog(read.config, openSync(logFile, "a"));
  const server = await serve(read.config, log);
  const address = `127.0.0.1:${server.grpcPort}`;
  const client = createClient(address, { retry: false });
  return {
    client,
    address,
    flush: log.flush,
    metrics: async () => (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`)).text(),
    async [Symbol.asyncDispose]() {
      client.close();
      await server.stop();
    },
  };
}

/** Kinds of damage to a store's file, each with the SQL that does it to the rows of one run. */
const damages: readonly (readonly [string, string])[] = [
  ["an event was changed", "UPDATE events SET body = CAST(x'00' || body AS BLOB) WHERE run = :run AND version = 2"],
  ["an event is missing", "DELETE FROM events WHERE run = :run AND version = 2"],
  [
    "the last event is missing",
    "DELETE FROM events WHERE run = :run AND version = (SELECT max(version) FROM events WHERE run = :run)",
  ],
  ["a checksum was changed", "UPDATE events SET hash = zeroblob(4) WHERE run = :run AND version = 2"],
];

async function played(client: GradusClient, id: string): Promise<void> {
  const run = client.run(id);
  await run.create(choice);
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 4 });
  await client.batchStep(
    tasks.map((task) => ({ task, completions: [0, 1].map((sampleIndex) => ({ sampleIndex, text: "x" })) })),
  );
}

test.each(damages)("%s: DATA_LOSS, a line in the log, a metric, and a word of doctor", async (_name, sql) => {
  using folder = temporaryFolder();
  const [dataDir, logFile] = [join(folder.path, "data"), join(folder.path, "log")];
  {
    await using server = await started(dataDir, logFile);
    await played(server.client, "whole");
    await played(server.client, "broken");
    expect(await server.metrics()).toContain("gradus_runs_damaged 0");
  }
  const db = new DatabaseSync(join(dataDir, "runs.sqlite"));
  const { key } = db.prepare("SELECT key FROM runs WHERE id = 'broken'").get() as { readonly key: number };
  db.prepare(sql).run({ run: key });
  // After a crash before the first snapshot, only the journal describes the run.
  db.exec("DELETE FROM snapshots");
  db.close();

  const doctor = async (...args: readonly string[]) => {
    const { code, out } = await gradus({ cwd: folder.path }, "doctor", "--sandbox", "off", "--json", ...args);
    const checks = JSON.parse(out) as readonly {
      readonly name: string;
      readonly state: string;
      readonly found: string;
    }[];
    return { code, of: (name: string) => checks.find((check) => check.name === name) };
  };
  const ports = ["--port", "0", "--http-port", "0"];
  const offline = await doctor("--data-dir", dataDir, ...ports);
  expect([offline.code, offline.of("runs")?.state]).toEqual([1, "missing"]);
  expect(offline.of("runs")?.found).toMatch(/^2 runs, 1 cannot be read: run "broken": /);

  await using server = await started(dataDir, logFile);
  const { client } = server;
  const refused = { code: "DATA_LOSS", message: expect.stringMatching(/^run "broken" cannot be read: /) as string };
  const broken = client.run("broken");
  await expect(broken.get()).rejects.toMatchObject(refused);
  await expect(broken.nextBatch({ cursor: 0n, count: 4 })).rejects.toMatchObject(refused);
  await expect(broken.pause()).rejects.toMatchObject(refused);
  expect((await client.run("whole").get()).runId).toBe("whole");
  const listed = await client.listRuns();
  expect(listed.map(({ runId, unreadable }) => [runId, unreadable !== ""])).toEqual([
    ["broken", true],
    ["whole", false],
  ]);
  expect(await server.metrics()).toContain("gradus_runs_damaged 1");
  const online = await doctor("--data-dir", join(folder.path, "other"), ...ports, "--server", server.address);
  expect([online.code, online.of("server: runs")?.state]).toEqual([1, "missing"]);
  server.flush();
  const lines = readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => line.includes('"a run is damaged'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 50, run: "broken" });

  await broken.delete();
  expect(await server.metrics()).toContain("gradus_runs_damaged 0");
});
