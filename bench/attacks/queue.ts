/**
 * What dear work of one client does to others. Over six connections it asks for a hundred of the largest bisections, or for
 * a hundred tasks that do not exist; beside it a sound run's NextBatch, another client's countdown BatchReset, Step and
 * health checks are timed, first alone and then under the attack. All come from one address, which is the harder case.
 *
 *   node bench/attacks/queue.ts [--attack bisection|search] [--seconds 12]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { startOurs } from "../transport/processes.ts";
import { withHealth } from "../../test/server/transport/grpc/health-client.ts";

const { values: options } = parseArgs({
  options: { attack: { type: "string", default: "bisection" }, seconds: { type: "string", default: "12" } },
});
const durationMs = Number(options.seconds) * 1000;
const CONNECTIONS = 6;
const TASKS = 100;
/** Between two calls of a kind: they are sent by the clock, whether or not the last one was answered. */
const EVERY_MS = 10;

const attacks = {
  bisection: {
    environment: "np/bisection",
    parameters: {
      ...{ vertices_min: 52, vertices_max: 52, communities_min: 1, communities_max: 1 },
      ...{ density: 0.5, noise: 0.5, traitors: 0, reinforcement: 1, weight_min: 1, weight_max: 10 },
    },
  },
  search: { environment: "countdown", parameters: { numbers_min: 6, numbers_max: 6, solutions_max: 1 } },
} as const;
const attack = options.attack === "search" ? attacks.search : attacks.bisection;

type Latencies = Record<string, number[]>;

async function timed(into: number[], call: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await call();
  into.push(performance.now() - start);
}

/** Calls of each kind for a while, with how long each took. */
async function measure(client: GradusClient, port: number, round: string): Promise<Latencies> {
  const taken = { nextBatch: [], batchReset: [], step: [], health: [] } satisfies Latencies as Latencies;
  const run = client.run(`sound-${round}`);
  await run.create({
    arms: [
      { id: "T2", environment: "countdown", level: "T2" },
      { id: "tsp", environment: "np/tsp", level: "easy" },
    ],
    policy: { kind: "mixture" },
    ...{ numGenerations: 8, promptsPerUpdate: 32 },
  });
  const task = await client.reset({ environment: "countdown", level: "T0", seed: 1n });
  const end = performance.now() + durationMs;
  const inTurn = async (name: string, call: (i: number) => Promise<unknown>): Promise<void> => {
    for (let i = 0; performance.now() < end; i++) {
      await timed(taken[name]!, () => call(i));
      await sleep(EVERY_MS);
    }
  };
  await withHealth(port, async (health) => {
    const check = (): Promise<void> =>
      new Promise((resolve, reject) => {
        health.check({ service: "" }, (error) => (error === null ? resolve() : reject(error)));
      });
    await Promise.all([
      inTurn("nextBatch", (i) => run.nextBatch({ cursor: BigInt(32 * i), count: 32 })),
      inTurn("batchReset", (i) =>
        client.batchReset({ environment: "countdown", level: "T1", seeds: seedsFrom(i, 16) }),
      ),
      inTurn("step", () => client.step(task, "<answer>1</answer>")),
      inTurn("health", check),
    ]);
  });
  await run.delete();
  return taken;
}

function seedsFrom(first: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt(first * count + i));
}

function row(name: string, all: readonly number[]): string {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? NaN).toFixed(1).padStart(8);
  return `${name.padEnd(12)} ${String(all.length).padStart(6)} ${at(0.5)} ${at(0.99)} ${at(1)}`;
}

const folder = mkdtempSync(join(tmpdir(), "gradus-attack-"));
const server = await startOurs(folder);
const client = createClient(`127.0.0.1:${server.port}`);
const attackers = Array.from({ length: CONNECTIONS }, () => createClient(`127.0.0.1:${server.port}`, { retry: false }));
try {
  await measure(client, server.port, "warm");
  const alone = await measure(client, server.port, "alone");
  const stop = new AbortController();
  let ended = 0;
  const attacking = attackers.map(async (attacker, i) => {
    for (let round = 0; !stop.signal.aborted; round++) {
      const seeds = seedsFrom(1000 * (CONNECTIONS * round + i), Math.ceil(TASKS / CONNECTIONS));
      await attacker.batchReset({ ...attack, seeds }, { signal: stop.signal }).catch(() => undefined);
      ended += seeds.length;
    }
  });
  await sleep(500);
  const attacked = await measure(client, server.port, "attacked");
  console.log(`${options.attack}: ${ended} tasks of the attack ended in ${options.seconds} s\n`);
  console.log("                  n      p50      p99      max  ms");
  for (const [when, latencies] of Object.entries({ alone, attacked })) {
    console.log(when);
    for (const [name, all] of Object.entries(latencies)) console.log(row(name, all));
  }
  const median = (all: readonly number[] = []): number => [...all].sort((a, b) => a - b)[all.length >> 1] ?? NaN;
  console.log(
    `\nNextBatch: ${(median(attacked["nextBatch"]) / median(alone["nextBatch"])).toFixed(2)} times its time alone`,
  );
  stop.abort();
  await Promise.all(attacking);
} finally {
  for (const each of [client, ...attackers]) each.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
