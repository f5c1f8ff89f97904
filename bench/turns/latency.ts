/**
 * Measures how long a call of an episode takes when 200 clients call at half of the capacity. The capacity is measured
 * first: each client then calls again as soon as it has a reply. The clients are those of ghz, in Go: clients in Node
 * stop for their own garbage collection, which would count as the server's. Ends with 1 if the 99th percentile is above
 * 50 ms.
 *
 * ```
 * node bench/turns/latency.ts [--clients 200] [--seconds 10] [--rounds 1] [--json]
 * ```
 *
 * The calls are those of episodes that are played before. No server keeps an episode, so each call can be made again.
 */
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { rngFor } from "../../envs/lib/rng.ts";
import { EnvironmentService, StepRequestSchema } from "../../proto/gen/gradus/v1/environment_pb.js";
import { unaryOf } from "../attacks/caller.ts";
import { installGhz, latencyMs, runGhz } from "../ghz/ghz.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const [clients, seconds, rounds] = [options.clients, options.seconds, options.rounds].map(Number) as [
  number,
  number,
  number,
];
const [CONNECTIONS, WARM_UP_S, EPISODES, P99_MAX_MS] = [8, 5, 1000, 50];
const { reset, step } = EnvironmentService.method;

installGhz();
const folder = mkdtempSync(join(tmpdir(), "gradus-turns-"));
const server = await startOurs(folder);

/** Plays an episode, and returns its calls. */
async function callsOf(unary: ReturnType<typeof unaryOf>, episode: number) {
  const rng = rngFor("latency of turns", episode);
  const spec = { environment: "games/mastermind", tools: ["guess"] };
  const { task } = await unary(reset, { spec, seed: BigInt(episode) });
  const calls: MessageInitShape<typeof StepRequestSchema>[] = [];
  let taskId: string | undefined = task?.taskId;
  while (taskId !== undefined) {
    const code = Array.from({ length: 4 }, () => rng.int(1, 6));
    const call = { taskId, toolCalls: [{ id: "call", name: "guess", argumentsJson: JSON.stringify({ code }) }] };
    calls.push(call);
    const { outcome } = await unary(step, call);
    taskId = outcome?.result.case === "turn" ? outcome.result.value.taskId : undefined;
  }
  return calls;
}

const player = unaryOf(server.port);
const played = await Promise.all(Array.from({ length: EPISODES }, (_, episode) => callsOf(player, episode)));
player.close();
const data = join(folder, "calls.json");
const calls = played.flat().map((call) => toJson(StepRequestSchema, create(StepRequestSchema, call)));
// Calls of one episode lie far apart, as those of 200 episodes that are played at the same time do.
writeFileSync(data, JSON.stringify(rngFor("order of calls").shuffle(calls)));

const load = { concurrency: clients, connections: CONNECTIONS, seconds };
runGhz(step, { ...load, seconds: WARM_UP_S }, data, server.port);
const measured = Array.from({ length: rounds }, () => {
  const capacity = runGhz(step, load, data, server.port).rps;
  const half = runGhz(step, { ...load, rps: capacity / 2 }, data, server.port);
  const { OK: answered = 0, ...failed } = half.statusCodeDistribution;
  const [p50Ms = NaN, p99Ms = NaN] = [latencyMs(half, 50), latencyMs(half, 99)];
  const maxMs = half.slowest / 1e6;
  return { capacity: Math.round(capacity), callsPerSecond: half.rps, answered, failed, p50Ms, p99Ms, maxMs };
});
await server.stop();
rmSync(folder, { recursive: true, force: true });

const report = { machine: machineText(cpus(), process.version), clients, measured };
if (options.json) console.log(JSON.stringify(report, undefined, 2));
else
  for (const { capacity, callsPerSecond, p50Ms, p99Ms, maxMs } of measured) {
    console.log(`${clients} clients make ${capacity} calls a second, each after the other (${report.machine})`);
    const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`;
    console.log(`at ${Math.round(callsPerSecond)} calls a second: ${times}`);
  }
const isMet = measured.every(({ p99Ms, failed }) => p99Ms <= P99_MAX_MS && Object.keys(failed).length === 0);
if (!isMet) process.exitCode = 1;
