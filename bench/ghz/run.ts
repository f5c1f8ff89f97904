/**
 * Load tests with ghz, a gRPC client that is not ours. Starts our server, makes tasks and completions, runs ghz for
 * Step, BatchStep and StreamSteps, and prints a Markdown table. README.md says how it was run and what came out.
 *
 * ```
 * node bench/ghz/run.ts [--seconds 10]
 * ```
 */
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { requestsOf, resetTasks, shapes } from "../transport/data.ts";
import type { Scenario } from "../transport/data.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";
import { GHZ_VERSION, type GhzReport, installGhz, latencyMs, runGhz } from "./ghz.ts";

/** One test of ghz. A stream sends each message of its data once. */
interface Test {
  readonly scenario: Scenario;
  readonly method: "step" | "batchStep" | "streamSteps";
  /** Number of distinct messages. */
  readonly messages: number;
  /** Calls in flight. */
  readonly concurrency: number;
}

const tests: readonly Test[] = [
  { scenario: "unary", method: "step", messages: 1024, concurrency: 64 },
  { scenario: "batch", method: "batchStep", messages: 16, concurrency: 4 },
  { scenario: "stream", method: "streamSteps", messages: 64, concurrency: 4 },
];

const { values: options } = parseArgs({ options: { seconds: { type: "string", default: "10" } } });
const folder = mkdtempSync(join(tmpdir(), "gradus-ghz-"));
installGhz();
const server = await startOurs(folder);
try {
  const tasks = await resetTasks(server.port);
  const rows = tests.map((test) => {
    console.error(`${test.method}: ${options.seconds} s`);
    const data = join(folder, `${test.method}.json`);
    writeFileSync(data, JSON.stringify(messagesOf(test, requestsOf(test.scenario, tasks))));
    const { method, concurrency } = test;
    const load = { concurrency, connections: 2, seconds: Number(options.seconds) };
    return rowOf(test, runGhz(EnvironmentService.method[method], load, data, server.port));
  });
  console.log(tableOf(rows));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function messagesOf({ method, messages }: Test, requests: readonly Uint8Array[]): readonly unknown[] {
  const { input } = EnvironmentService.method[method];
  return requests.slice(0, messages).map((bytes) => toJson(input, fromBinary(input, bytes)));
}

function rowOf(test: Test, report: GhzReport): string {
  const { count, rps, statusCodeDistribution } = report;
  const { scenario, method, messages, concurrency } = test;
  const { groups, completions } = shapes[scenario];
  const inMessage = groups * completions;
  const inCall = inMessage * (method === "streamSteps" ? messages : 1);
  const statuses = Object.entries(statusCodeDistribution).map(([code, calls]) => `${calls} ${code}`);
  const size = method === "streamSteps" ? `${messages} messages × ${inMessage} × 4 KB` : `${inMessage} × 4 KB`;
  const rates = `${rps.toFixed(rps < 100 ? 1 : 0)} | ${Math.round(rps * inCall)}`;
  const latencies = [50, 95, 99].map((percent) => latencyMs(report, percent)?.toFixed(1) ?? "").join(" | ");
  const { name } = EnvironmentService.method[method];
  return `| ${name}, ${size} | ${concurrency} | ${count} | ${rates} | ${latencies} | ${statuses.join(", ")} |`;
}

function tableOf(rows: readonly string[]): string {
  return [
    `${machineText(cpus(), process.version)}; ghz ${GHZ_VERSION}, ${options.seconds} s each, 2 connections`,
    "",
    "| call | on the way | calls | calls/s | completions/s | p50, ms | p95, ms | p99, ms | statuses |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
