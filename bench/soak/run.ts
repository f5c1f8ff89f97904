/**
 * An hour of training at 70% of what two replicas carry, behind HAProxy and on PostgreSQL, with a fault a minute: how long calls
 * take, whether memory stays, and whether anything that was acknowledged is missing.
 *
 *   node bench/soak/run.ts [--minutes 60] [--load 0.7] [--trainers 8] [--fault-every 60] [--seed 0] [--json]
 *
 * What two replicas carry is measured first, for a tenth of the time, as fast as all trainers can. A trainer draws and scores a
 * run's update batches, each when it is due, deletes the run, and begins the next one. Faults are seeded: the second replica is
 * killed, one is stopped for 3 s in the midst of a statement, PostgreSQL is killed, replies to commits are cut. The first replica
 * is never killed: its memory tells. Ends with 1 where a run has other samples than were acknowledged, or where the first
 * replica's memory in the last third of the time is more than a tenth above that of the third before.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient, type GradusClient, GradusError, type RunHandle, type Task } from "../../clients/ts/src/index.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { oneFault, startLink } from "../../test/simulation/storm.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { startReplicas } from "../../test/support/replicas.ts";
import { adscRun, completionsOf } from "../../test/support/scripted-policy.ts";
import { temporaryFolder } from "../../test/support/server-process.ts";
import { createProgress } from "../progress.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    load: { type: "string", default: "0.7" },
    trainers: { type: "string", default: "8" },
    "fault-every": { type: "string", default: "60" },
    seed: { type: "string", default: "0" },
    json: { type: "boolean", default: false },
  },
});
const [minutes, trainers] = [Number(options.minutes), Number(options.trainers)];

const PROMPTS = 16;
const GENERATIONS = 8;
const BATCH_SAMPLES = PROMPTS * GENERATIONS;
/** Update batches of a run: so that runs come and go all the time. */
const BATCHES = 40;
const DEADLINE_MS = 60_000;
/** Calls that begin so long after a fault are counted apart: a stop takes 3 s, and is left after some more. */
const FAULT_MS = 10_000;
/** Rows of the report. */
const ROWS = 12;
const GROWTH_MAX = 1.1;

interface Call {
  readonly kind: "NextBatch" | "BatchStep";
  readonly startMs: number;
  readonly tookMs: number;
}

/** What trainers did, from the last `begin` on. */
function newRecord() {
  return { calls: [] as Call[], wrong: [] as string[], samples: 0, again: 0, runs: 0 };
}

type Record = ReturnType<typeof newRecord>;

async function timed<T>(record: Record, kind: Call["kind"], work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const value = await work();
  record.calls.push({ kind, startMs, tookMs: performance.now() - startMs });
  return value;
}

/** Sends an update batch's samples until each is recorded. */
async function score(record: Record, client: GradusClient, tasks: readonly Task[]): Promise<void> {
  for (let left = tasks.map((task) => completionsOf(task, GENERATIONS)); left.length > 0;) {
    const sent = left;
    const outcomes = await timed(record, "BatchStep", () => client.batchStep(sent, { deadlineMs: DEADLINE_MS }));
    left = sent.filter((_, i) => outcomes[i]?.outcomes.some(({ feedback }) => feedback?.status === "not_recorded"));
    record.samples += (sent.length - left.length) * GENERATIONS;
    record.again += left.length;
    if (left.length > 0) await sleep(200);
  }
}

/** The one call that is not made again by itself: what deletes a run late might delete another of its name. Here none has it. */
async function remove(run: RunHandle): Promise<void> {
  for (;;) {
    try {
      return await run.delete({ deadlineMs: DEADLINE_MS });
    } catch (error) {
      const code = error instanceof GradusError ? error.code : undefined;
      if (code === "NOT_FOUND") return;
      if (code !== "UNAVAILABLE") throw error;
      await sleep(200);
    }
  }
}

