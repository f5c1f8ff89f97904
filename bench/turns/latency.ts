/**
 * Measures how long a call of an episode takes when 200 clients play at half of the capacity. The capacity is measured
 * first: each client then calls again as soon as it has a reply. The clients are in four threads, as trainers are in
 * several processes: a garbage collection of one does not delay all. Ends with 1 if the 99th percentile is above 50 ms.
 *
 * ```
 * node bench/turns/latency.ts [--clients 200] [--seconds 10] [--json]
 * ```
 */
import { mkdtempSync, rmSync } from "node:fs";
import { on, once } from "node:events";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { rngFor } from "../../envs/lib/rng.ts";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { type Unary, unaryOf } from "../attacks/caller.ts";
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
const [CONNECTIONS, THREADS, WARM_UP_MS, P99_MAX_MS] = [8, 4, 3_000, 50];
const spec = { environment: "games/mastermind", tools: ["guess"] };

/** Message to a thread: time for which its clients play, and time between two calls of each. 0: no pause. */
interface Round {
  readonly forMs: number;
  readonly everyMs: number;
}
interface Player {
  readonly port: number;
  /** Clients of this thread, by number. */
  readonly clients: readonly number[];
}

/** Plays episodes until the time is up. `pace` resolves when the client may make its next call. */
async function play(
  unary: Unary,
  client: number,
  untilMs: number,
  pace: () => Promise<unknown>,
  taken: number[],
): Promise<void> {
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

async function serveRounds({ port, clients: own }: Player): Promise<void> {
  const connections = Array.from({ length: CONNECTIONS / THREADS }, () => unaryOf(port));
  for await (const [{ forMs, everyMs }] of on(parentPort!, "message") as AsyncIterable<[Round]>) {
    const startMs = performance.now();
    const taken: number[] = [];
    const playing = own.map((client, i) => {
      // Each client has calls of its own at an equal distance. One that is late makes its next call at once.
      let nextMs = startMs + (everyMs * client) / clients;
      const pace = async (): Promise<void> => {
        if (everyMs === 0) return;
        await sleep(Math.max(0, nextMs - performance.now()));
        nextMs += everyMs;
      };
      return play(connections[i % connections.length]!, client, startMs + forMs, pace, taken);
    });
    await Promise.all(playing);
    parentPort!.postMessage(taken);
  }
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-turns-"));
  const server = await startOurs(folder);
  const threads = Array.from({ length: THREADS }, (_, thread) => {
    const own = Array.from({ length: clients }, (_, client) => client).filter((client) => client % THREADS === thread);
    const player: Player = { port: server.port, clients: own };
    return new Worker(import.meta.filename, { argv: process.argv.slice(2), workerData: player });
  });
  /** Lets all clients play, and returns the milliseconds of each call. */
  const playAll = async (forMs: number, everyMs = 0): Promise<readonly number[]> => {
    const round: Round = { forMs, everyMs };
    const taken = threads.map(async (thread) => {
      thread.postMessage(round);
      return (await once(thread, "message")) as [readonly number[]];
    });
    return (await Promise.all(taken)).flatMap(([each]) => each);
  };
  await playAll(WARM_UP_MS);
  const capacity = (await playAll(seconds * 1000)).length / seconds;
  const calls = summary(await playAll(seconds * 1000, (1000 * clients) / (capacity / 2)));
  await Promise.all(threads.map((each) => each.terminate()));
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
}

await (isMainThread ? measure() : serveRounds(workerData as Player));
