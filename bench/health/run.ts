/**
 * How long health checks take while the server is busy. README.md says how it was run and what came out.
 *
 *   node bench/health/run.ts [--json] [--seconds 10] [--flood "np/tsp benchmark"]
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";
import { withHealth } from "../../test/server/transport/grpc/health-client.ts";
import { type Flood, floodNames } from "./floods.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "10" },
    flood: { type: "string", multiple: true, default: [...floodNames] },
  },
});

/** Between checks. They are sent by the clock, and not when the last one was answered: a stall delays all of them. */
const EVERY_MS = 5;
const WARM_UP_MS = 1500;

interface Latencies {
  readonly checks: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Result {
  readonly flood: Flood;
  readonly flooded: Latencies;
  /** Of a second server that has nothing to do: what the machine itself adds. */
  readonly idle: Latencies;
}

const results: Result[] = [];
for (const flood of floodNames.filter((name) => options.flood.includes(name))) results.push(await measure(flood));
const machine = machineText(cpus(), process.version);
console.log(options.json ? JSON.stringify({ machine, results }, undefined, 2) : table());

async function measure(flood: Flood): Promise<Result> {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "gradus-bench-"))) as [string, string];
  const servers = await Promise.all([startOurs(folders[0]), startOurs(folders[1])]);
  const flooding = await startFlood(flood, servers[0].port);
  try {
    const durationMs = Number(options.seconds) * 1000;
    const [flooded, idle] = await Promise.all([check(servers[0].port, durationMs), check(servers[1].port, durationMs)]);
    return { flood, flooded: summary(flooded), idle: summary(idle) };
  } finally {
    flooding.kill("SIGKILL");
    await Promise.all(servers.map((server) => server.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

function summary(latencies: readonly number[]): Latencies {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { checks: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

async function startFlood(flood: Flood, port: number): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "floods.ts"));
  child.send({ flood, port });
  await new Promise((resolve) => child.once("message", resolve));
  return child;
}

/** Milliseconds that each check took. */
function check(port: number, durationMs: number): Promise<number[]> {
  return withHealth(port, async (client) => {
    const once = (): Promise<number> => {
      const start = performance.now();
      return new Promise((resolve, reject) => {
        client.check({ service: "" }, (error) => (error === null ? resolve(performance.now() - start) : reject(error)));
      });
    };
    for (const end = performance.now() + WARM_UP_MS; performance.now() < end;) await once();
    const taken: Promise<number>[] = [];
    for (const end = performance.now() + durationMs; performance.now() < end; await sleep(EVERY_MS)) taken.push(once());
    return Promise.all(taken);
  });
}

function table(): string {
  const ms = ({ p50Ms, p99Ms, maxMs }: Latencies) => [p50Ms, p99Ms, maxMs].map((each) => each.toFixed(1)).join(" / ");
  const rows = results.map(
    ({ flood, flooded, idle }) => `| ${flood} | ${flooded.checks} | ${ms(flooded)} | ${ms(idle)} |`,
  );
  return [
    machine,
    "",
    "| flood | checks | flooded server: p50 / p99 / max, ms | idle server beside it |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