/** Trains runs one after the other until it is over, an update batch each so many milliseconds. */
async function train(record: Record, address: string, name: string, everyMs: number, isOver: () => boolean) {
  const client = createClient(address, { onFeedback: "ignore" });
  let dueMs = performance.now() + everyMs * Math.random();
  for (let r = 0; !isOver(); r++) {
    const run = client.run(`${name}-${r}`);
    const sizes = { length: BATCHES * PROMPTS, promptsPerUpdate: PROMPTS, numGenerations: GENERATIONS };
    await run.create(adscRun(sizes), { deadlineMs: DEADLINE_MS });
    let batches = 0;
    for (; batches < BATCHES && !isOver(); batches++) {
      // Whoever is late, after a fault, does not hurry.
      dueMs = Math.max(dueMs + everyMs, performance.now());
      await sleep(Math.max(0, dueMs - performance.now()));
      const asked = { cursor: BigInt(batches * PROMPTS), count: PROMPTS };
      const { tasks } = await timed(record, "NextBatch", () => run.nextBatch(asked, { deadlineMs: DEADLINE_MS }));
      await score(record, client, tasks);
    }
    const recorded = (await run.get({ deadlineMs: DEADLINE_MS })).state?.samplesRecorded;
    if (recorded !== BigInt(batches * BATCH_SAMPLES))
      record.wrong.push(`run ${name}-${r} has ${String(recorded)} samples of ${batches * BATCH_SAMPLES}`);
    await remove(run);
    record.runs++;
  }
  client.close();
}

/** All trainers for so long. */
async function trainAll(record: Record, address: string, name: string, everyMs: number, forMs: number): Promise<void> {
  const endMs = performance.now() + forMs;
  const isOver = (): boolean => performance.now() >= endMs;
  await Promise.all(
    Array.from({ length: trainers }, (_, i) => train(record, address, `${name}-${i}`, everyMs, isOver)),
  );
}

/** NaN: it is not running just now. */
function rssMiB(pid: number | undefined): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
  } catch {
    return NaN;
  }
}

const quantile = (values: readonly number[], share: number): number =>
  Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN);

const median = (values: readonly number[]): number => quantile(values, 0.5);

using folders = new DisposableStack();
const dataDirs = [0, 1].map(() => folders.use(temporaryFolder()).path) as [string, string];
writeFileSync(join(dataDirs[0], "task-keys"), `${"5a".repeat(32)}\n`, { mode: 0o600 });
copyFileSync(join(dataDirs[0], "task-keys"), join(dataDirs[1], "task-keys"));
await using postgres = await startPostgres({ fsync: "on" });
const url = await postgres.database();
const links = await Promise.all(dataDirs.map(() => startLink(postgres.port)));
await using replicas = await startReplicas(
  dataDirs.map((dataDir, i) => ({
    dataDir,
    flags: ["--store", url.replace(String(postgres.port), String(links[i]?.port)), "--sandbox", "off"],
  })),
  true,
);

const startedMs = performance.now();
const warm = newRecord();
const calibrateMs = minutes * 6_000;
await trainAll(warm, replicas.address, "warm", 0, calibrateMs);
// What is compiled meanwhile makes the first half slow.
const capacity = (warm.samples * 1000) / (performance.now() - startedMs);
const everyMs = (trainers * BATCH_SAMPLES * 1000) / (capacity * Number(options.load));

const record = newRecord();
const faults: { readonly atMs: number; readonly kind: string }[] = [];
const memory: { readonly atMs: number; readonly first: number; readonly second: number }[] = [];
const beginMs = performance.now();
const forMs = minutes * 54_000;
const rng = rngFor("soak", Number(options.seed));
const over = { now: false };
const progress = createProgress("minutes", minutes);

async function befall(): Promise<void> {
  const storm = { rng, links, postgres, judge: { isDown: false }, count: () => undefined };
  const second = { ...storm, links: links.slice(1), replicas: { ...replicas, all: replicas.all.slice(1) } };
  for (let next = 1; ; next++) {
    const dueMs = beginMs + next * Number(options["fault-every"]) * 1000;
    while (!over.now && performance.now() < dueMs) await sleep(200);
    if (over.now || performance.now() > beginMs + forMs - FAULT_MS) return;
    const kind = rng.pick(["kill", "stop", "database", "cut"]);
    faults.push({ atMs: performance.now(), kind });
    await oneFault(kind === "kill" ? second : { ...storm, replicas }, kind);
  }
}

