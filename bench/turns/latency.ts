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
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { rngFor } from "../../envs/lib/rng.ts";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { summary } from "../attacks/report.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";
import { openWire, unaryTemplate, type Wire } from "../transport/wire.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const [clients, seconds] = [Number(options.clients), Number(options.seconds)];
const [CONNECTIONS, RAMP_MS, P99_MAX_MS, GRPC_PREFIX_BYTES] = [8, 3_000, 50, 5];

const folder = mkdtempSync(join(tmpdir(), "gradus-turns-"));
const server = await startOurs(folder);
const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openWire(server.port)));
const spec = { environment: "games/mastermind", tools: ["guess"] };

/** Makes a unary call with frames written by hand: a gRPC client of Node takes more CPU than the server's reply. */
function unary<I extends DescMessage, O extends DescMessage>(
  wire: Wire,
  { parent, name, input, output }: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  const template = unaryTemplate(`/${parent.typeName}/${name}`, toBinary(input, create(input, request)));
  return new Promise((resolve, reject) => {
    const isSent = wire.call(template, (messages, body) => {
      if (messages === 1) resolve(fromBinary(output, Buffer.concat(body).subarray(GRPC_PREFIX_BYTES)));
      else reject(new Error(`${name} was answered by a status alone`));
    });
    if (!isSent) reject(new Error("the connection's window is full"));
  });
}

/** Waits until a client may make its next call. */
type Pace = () => Promise<unknown>;

/** Plays episodes until `untilMs`. Adds the duration of each call that begins after `sinceMs`, in milliseconds. */
async function play(client: number, [sinceMs, untilMs]: Span, pace: Pace, taken: number[]): Promise<void> {
  const wire = connections[client % CONNECTIONS]!;
  const rng = rngFor("latency of turns", client, untilMs);
  while (performance.now() < untilMs) {
    const { task } = await unary(wire, EnvironmentService.method.reset, { spec, seed: BigInt(rng.int(0, 1e9)) });
    let taskId: string | undefined = task?.taskId;
    while (taskId !== undefined && performance.now() < untilMs) {
      await pace();
      const code = Array.from({ length: 4 }, () => rng.int(1, 6));
      const toolCalls = [{ id: "call", name: "guess", argumentsJson: JSON.stringify({ code }) }];
      const startMs = performance.now();
      const { outcome } = await unary(wire, EnvironmentService.method.step, { taskId, toolCalls });
      if (startMs >= sinceMs) taken.push(performance.now() - startMs);
      taskId = outcome?.result.case === "turn" ? outcome.result.value.taskId : undefined;
    }
  }
}

type Span = readonly [sinceMs: number, untilMs: number];

/**
 * Lets all clients play, and returns how long their calls took. They begin one after the other within `rampMs`, whose
 * calls are not counted: if they began at once, their episodes would also end at once, and their Resets would collide.
 */
async function playAll(rampMs: number, forMs: number, paceOf: (startMs: number) => Pace): Promise<number[]> {
  const taken: number[] = [];
  const beginMs = performance.now();
  const span = [beginMs + rampMs, beginMs + rampMs + forMs] as const;
  const playOne = async (_: unknown, client: number): Promise<void> => {
    const startMs = beginMs + (rampMs * client) / clients;
    await sleep(Math.max(0, startMs - performance.now()));
    await play(client, span, paceOf(startMs), taken);
  };
  await Promise.all(Array.from({ length: clients }, playOne));
  return taken;
}

const atOnce = () => async () => undefined;
const capacity = (await playAll(RAMP_MS, seconds * 1000, atOnce)).length / seconds;

// Each client has calls of its own at an equal distance. One that is late makes its next call at once.
const everyMs = (1000 * clients) / (capacity / 2);
const paced = (startMs: number): Pace => {
  let nextMs = startMs;
  return async () => {
    await sleep(Math.max(0, nextMs - performance.now()));
    nextMs += everyMs;
  };
};
const calls = summary(await playAll(RAMP_MS, seconds * 1000, paced));
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
