/**
 * Measures what other callers notice while a server is attacked: latencies of their steps, health checks and update
 * batches.
 * An idle server that nobody attacks is measured at the same moments. README.md says how, docs/evidence.md has the
 * figures.
 *
 * ```
 * node bench/attacks/run.ts [--json] [--rounds 1] [--seconds 10] [--attack "rapid resets"]
 * ```
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeClientConstructor, credentials } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { createProgress } from "../progress.ts";
import { type ServerProcess, startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";
import { startAttack } from "./attacker.ts";
import { type AttackName, attackNames, serverArgs, TOKEN } from "./attacks.ts";
import { CALL_MS, unaryOf } from "./caller.ts";
import { type Latencies, type Result, type Seen, summary, table } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "1" },
    seconds: { type: "string", default: "10" },
    attack: { type: "string", multiple: true, default: [...attackNames] },
  },
});

/**
 * Interval between calls, in milliseconds. A clock sends them, whether or not the last was answered, so a stall delays
 * all of them.
 */
const EVERY_MS = 10;
/** Interval between two update batches of the undisturbed run, in milliseconds. */
const BATCH_EVERY_MS = 50;
const WARM_UP_MS = 8000;

type Timed = () => Promise<unknown>;

/** Returns the milliseconds that each call took. A clock sends the calls. A failed call counts as the longest wait. */
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

/** Measures calls that follow each other: the next one begins when the last one has ended. */
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

/** Opens a port that passes connections on to a server from another address than the attacker's. */
async function fromElsewhere(port: number): Promise<number> {
  const relay = createServer((socket) => {
    const server = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    for (const each of [socket, server]) each.setNoDelay().on("error", () => undefined);
    socket.pipe(server).pipe(socket);
  }).unref();
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return (relay.address() as AddressInfo).port;
}

/** Starts another caller, who trains and attacks nothing. */
async function bystander(server: ServerProcess): Promise<(durationMs: number) => Promise<Seen>> {
  const port = await fromElsewhere(server.port);
  const environments = EnvironmentService.method;
  const curriculum = CurriculumService.method;
  const [steps, batches] = [unaryOf(port, TOKEN), unaryOf(port, TOKEN)];
  const { task } = await steps(environments.reset, { spec: { environment: "countdown" }, seed: 1n });
  const completion = "<think></think><answer>1 + 2</answer>";
  const arms = ["T0", "T1", "T2"].map((level) => ({
    id: level,
    spec: { environment: "countdown", difficulty: { case: "level", value: level } as const },
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

/** Returns the largest memory of the server while the work lasts. */
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
  const args = serverArgs(attack, tokenFile);
  const [server, quiet] = await Promise.all(folders.map((folder) => startOurs(folder, [], args)));
  if (server === undefined || quiet === undefined) throw new Error("two servers were to start");
  try {
    const watches = await Promise.all([bystander(server), bystander(quiet)]);
    const watch = (durationMs: number) => Promise.all(watches.map((each) => each(durationMs)));
    await watch(WARM_UP_MS);
    const before = server.rssBytes();
    const attacker = await startAttack(attack, server);
    const durationMs = Number(options.seconds) * 1000;
    const watched = watch(durationMs);
    const most = await highest(server, watched);
    const [attacked, idle] = (await watched) as [Seen, Seen];
    const callsPerSecond = (1000 * attacker.calls()) / durationMs;
    attacker.stop();
    return { attack, attacked, idle, memoryOverIdleMiB: (most - before) / 2 ** 20, callsPerSecond };
  } finally {
    await Promise.all([server.stop(), quiet.stop()]);
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

const names = attackNames.filter((name) => options.attack.includes(name));
const rounds = Number(options.rounds);
const progress = createProgress("attacks", rounds * names.length);
const results: Result[] = [];
for (let round = 0; round < rounds; round++) {
  for (const name of names) {
    results.push(await measure(name));
    progress.step();
  }
}
progress.stop();
if (options.json) console.log(JSON.stringify(results, undefined, 2));
else console.log(`${machineText(cpus(), process.version)}\n\n${table(names, results)}`);
