/** The bar: 10,000 hostile requests, each with a clear answer, a server that lives, and memory that stays. */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { attacks, type Attack } from "../support/hostile/attacks.ts";
import { faultOf } from "../support/hostile/judge.ts";
import type { Knowledge } from "../support/hostile/requests.ts";
import { openAttacker } from "../support/hostile/send.ts";
import { type MeasuredServer, startMeasured } from "../support/measured-server.ts";
import { temporaryFolder } from "../support/server-process.ts";

const ROUND = Number(process.env["ROUND"] ?? 10_000);
/** Attacks under way at once, on one connection to each port. */
const AT_ONCE = 100;

test(`memory after ${2 * ROUND} hostile requests is that after ${ROUND}`, async () => {
  using folder = temporaryFolder();
  const server = await startMeasured({
    ...{ dataDir: folder.path, logLevel: "warn", workers: "1", workerTimeLimitMs: "2000", maxQueue: "64" },
    ...{ maxMessageBytes: "64KiB", maxCompletionBytes: "4KiB", maxGroups: "8", maxCompletions: "8", maxBatchSeeds: "8" },
  });
  const knowledge = await learn(server);
  const after: NodeJS.MemoryUsage[] = [];
  for (const seed of [20261121, 20261122]) {
    const t = performance.now();
    await attack(server, knowledge, seed);
    console.log("attack", performance.now() - t);
    after.push(await server.memory());
    console.log(after.at(-1));
  }
  const t0 = performance.now();
  const text = await (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`)).text();
  console.log(text.split("\n").filter((l) => l.startsWith("gradus_calls_in_progress") && !l.endsWith(" 0")));
  expect(await server.stop()).toBe(0);
  console.log("stop", performance.now() - t0, server.lines.filter((l) => l.includes("drain")));
  expect(server.lines.filter((line) => line.includes('"level":50') || line.includes('"level":60'))).toEqual([]);
  const held = after.map(({ heapUsed, external }) => heapUsed + external);
  console.log(held, held[1]! / held[0]!);
});

async function learn(server: MeasuredServer): Promise<Knowledge> {
  const client = createClient(`127.0.0.1:${server.grpcPort}`);
  const arms = [{ id: "a", environment: "countdown", level: "T0" }];
  const run = client.run("a");
  await run.create({ arms, policy: { kind: "bandit" }, numGenerations: 2, promptsPerUpdate: 2, seed: 1 });
  const batch = await run.nextBatch();
  const tour = await client.reset({ environment: "np/tsp", level: "easy", seed: 1n });
  const evaluation = await client.reset({ environment: "countdown", level: "T0", split: "eval", seed: 1n });
  const { state } = await run.exportRun();
  client.close();
  const tasks = [...batch.tasks, tour, evaluation].map(({ taskId, groupId }) => ({ taskId, groupId }));
  return { tasks, exported: state };
}

async function attack(server: MeasuredServer, knowledge: Knowledge, seed: number): Promise<void> {
  const slow = Array.from({ length: 40 }, (_, i) => slowLoris(i % 2 === 0 ? server.grpcPort : server.httpPort));
  const many = fc.array(attacks(knowledge), { minLength: AT_ONCE, maxLength: AT_ONCE, size: "max" });
  await fc.assert(
    fc.asyncProperty(many, async (sent) => void expect(await faultsOf(server, sent)).toEqual([])),
    { seed, numRuns: ROUND / AT_ONCE, endOnFailure: true },
  );
  for (const socket of slow) socket.destroy();
  const client = createClient(`127.0.0.1:${server.grpcPort}`);
  for (const { runId } of await client.listRuns()) await client.run(runId).delete();
  client.close();
}

async function faultsOf(server: MeasuredServer, sent: readonly Attack[]): Promise<readonly unknown[]> {
  const attacker = await openAttacker(server);
  const answers = await Promise.all(sent.map((each) => attacker.send(each)));
  await attacker.close();
  if (server.ended() !== undefined) return [`the server ended with ${server.ended()}:`, ...server.lines.slice(-20)];
  return answers.flatMap((answer, i) => {
    const fault = faultOf(sent[i] as Attack, answer);
    return fault === undefined ? [] : [{ fault, attack: fc.stringify(sent[i]) }];
  });
}

/** A connection that says a little and then nothing. */
function slowLoris(port: number) {
  const socket = connect(port, "127.0.0.1", () => socket.write("POST /gradus.v1.EnvironmentService/Step HT"));
  socket.on("error", () => undefined);
  return socket;
}
