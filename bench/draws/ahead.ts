/**
 * How long NextBatch takes where a run's tasks were made ahead of it, for every environment: a bandit over all levels for
 * training, whose trainer answers each update batch and then lets twice as long pass as making one takes, at least a while.
 * The first update batches of each run stand apart: there the code is still being compiled. Timed until the last byte of
 * the answer is there; with --read until the client has made tasks of it, which is the client's time (640 KB of TSPs).
 *
 *   node bench/draws/ahead.ts [--environment-file np/tsp,countdown] [--prompts 256] [--batches 100] [--warm-up 60]
 *     [--pause 300] [--read] [--json]
 *
 * Also what 64 runs at once get of the server's CPU: update batches a CPU second, against those of one run alone.
 *
 *   node bench/draws/ahead.ts --runs 64 [--prompts 32]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "../../clients/ts/src/index.ts";
import { environments } from "../../envs/registry.ts";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { createProgress } from "../progress.ts";
import { spreadOf } from "../transport/measure.ts";
import { startOurs } from "../transport/processes.ts";
import { openWire, unaryTemplate, type Wire } from "../transport/wire.ts";

const { values: options } = parseArgs({
  options: {
    environments: { type: "string" },
    prompts: { type: "string" },
    batches: { type: "string", default: "100" },
    "warm-up": { type: "string", default: "60" },
    pause: { type: "string", default: "300" },
    read: { type: "boolean", default: false },
    runs: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const batches = Number(options.batches);
/** Update batches of each run that are told of apart. */
const WARM_UP = Number(options["warm-up"]);
const GENERATIONS = 2;
/** Twice as long as making the dearest update batch, bisection's, takes. */
const MADE_MS_MAX = 2500;

const folder = mkdtempSync(join(tmpdir(), "gradus-ahead-"));
const server = await startOurs(folder);
const client = createClient(`127.0.0.1:${server.port}`);

function armsOf(id: string) {
  const environment = environments.find((one) => one.id === id && one.generator !== undefined);
  if (environment === undefined) throw new Error(`there is no environment ${id} that makes tasks`);
  const levels = environment.levels.filter(({ evaluationOnly }) => evaluationOnly !== true);
  return levels.map(({ name }) => ({ id: name, environment: id, level: name }));
}

const { nextBatch } = CurriculumService.method;
const path = `/${CurriculumService.typeName}/${nextBatch.name}`;

/** Asks for an update batch, and is done when its answer has come; nothing is made of it. */
async function answered(wire: Wire, runId: string, cursor: bigint, count: number): Promise<void> {
  const request = unaryTemplate(path, toBinary(nextBatch.input, create(nextBatch.input, { runId, cursor, count })));
  const messages = await new Promise<number>((resolve) => {
    if (!wire.call(request, resolve)) throw new Error("the connection has no room for a request");
  });
  if (messages !== 1) throw new Error(`NextBatch at ${cursor} was refused`);
}

/** A run's trainer: asks for update batches and answers each with rewards by chance of the arm. */
async function trainer(name: string, id: string, prompts: number, count: number, pauseMs: number, wire?: Wire) {
  const run = client.run(name);
  const shape = { numGenerations: GENERATIONS, promptsPerUpdate: prompts, feedbackSource: "reported" } as const;
  await run.create({ arms: armsOf(id), policy: { kind: "bandit" }, ...shape });
  const times: number[] = [];
  // A group's id is its run, its incarnation and its cursor: read from the first update batch.
  let prefix = "";
  for (let i = 0; i < count; i++) {
    const cursor = BigInt(i * prompts);
    const from = performance.now();
    if (wire !== undefined && i > 0) await answered(wire, name, cursor, prompts);
    else {
      const { tasks } = await run.nextBatch({ cursor, count: prompts });
      prefix ||= tasks[0]?.groupId.replace(/0$/, "") ?? "";
    }
    times.push(performance.now() - from);
    const groups = Array.from({ length: prompts }, (_, k) => {
      const at = Number(cursor) + k;
      return { groupId: `${prefix}${at}`, advantages: [(at % 7) / 7, 0] };
    });
    for (let k = 0; k < groups.length; k += 64) await run.reportAdvantages(groups.slice(k, k + 64));
    // The first batch took as long as making it: twice that lets the next be made.
    if (pauseMs > 0) await sleep(Math.max(pauseMs, Math.min(MADE_MS_MAX, 2 * (times[0] ?? 0))));
  }
  await run.delete();
  return times;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}

async function latencies(): Promise<void> {
  const all = [...new Set(environments.filter((one) => one.generator !== undefined).map(({ id }) => id))];
  const ids = options.environments?.split(",") ?? all;
  const progress = createProgress("environments", ids.length);
  const wire = options.read ? undefined : await openWire(server.port);
  const rows = [];
  for (const id of ids) {
    const name = id.replace("/", "-");
    const times = await trainer(
      name,
      id,
      Number(options.prompts ?? 256),
      WARM_UP + batches,
      Number(options.pause),
      wire,
    );
    const counted = times.slice(WARM_UP);
    const round = (value: number): number => Number(value.toPrecision(3));
    const row = {
      environment: id,
      first: round(times[0] ?? NaN),
      medianWarmingUp: round(spreadOf(times.slice(1, WARM_UP)).median),
      median: round(spreadOf(counted).median),
      p90: round(quantile(counted, 0.9)),
      p99: round(quantile(counted, 0.99)),
      greatest: round(Math.max(...counted)),
    };
    rows.push(row);
    progress.step();
    // It takes minutes: what is known is told at once.
    console.error(JSON.stringify(row));
  }
  progress.stop();
  wire?.close();
  if (options.json) console.log(JSON.stringify(rows));
  else console.table(rows);
}

async function sharing(runs: number): Promise<void> {
  const prompts = Number(options.prompts ?? 32);
  const perSecond = async (count: number, round: number): Promise<number> => {
    const each = Math.ceil((batches * 8) / count);
    const before = server.cpuSeconds();
    await Promise.all(
      Array.from({ length: count }, (_, i) => trainer(`r${round}-${count}-${i}`, "countdown", prompts, each, 0)),
    );
    return (each * count) / (server.cpuSeconds() - before);
  };
  await perSecond(1, -1);
  await perSecond(runs, -1);
  const progress = createProgress("rounds", 7);
  const ratios: number[] = [];
  for (let round = 0; round < 7; round++) {
    // By turns, for the machine is not alone.
    const alone = await perSecond(1, round);
    ratios.push((await perSecond(runs, round)) / alone);
    progress.step();
  }
  progress.stop();
  const { lowerQuartile, median, upperQuartile } = spreadOf(ratios);
  const result = { runs, ratio: median, lowerQuartile, upperQuartile };
  console.log(options.json ? JSON.stringify(result) : result);
}

try {
  if (options.runs === undefined) await latencies();
  else await sharing(Number(options.runs));
} finally {
  client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
