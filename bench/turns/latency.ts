/**
 * Measures how long a call of an episode takes when 200 clients play at half of the capacity. The capacity is measured
 * first: each client then calls again as soon as it has a reply. Ends with 1 if the 99th percentile is above 50 ms.
 *
 * ```
 * node bench/turns/latency.ts [--clients 200] [--seconds 10] [--json]
 * ```
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { rngFor } from "../../envs/lib/rng.ts";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { unaryOf } from "../attacks/caller.ts";
import { summary } from "../attacks/report.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const [clients, seconds] = [Number(options.clients), Number(options.seconds)];
const [CONNECTIONS, WARM_UP_MS, P99_MAX_MS] = [8, 3_000, 50];

const folder = mkdtempSync(join(tmpdir(), "gradus-turns-"));
const server = await startOurs(folder);
const connections = Array.from({ length: CONNECTIONS }, () => unaryOf(server.port));
const spec = { environment: "games/mastermind", tools: ["guess"] };

/** Plays episodes until the time is up. `pace` resolves when the client may make its next call. */
async function play(client: number, untilMs: number, pace: () => Promise<unknown>, taken: number[]): Promise<void> {
  const unary = connections[client % CONNECTIONS]!;
  const rng = rngFor("latency of turns", client, untilMs);
  while (performance.now() < untilMs) {
    const { task } = await unary(EnvironmentService.method.reset, { spec, seed: BigInt(rng.int(0, 1e9)) });
    let taskId: string | undefined = task?.taskId;
    while (taskId !== undefined && performance.now() < untilMs) {
      await pace();
      const code = Array.from({ length: 4 }, () => rng.int(1, 6));
      const toolCalls = [{ id: "call", name: "guess", argumentsJson: JSON.stringify({ code }) }];
      const startMs = performance.now();
      const { outcome } = await unary(EnvironmentService.method.step, { taskId, toolCalls });
      taken.push(performance.now() - startMs);
      taskId = outcome?.result.case === "turn" ? outcome.result.value.taskId : undefined;
    }
  }
}

async function playAll(forMs: number, paceOf: (client: number) => () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  const untilMs = performance.now() + forMs;
  await Promise.all(Array.from({ length: clients }, (_, client) => play(client, untilMs, paceOf(client), taken)));
  return taken;
}

const atOnce = () => async () => undefined;
await playAll(WARM_UP_MS, atOnce);
const capacity = (await playAll(seconds * 1000, atOnce)).length / seconds;

// Each client has calls of its own at an equal distance. One that is late makes its next call at once.
const everyMs = (1000 * clients) / (capacity / 2);
const paced = (client: number) => {
  let nextMs = performance.now() + (everyMs * client) / clients;
  return async (): Promise<void> => {
    await sleep(Math.max(0, nextMs - performance.now()));
    nextMs += everyMs;
  };
};
const calls = summary(await playAll(seconds * 1000, paced));
for (const each of connections) each.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });

const machine = machineText(cpus(), process.version);
const report = { machine, clients, capacity: Math.round(capacity), callsPerSecond: calls.calls / seconds, ...calls };
if (options.json) console.log(JSON.stringify(report, undefined, 2));
else {
  console.log(`${clients} clients make ${report.capacity} calls a second, each after the other (${report.machine})`);
  console.log(
    `at half of that: p50 ${calls.p50Ms.toFixed(1)} ms, p99 ${calls.p99Ms.toFixed(1)} ms, max ${calls.maxMs.toFixed(1)} ms`,
  );
}
if (calls.p99Ms > P99_MAX_MS) process.exitCode = 1;
