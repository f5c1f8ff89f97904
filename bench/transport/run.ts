/**
 * Our server against a minimal gRPC server, in pairs. README.md says how it was run and what came out.
 *
 *   node bench/transport/run.ts [--json] [--profile] [--repetitions 9] [--seconds 2] [--scenario batch|unary|stream]
 *     [--other FOLDER]  our server from another checkout in place of the minimal one: what a change brings
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requestsOf, resetTasks, scenarios } from "./data.ts";
import type { Scenario } from "./data.ts";
import { measurePairs, warmUpMs } from "./measure.ts";
import { startLoadClient, startMinimal, startOther, startOurs } from "./processes.ts";
import type { LoadClient } from "./processes.ts";
import { summarize } from "./profile.ts";
import { machineText, profileText, resultsTable } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
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
  if (options.profile) await profileAll();
  else await measureAll();
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
    await prepare(client, servers.ours.port);
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

/** One server for each scenario, so that each has a profile of its own. */
async function profileAll(): Promise<void> {
  for (const scenario of chosen) {
    const profiles = mkdtempSync(join(folder, `${scenario}-`));
    const ours = await startOurs(profiles, ["--cpu-prof", `--cpu-prof-dir=${profiles}`, "--cpu-prof-interval=500"]);
    await prepare(client, ours.port, [scenario]);
    await client.run(scenario, ours.port, 5 * durationMs);
    await ours.stop();
    const summaries = readdirSync(profiles)
      .filter((name) => name.endsWith(".cpuprofile"))
      .map((name) => summarize(join(profiles, name)));
    // Workers write profiles too; the main thread's is the one that has seen the transport.
    const main = summaries.find(({ packages }) => packages.some(({ name }) => name === "@grpc/grpc-js"));
    if (main === undefined) throw new Error("the server wrote no profile");
    console.log(options.json ? JSON.stringify({ scenario, ...main }) : profileText(scenario, main));
  }
}

async function prepare(of: LoadClient, port: number, which: readonly Scenario[] = chosen): Promise<void> {
  const tasks = await resetTasks(port);
  for (const scenario of which) await of.prepare(scenario, requestsOf(scenario, tasks));
}
