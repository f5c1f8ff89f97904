/**
 * Load tests with ghz, a gRPC client that is not ours. Starts our server, makes tasks and completions, runs ghz for
 * Step, BatchStep and StreamSteps, and prints a Markdown table. README.md says how it was run and what came out.
 *
 * ```
 * node bench/ghz/run.ts [--seconds 10]
 * ```
 */
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { requestsOf, resetTasks, shapes } from "../transport/data.ts";
import type { Scenario } from "../transport/data.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";

const version = "v0.121.0";
const repository = join(import.meta.dirname, "../..");
const binaries = join(repository, ".cache", `ghz-${version}`);
const binary = join(binaries, "ghz");

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

/** The parts of ghz's JSON report that are used; durations in nanoseconds. */
interface Report {
  readonly count: number;
  readonly rps: number;
  readonly latencyDistribution: readonly { readonly percentage: number; readonly latency: number }[];
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
}

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
    return rowOf(test, runGhz(test, data, server.port));
  });
  console.log(tableOf(rows));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Builds ghz from its source, pinned, unless it was built before. */
function installGhz(): void {
  if (existsSync(binary)) return;
  mkdirSync(binaries, { recursive: true });
  const env = { ...process.env, GOBIN: binaries };
  execFileSync("go", ["install", `github.com/bojand/ghz/cmd/ghz@${version}`], { env, stdio: "inherit" });
}

function messagesOf({ method, messages }: Test, requests: readonly Uint8Array[]): readonly unknown[] {
  const { input } = EnvironmentService.method[method];
  return requests.slice(0, messages).map((bytes) => toJson(input, fromBinary(input, bytes)));
}

function runGhz({ method, concurrency }: Test, data: string, port: number): Report {
  const { name } = EnvironmentService.method[method];
  const call = ["--call", `${EnvironmentService.typeName}/${name}`, "--data-file", data];
  const contract = ["--import-paths", join(repository, "proto"), "--proto", "gradus/v1/environment.proto"];
  const load = ["--concurrency", `${concurrency}`, "--connections", "2", "--duration", `${options.seconds}s`];
  // Without "wait" ghz counts the calls that it cuts at the end as failures.
  const args = ["--insecure", ...contract, ...call, ...load, "--duration-stop", "wait", "--format", "json"];
  const output = execFileSync(binary, [...args, `127.0.0.1:${port}`], { encoding: "utf8", maxBuffer: 2 ** 30 });
  return JSON.parse(output) as Report;
}

function rowOf(test: Test, { count, rps, latencyDistribution, statusCodeDistribution }: Report): string {
  const { scenario, method, messages, concurrency } = test;
  const { groups, completions } = shapes[scenario];
  const inMessage = groups * completions;
  const inCall = inMessage * (method === "streamSteps" ? messages : 1);
  const percentile = (wanted: number) => {
    const found = latencyDistribution.find(({ percentage }) => percentage === wanted);
    return found === undefined ? "" : (found.latency / 1e6).toFixed(1);
  };
  const statuses = Object.entries(statusCodeDistribution).map(([code, calls]) => `${calls} ${code}`);
  const size = method === "streamSteps" ? `${messages} messages × ${inMessage} × 4 KB` : `${inMessage} × 4 KB`;
  const rates = `${rps.toFixed(rps < 100 ? 1 : 0)} | ${Math.round(rps * inCall)}`;
  const latencies = [50, 95, 99].map(percentile).join(" | ");
  const { name } = EnvironmentService.method[method];
  return `| ${name}, ${size} | ${concurrency} | ${count} | ${rates} | ${latencies} | ${statuses.join(", ")} |`;
}

function tableOf(rows: readonly string[]): string {
  return [
    `${machineText(cpus(), process.version)}; ghz ${version}, ${options.seconds} s each, 2 connections`,
    "",
    "| call | on the way | calls | calls/s | completions/s | p50, ms | p95, ms | p99, ms | statuses |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
