/** Pairs of measurements: our server and the minimal one, by turns, in one run. */
import { shapes } from "./data.ts";
import type { Scenario } from "./data.ts";
import type { LoadClient, ServerProcess } from "./processes.ts";

export interface Measurement {
  readonly requestsPerSecond: number;
  /** Server CPU for one request, in microseconds. */
  readonly cpuMicrosPerRequest: number;
}

export interface Pair {
  readonly ours: Measurement;
  readonly minimal: Measurement;
}

/** Distribution of paired values: the median, the quartiles and the extremes. */
export interface Spread {
  readonly min: number;
  readonly lowerQuartile: number;
  readonly median: number;
  readonly upperQuartile: number;
  readonly max: number;
}

export interface Result {
  readonly scenario: Scenario;
  readonly pairs: readonly Pair[];
  readonly ours: Measurement;
  readonly minimal: Measurement;
  /** Throughput of our server over that of the minimal one; the bar is on this ratio. */
  readonly throughputRatio: Spread;
  /** CPU of our server over that of the minimal one. */
  readonly cpuRatio: Spread;
}

export interface Servers {
  readonly ours: ServerProcess;
  readonly minimal: ServerProcess;
}

export interface Plan {
  readonly repetitions: number;
  /** Duration of one measurement, in milliseconds. */
  readonly durationMs: number;
  /** Load on each server before the first pair. */
  readonly warmUpMs: number;
}

/**
 * Enough for servers that are new, and not always for the minimal one, which has two states under batches (results.md): in
 * that of its start, objects in its old heap keep young ones alive, and it looks a third slower than it is.
 */
export const warmUpMs = 15_000;

/** Runs pairs; which of a pair goes first alternates. */
export async function measurePairs(
  scenario: Scenario,
  servers: Servers,
  client: LoadClient,
  plan: Plan,
): Promise<Result> {
  const measure = (server: ServerProcess) => measureOne(scenario, server, client, plan.durationMs);
  for (const { port } of [servers.ours, servers.minimal]) await client.run(scenario, port, plan.warmUpMs);
  const pairs: Pair[] = [];
  for (let repetition = 0; repetition < plan.repetitions; repetition += 1) {
    const first = repetition % 2 === 0 ? "ours" : "minimal";
    const second = first === "ours" ? "minimal" : "ours";
    const measured = { [first]: await measure(servers[first]), [second]: await measure(servers[second]) };
    pairs.push(measured as unknown as Pair);
  }
  return resultOf(scenario, pairs);
}

async function measureOne(
  scenario: Scenario,
  server: ServerProcess,
  client: LoadClient,
  durationMs: number,
): Promise<Measurement> {
  const before = server.cpuSeconds();
  const { requests, seconds } = await client.run(scenario, server.port, durationMs);
  const cpuSeconds = server.cpuSeconds() - before;
  return { requestsPerSecond: requests / seconds, cpuMicrosPerRequest: (cpuSeconds * 1e6) / requests };
}

function resultOf(scenario: Scenario, pairs: readonly Pair[]): Result {
  const middle = (side: keyof Pair): Measurement => ({
    requestsPerSecond: spreadOf(pairs.map((pair) => pair[side].requestsPerSecond)).median,
    cpuMicrosPerRequest: spreadOf(pairs.map((pair) => pair[side].cpuMicrosPerRequest)).median,
  });
  const ratio = (of: keyof Measurement) => spreadOf(pairs.map(({ ours, minimal }) => ours[of] / minimal[of]));
  const ratios = { throughputRatio: ratio("requestsPerSecond"), cpuRatio: ratio("cpuMicrosPerRequest") };
  return { scenario, pairs, ours: middle("ours"), minimal: middle("minimal"), ...ratios };
}

/** Quantiles by linear interpolation. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const below = sorted[Math.floor(place)] ?? NaN;
    return below + ((sorted[Math.ceil(place)] ?? NaN) - below) * (place % 1);
  };
  return { min: at(0), lowerQuartile: at(0.25), median: at(0.5), upperQuartile: at(0.75), max: at(1) };
}

/** Completions of 4 KB in one request. */
export function completionsOf(scenario: Scenario): number {
  return shapes[scenario].groups * shapes[scenario].completions;
}