async function watch(): Promise<void> {
  for (let tick = 0; !over.now; tick++) {
    const [first = NaN, second = NaN] = replicas.all.map(({ server }) => rssMiB(server?.pid));
    memory.push({ atMs: performance.now(), first, second });
    if (tick % 60 === 59) progress.step();
    await sleep(1000);
  }
}

const isNear = (startMs: number): boolean =>
  faults.some(({ atMs }) => startMs >= atMs - DEADLINE_MS / 12 && startMs < atMs + FAULT_MS);
const p99 = (kind: Call["kind"], near: boolean): number =>
  quantile(
    record.calls.filter((call) => call.kind === kind && isNear(call.startMs) === near).map(({ tookMs }) => tookMs),
    0.99,
  );

function report(): void {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const [fromMs, toMs] = [beginMs + (forMs * i) / ROWS, beginMs + (forMs * (i + 1)) / ROWS];
    const within = <T>(list: readonly T[], at: (each: T) => number): readonly T[] =>
      list.filter((each) => at(each) >= fromMs && at(each) < toMs);
    const calls = within(record.calls, ({ startMs }) => startMs);
    const took = (kind: Call["kind"]): readonly number[] =>
      calls.filter((call) => call.kind === kind).map(({ tookMs }) => tookMs);
    const samples = calls.filter(({ kind }) => kind === "BatchStep").length * BATCH_SAMPLES;
    return {
      "samples/s": Math.round((samples * 1000) / (toMs - fromMs)),
      "BatchStep p50": median(took("BatchStep")),
      p99: quantile(took("BatchStep"), 0.99),
      "NextBatch p50": median(took("NextBatch")),
      "p99 ": quantile(took("NextBatch"), 0.99),
      "first MiB": median(within(memory, ({ atMs }) => atMs).map(({ first }) => first)),
      "second MiB": median(within(memory, ({ atMs }) => atMs).map(({ second }) => second)),
      faults: within(faults, ({ atMs }) => atMs)
        .map(({ kind }) => kind)
        .join(" "),
    };
  });
  const thirds = [1, 2].map((third) =>
    median(memory.filter(({ atMs }) => Math.floor((3 * (atMs - beginMs)) / forMs) === third).map(({ first }) => first)),
  ) as [number, number];
  const summary = {
    "samples a second, at most": Math.round(capacity),
    "samples recorded": record.samples,
    runs: record.runs,
    "runs with other samples than were acknowledged": record.wrong.length,
    "groups sent again": record.again,
    faults: faults.length,
    "BatchStep p99 apart from faults, ms": p99("BatchStep", false),
    "BatchStep p99 around faults, ms": p99("BatchStep", true),
    "NextBatch p99 apart from faults, ms": p99("NextBatch", false),
    // Of more calls than a function takes arguments.
    "longest call, ms": Math.round(record.calls.reduce((most, { tookMs }) => Math.max(most, tookMs), 0)),
    "first replica's MiB in the second and last third": thirds.join(", "),
  };
  if (options.json) console.log(JSON.stringify({ ...summary, rows, wrong: record.wrong }, undefined, 2));
  else {
    console.table(rows);
    for (const [name, value] of Object.entries(summary)) console.log(`${name}: ${value}`);
    for (const wrong of record.wrong) console.log(wrong);
  }
  if (record.wrong.length > 0 || thirds[1] > GROWTH_MAX * thirds[0]) process.exitCode = 1;
}

try {
  await Promise.all([
    trainAll(record, replicas.address, "soak", everyMs, forMs).finally(() => (over.now = true)),
    befall(),
    watch(),
  ]);
  report();
} catch (error) {
  // Told at once: what is taken down afterwards may fail too, and hide it.
  const minute = ((performance.now() - beginMs) / 60_000).toFixed(1);
  console.error(`minute ${minute}, ${JSON.stringify(faults.at(-1))} last:`, error);
  throw error;
} finally {
  over.now = true;
  progress.stop();
  for (const link of links) link.close();
}
