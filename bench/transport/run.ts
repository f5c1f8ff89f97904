/**
 * Our server against a minimal gRPC server, in pairs. README.md says how it was run and what came out.
 *
 * ```
 * node bench/transport/run.ts [--json] [--repetitions 9] [--seconds 2] [--scenario batch|unary|stream]
 *   [--other FOLDER]  our server from another checkout in place of the minimal one: what a change brings
 * ```
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requestsOf, resetTasks, scenarios } from "./data.ts";
import { measurePairs, warmUpMs } from "./measure.ts";
import { startLoadClient, startMinimal, startOther, startOurs } from "./processes.ts";
import { machineText, resultsTable } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    repetitions: { type: "string", default: "9" },
    seconds: { type: "string", default: "2" },
    other: { type: "string" },
    scenario: { type: "string", multiple: true, default: [...scenarios] },
  },
});
const chosen = scenarios.filter((scenario) => options.scenario.includes(scenario));
const repetitions = Number(options.repetitions);
const durationMs = Number(options.seconds) * 1000;
const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const client = startLoadClient();
try {
  await measureAll();
} finally {
  client.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(): Promise<void> {
  const { other } = options;
  const ours = await startOurs(folder);
  const minimal = await (other === undefined ? startMinimal(folder) : startOther(folder, other));
  const servers = { ours, minimal };
  try {
    const tasks = await resetTasks(servers.ours.port);
    for (const scenario of chosen) await client.prepare(scenario, requestsOf(scenario, tasks));
    const results = [];
    for (const scenario of chosen) {
      console.error(`${scenario}: after a warm-up, ${repetitions} pairs of ${options.seconds} s`);
      results.push(await measurePairs(scenario, servers, client, { repetitions, durationMs, warmUpMs }));
    }
    const machine = machineText(cpus(), process.version);
    console.log(options.json ? JSON.stringify({ machine, results }, undefined, 2) : resultsTable(machine, results));
  } finally {
    await Promise.all([servers.ours.stop(), servers.minimal.stop()]);
  }
}
