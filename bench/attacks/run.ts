/**
 * What others notice while a server is attacked: their steps, health checks and update batches, and its memory.
 * README.md says how it was run and what came out.
 *
 *   node bench/attacks/run.ts [--json] [--seconds 10] [--attack "np/tsp benchmark"] [--nice 19]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeClientConstructor, credentials } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { CurriculumService } from "../../server/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../server/gen/gradus/v1/environment_pb.js";
import { createProgress } from "../progress.ts";
import { type ServerProcess, startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";
import { type AttackName, attackNames, CALL_MS, serverArgs, startAttack, TOKEN, unaryOf } from "./attacks.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "10" },
    nice: { type: "string", default: "19" },
    attack: { type: "string", multiple: true, default: [...attackNames] },
  },
});

/** Between calls. They are sent by the clock, and not when the last was answered: a stall delays all of them. */
const EVERY_MS = 10;
/** Between two update batches of the sound run. */
const BATCH_EVERY_MS = 50;
const WARM_UP_MS = 2000;
const ALONE_MS = 4000;

interface Latencies {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** What one caller saw. */
interface Seen {
  readonly step: Latencies;
  readonly health: Latencies;
  readonly nextBatch: Latencies;
}

interface Result {
  readonly attack: AttackName;
  readonly alone: Seen;
  readonly attacked: Seen;
  /** The attacked server's median NextBatch over that alone. */
  readonly nextBatchRatio: number;
  /** Health of a second server that has nothing to do, at the same time: what the machine itself adds. */
  readonly idle: Latencies;
  /** The most memory that the attacked server had, over what it had before. */
  readonly memoryOverIdleMiB: number;
  /** The attackers' calls that ended, a second. */
  readonly callsPerSecond: number;
}

type Timed = () => Promise<unknown>;

/** Milliseconds that each call took, sent by the clock; one that failed counts as the longest that is waited for. */
async function timed(call: Timed, everyMs: number, durationMs: number): Promise<Latencies> {
  const taken: Promise<number>[] = [];
  const once = async (): Promise<number> => {
    const start = performance.now();
    return call().then(
      () => performance.now() - start,
      () => CALL_MS,
    );
  };
  for (const end = performance.now() + durationMs; performance.now() < end; await sleep(everyMs)) taken.push(once());
  return summary(await Promise.all(taken));
}

/** The same, one after the other. */
async function inTurn(call: Timed, everyMs: number, durationMs: number): Promise<Latencies> {
  const taken: number[] = [];
  for (const end = performance.now() + durationMs; performance.now() < end; await sleep(everyMs)) {
    const start = performance.now();
    const answered = await call().then(
      () => true,
      () => false,
    );
    taken.push(answered ? performance.now() - start : CALL_MS);
  }
  return summary(taken);
}

function summary(latencies: readonly number[]): Latencies {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { calls: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function healthOf(port: number): Timed {
  const Client = makeClientConstructor(healthService, "Health");
  const options = { "grpc.use_local_subchannel_pool": 1 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options) as unknown as {
    check(request: object, done: (error: Error | null) => void): void;
  };
  return () =>
    new Promise<void>((resolve, reject) => {
      client.check({ service: "" }, (error) => (error === null ? resolve() : reject(error)));
    });
}

/** Someone else, who trains in peace. */
async function bystander({ port }: ServerProcess): Promise<(durationMs: number) => Promise<Seen>> {
  const environments = EnvironmentService.method;
  const curriculum = CurriculumService.method;
  const [steps, batches] = [unaryOf(port, TOKEN), unaryOf(port, TOKEN)];
  const { task } = await steps(environments.reset, { spec: { environment: "countdown" }, seed: 1n });
  const completion = "<think></think><answer>1 + 2</answer>";
  const arms = ["T0", "T1", "T2"].map((level) => ({
    ...{ id: level, spec: { environment: "countdown", difficulty: { case: "level", value: level } as const } },
  }));
  const policy = { kind: { case: "mixture", value: {} } } as const;
  const config = { arms, policy, numGenerations: 4, promptsPerUpdate: 16 };
  await batches(curriculum.createRun, { runId: "sound", config });
  const health = healthOf(port);
  let cursor = 0n;
  const next = async (): Promise<void> => {
    ({ nextCursor: cursor } = await batches(curriculum.nextBatch, { runId: "sound", cursor }));
  };
  return async (durationMs) => {
    const [step, checked, nextBatch] = await Promise.all([
      timed(() => steps(environments.step, { taskId: task?.taskId ?? "", completion }), EVERY_MS, durationMs),
      timed(health, EVERY_MS, durationMs),
      inTurn(next, BATCH_EVERY_MS, durationMs),
    ]);
    return { step, health: checked, nextBatch };
  };
}

/** The most memory while something goes on. */
async function highest(server: ServerProcess, during: Promise<unknown>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, server.rssBytes());
  }, 20);
  await during;
  clearInterval(timer);
  return most;
}

async function measure(attack: AttackName): Promise<Result> {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "gradus-bench-"))) as [string, string];
  const tokenFile = join(folders[0], "token");
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
  const [server, quiet] = await Promise.all([
    startOurs(folders[0], [], serverArgs(attack, tokenFile)),
    startOurs(folders[1]),
  ]);
  try {
    const watch = await bystander(server);
    await watch(WARM_UP_MS);
    const before = server.rssBytes();
    const alone = await watch(ALONE_MS);
    const attacker = await startAttack(attack, server, Number(options.nice));
    const durationMs = Number(options.seconds) * 1000;
    const watched = Promise.all([watch(durationMs), timed(healthOf(quiet.port), EVERY_MS, durationMs)]);
    const most = await highest(server, watched);
    const [attacked, idle] = await watched;
    const callsPerSecond = (1000 * attacker.calls()) / durationMs;
    attacker.stop();
    const nextBatchRatio = attacked.nextBatch.p50Ms / alone.nextBatch.p50Ms;
    const memoryOverIdleMiB = (most - before) / 2 ** 20;
    return { attack, alone, attacked, nextBatchRatio, idle, memoryOverIdleMiB, callsPerSecond };
  } finally {
    await Promise.all([server.stop(), quiet.stop()]);
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

function table(results: readonly Result[]): string {
  const ms = ({ p50Ms, p99Ms, maxMs }: Latencies) => [p50Ms, p99Ms, maxMs].map((each) => each.toFixed(1)).join(" / ");
  const rows = results.map(({ attack, attacked, alone, nextBatchRatio, idle, memoryOverIdleMiB, callsPerSecond }) =>
    [
      attack,
      callsPerSecond.toPrecision(2),
      ms(attacked.step),
      ms(attacked.health),
      ms(idle),
      `${attacked.nextBatch.p50Ms.toFixed(1)} ÷ ${alone.nextBatch.p50Ms.toFixed(1)} = ${nextBatchRatio.toFixed(1)}`,
      memoryOverIdleMiB.toFixed(0),
    ].join(" | "),
  );
  return [
    machineText(cpus(), process.version),
    "",
    "| attack | its calls a second | Step: p50 / p99 / max, ms | health | health of an idle server beside it | NextBatch, attacked ÷ alone, ms | memory over idle, MiB |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

const names = attackNames.filter((name) => options.attack.includes(name));
const progress = createProgress("attacks", names.length);
const results: Result[] = [];
for (const name of names) {
  results.push(await measure(name));
  progress.step();
}
progress.stop();
console.log(options.json ? JSON.stringify(results, undefined, 2) : table(results));
