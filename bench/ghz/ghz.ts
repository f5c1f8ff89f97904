/** Runs ghz, a load generator in Go. It is built from its source at a fixed version, unless it was built before. */
import type { DescMethod } from "@bufbuild/protobuf";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export const GHZ_VERSION = "v0.121.0";
const repository = join(import.meta.dirname, "../..");
const binaries = join(repository, ".cache", `ghz-${GHZ_VERSION}`);
const binary = join(binaries, "ghz");

/** The parts of ghz's JSON report that are used; durations in nanoseconds. */
export interface GhzReport {
  readonly count: number;
  readonly rps: number;
  readonly slowest: number;
  readonly latencyDistribution: readonly { readonly percentage: number; readonly latency: number }[];
  readonly statusCodeDistribution: Readonly<Record<string, number>>;
}

export interface Load {
  /** Calls in flight. */
  readonly concurrency: number;
  readonly connections: number;
  readonly seconds: number;
  /** Calls that begin in a second. Unset: each begins as soon as an earlier one has ended. */
  readonly rps?: number;
}

export function installGhz(): void {
  if (existsSync(binary)) return;
  mkdirSync(binaries, { recursive: true });
  const env = { ...process.env, GOBIN: binaries };
  execFileSync("go", ["install", `github.com/bojand/ghz/cmd/ghz@${GHZ_VERSION}`], { env, stdio: "inherit" });
}

/** Calls a method with the messages in the JSON file `data`, one after the other and again from the first. */
export function runGhz({ parent, name }: DescMethod, load: Load, data: string, port: number): GhzReport {
  const { concurrency, connections, seconds, rps } = load;
  const call = ["--call", `${parent.typeName}/${name}`, "--data-file", data];
  const contract = ["--import-paths", join(repository, "proto"), "--proto", "gradus/v1/environment.proto"];
  const sizes = ["--concurrency", `${concurrency}`, "--connections", `${connections}`, "--duration", `${seconds}s`];
  const pace = rps === undefined ? [] : ["--rps", `${Math.round(rps)}`];
  // Without "wait" ghz counts the calls that it cuts at the end as failures.
  const args = ["--insecure", ...contract, ...call, ...sizes, ...pace, "--duration-stop", "wait", "--format", "json"];
  const output = execFileSync(binary, [...args, `127.0.0.1:${port}`], { encoding: "utf8", maxBuffer: 2 ** 30 });
  return JSON.parse(output) as GhzReport;
}

/** Returns a percentile of the calls' times, in milliseconds. Undefined: ghz did not report it. */
export function latencyMs({ latencyDistribution }: GhzReport, percent: number): number | undefined {
  const found = latencyDistribution.find(({ percentage }) => percentage === percent);
  return found && found.latency / 1e6;
}
