/**
 * Several servers of one store behind HAProxy, whose clocks are hours apart, which are killed and stopped, whose database is
 * killed and whose commits are answered in vain, against the same trainers on one server that keeps runs in memory: what was
 * acknowledged counts once, and tasks, probabilities and values are the same to the bit. Faults are seeded; time is real.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createClient,
  type GradusClient,
  type Outcome,
  type RunChoice,
  type Task,
} from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { startChatServer } from "../support/chat-server.ts";
import { fair } from "../support/judge.ts";
import { startPostgres } from "../support/postgres.ts";
import { startReplicas } from "../support/replicas.ts";
import { adscRun, complete, taskLine } from "../support/scripted-policy.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";
import { placesUnlike, timeless } from "./continuation.ts";
import { savedIn } from "./operator.ts";
import { PAUSE_MS, startLink, storms } from "./storm.ts";
import { payloadOf } from "./stored.ts";

export interface ReplicasOptions {
  readonly seed: number;
  /** Samples of all runs together, about. */
  readonly samples: number;
  readonly store: "sqlite" | "postgres";
  /** Told of each fault, and now and then how many samples are in. */
  readonly tell?: (what: string) => void;
  /** Told of each sample that was acknowledged, of the undisturbed run and of the other. */
  readonly onSample?: () => void;
}

export interface ReplicasOutcome {
  readonly violations: readonly string[];
  /** Samples whose record was acknowledged. */
  readonly samples: number;
  /** The longest that no sample of a run was acknowledged, milliseconds. */
  readonly gapMs: number;
  readonly faults: Readonly<Record<string, number>>;
}

const GENERATIONS = 8;
/** Of each rank, of an update batch. */
const TASKS = 2;
/** How long a trainer waits for a call, with all its attempts: no fault takes as long. */
const DEADLINE_MS = 60_000;

/** Ranks that train one run. */
interface Crew {
  readonly run: string;
  readonly ranks: number;
  readonly choice: (length: number) => RunChoice;
}

const tiers = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));

function shapeOf(ranks: number, length: number) {
  const hours = { groupTimeoutMs: 3_600_000, timeToLiveMs: 7_200_000 };
  return { length, promptsPerUpdate: ranks * TASKS, numGenerations: GENERATIONS, ...hours };
}

/** Thirty trainers: of runs with every kind of arm, one of which asks a judge, and another that is deleted now and then. */
const crews: readonly Crew[] = [
  ...["adsc-a", "adsc-b"].map((run) => ({
    run,
    ranks: 10,
    choice: (length: number) => adscRun({ ...shapeOf(10, length), policy: { kind: "bandit" } }),
  })),
  {
    run: "judged",
    ranks: 6,
    choice: (length) => ({
      arms: [...tiers, { id: "writing", environment: "writing", source: "real", weight: 0.1 }],
      policy: { kind: "mixture" },
      seed: 7,
      ...shapeOf(6, length),
    }),
  },
];
const AGAIN = "again";
const AGAIN_RANKS = 4;

// What trainers see and are told.

interface Told {
  /** By run and cursor: what is to be the same, whoever serves it. */
  readonly tasks: Map<string, string>;
  /** By run, cursor and sample: the reward. */
  readonly rewards: Map<string, number>;
  /** By run: when a sample was acknowledged last. */
  readonly lastAtMs: Map<string, number>;
  readonly violations: Set<string>;
  readonly onSample: () => void;
  samples: number;
  gapMs: number;
}

function newTold({ onSample = () => undefined }: ReplicasOptions): Told {
  return {
    onSample,
    tasks: new Map(),
    rewards: new Map(),
    lastAtMs: new Map(),
    violations: new Set(),
    samples: 0,
    gapMs: 0,
  };
}

function acknowledged(told: Told, run: string): void {
  const nowMs = performance.now();
  told.gapMs = Math.max(told.gapMs, nowMs - (told.lastAtMs.get(run) ?? nowMs));
  told.lastAtMs.set(run, nowMs);
  told.samples++;
  told.onSample();
}

function textOf(task: Task, sample: number): string {
  if (task.armId !== "writing") return complete(task, sample);
  // For a judge that counts words.
  const words = Array.from(
    { length: 40 * (sample % 4) + 1 },
    (_, i) => `word${"abcdefghij"[i % 10]}${"klmnopqrst"[Math.floor(i / 10) % 10]}`,
  );
  return `<think>Hm.</think><answer>${words.join(" ")}</answer>`;
}

/** Sends the samples of some tasks until each is acknowledged; `over`: the task's run was deleted. */
async function deliver(
  told: Told,
  client: GradusClient,
  tasks: readonly Task[],
  rng: Rng,
  isOver?: (task: Task) => boolean,
) {
  type Part = {
    readonly task: Task;
    readonly completions: readonly { readonly sampleIndex: number; readonly text: string }[];
  };
  const size = rng.pick([1, 2, 4, GENERATIONS]);
  let left: Part[] = tasks.flatMap((task) =>
    Array.from({ length: GENERATIONS / size }, (_, part) => ({
      task,
      completions: Array.from({ length: size }, (__, i) => part * size + i).map((sampleIndex) => ({
        sampleIndex,
        text: textOf(task, sampleIndex),
      })),
    })),
  );
  const inBatch = rng.int(0, 2) === 0;
  while (left.length > 0) {
    const again: Part[] = [];
    const take = (part: Part, outcomes: readonly Outcome[]): void => {
      const missing = part.completions.filter(
        (_, i) => !isIn(told, part.task, part.completions[i]!.sampleIndex, outcomes[i]!, isOver),
      );
      if (missing.length > 0) again.push({ task: part.task, completions: missing });
    };
    if (inBatch) {
      const groups = left.map((part) => ({ ...part, numGenerations: GENERATIONS }));
      const outcomes = await client.batchStep(groups, { deadlineMs: DEADLINE_MS });
      outcomes.forEach((outcome, i) => take(left[i]!, outcome.outcomes));
    } else {
      for await (const result of client.streamSteps(left, { deadlineMs: DEADLINE_MS })) {
        if (result.kind === "failed") throw result.error;
        take(result.group, result.outcome.outcomes);
      }
    }
    left = again;
    if (left.length > 0) await sleep(rng.int(20, 200));
  }
}

/** Whether the sample is done with. */
function isIn(told: Told, task: Task, sample: number, outcome: Outcome, isOver?: (task: Task) => boolean): boolean {
  const name = `${task.runId}/${task.cursor}/${sample}`;
  const status = outcome.feedback?.status;
  if (outcome.kind === "unscored") {
    // Nobody could score it now.
    if (outcome.retryDelayMs !== undefined) return false;
    told.violations.add(`sample ${name} was not scored: ${outcome.reason}, ${outcome.detail}`);
    return true;
  }
  if (status === "not_recorded") return isOver?.(task) === true;
  if (status !== "recorded" && status !== "duplicate") {
    if (!(status === "stale_epoch" && isOver?.(task) === true))
      told.violations.add(`sample ${name} is ${String(status)}`);
    return true;
  }
  acknowledged(told, task.runId);
  if (isOver !== undefined) return true;
  const before = told.rewards.get(name) ?? outcome.reward;
  if (before !== outcome.reward) told.violations.add(`sample ${name} had reward ${before} and has ${outcome.reward}`);
  told.rewards.set(name, outcome.reward);
  return true;
}

function see(told: Told, tasks: readonly Task[]): void {
  for (const task of tasks) {
    const name = `${task.runId}/${task.cursor}`;
    const line = `${task.updateBatch} ${task.armProbability} ${taskLine(task)} ${task.instanceHash}`;
    const before = told.tasks.get(name) ?? line;
    if (before !== line) told.violations.add(`task ${name} was "${before}" and is "${line}"`);
    told.tasks.set(name, line);
  }
}

/** What is waited for before the last update batches. */
interface Course {
  readonly address: string;
  readonly batches: number;
  readonly beforeLast: Promise<unknown>;
}

/** One rank's tasks of every update batch, to the run's end. */
async function train(
  told: Told,
  { address, batches, beforeLast }: Course,
  { run: id, ranks }: Crew,
  rank: number,
  rng: Rng,
): Promise<void> {
  const client = createClient(address);
  const run = client.run(id);
  for (let batch = 0; ; batch++) {
    if (batch === batches - 1) {
      await beforeLast;
      // That was no gap.
      told.lastAtMs.delete(id);
    }
    const cursor = BigInt((batch * ranks + rank) * TASKS);
    const { tasks } = await run.nextBatch({ cursor, count: TASKS, waitMs: 2_000 }, { deadlineMs: 2 * DEADLINE_MS });
    if (tasks.length === 0) break;
    see(told, tasks);
    await deliver(told, client, tasks, rng);
  }
  client.close();
}

/** Which groups of an arm were closed last is as trainers were quick; of those its means tell, and no policy. */
function untold(state: unknown): unknown {
  const { arms, ...rest } = state as { readonly arms: readonly { readonly recent: readonly unknown[] }[] };
  return { ...rest, arms: arms.map((arm) => ({ ...arm, recent: arm.recent.length })) };
}

/** All crews, to the end of their runs; then the state of each, but for times and names, and what it counts. */
async function trainAll(
  told: Told,
  address: string,
  options: ReplicasOptions,
  beforeLast: Promise<unknown> = Promise.resolve(),
): Promise<ReadonlyMap<string, unknown>> {
  const tasks = options.samples / GENERATIONS;
  const batches = Math.ceil(tasks / crews.reduce((sum, { ranks }) => sum + ranks * TASKS, 0));
  const client = createClient(address);
  for (const { run, ranks, choice } of crews) await client.run(run).create(choice(batches * ranks * TASKS));
  const rng = rngFor("trainers", options.seed);
  await Promise.all(
    crews.flatMap((crew) =>
      Array.from({ length: crew.ranks }, (_, rank) =>
        train(told, { address, batches, beforeLast }, crew, rank, rngFor("rank", rng.int(0, 1e9), rank)),
      ),
    ),
  );
  const states = new Map<string, unknown>();
  for (const { run, ranks } of crews) {
    const recorded = (await client.run(run).get()).state?.samplesRecorded;
    const sent = BigInt(batches * ranks * TASKS * GENERATIONS);
    if (recorded !== sent)
      told.violations.add(`run ${run} has ${String(recorded)} samples of the ${sent} that were acknowledged`);
    states.set(run, untold(timeless(savedIn(payloadOf((await client.run(run).export()).state)))));
  }
  client.close();
  return states;
}

// A run that is deleted and created again while it is trained.

interface Recreated {
  /** By incarnation: the samples that were acknowledged as recorded. */
  readonly recorded: Map<string, Set<string>>;
  /** Incarnations whose deletion was acknowledged. */
  readonly deleted: Set<string>;
}

const incarnationOf = ({ groupId }: Task): string => groupId.split("/")[1] ?? "";

/**
 * The client deletes nothing a second time: whose answer was lost may still be done, by a server that was stopped, and would
 * meet the run that has the name by then. So that is waited for here.
 */
async function deleteRun(client: GradusClient): Promise<void> {
  for (;;) {
    try {
      return await client.run(AGAIN).delete({ deadlineMs: DEADLINE_MS });
    } catch (error) {
      const { code } = error as { readonly code: string };
      if (code === "NOT_FOUND") return;
      if (code !== "UNAVAILABLE") throw error;
      await sleep(2 * PAUSE_MS);
    }
  }
}

async function recreate(told: Told, address: string, rng: Rng, isOver: () => boolean, count: (fault: string) => void) {
  const kept: Recreated = { recorded: new Map(), deleted: new Set() };
  const choice: RunChoice = { arms: tiers, policy: { kind: "bandit" }, ...shapeOf(AGAIN_RANKS, 100_000) };
  const operator = createClient(address);
  await operator.run(AGAIN).create(choice);
  const over = { now: false };
  const one = async (rank: number): Promise<void> => {
    const client = createClient(address, { onFeedback: "ignore" });
    const own = rngFor("again", rng.int(0, 1e9), rank);
    while (!over.now) {
      try {
        const { tasks } = await client.run(AGAIN).nextBatch({ count: TASKS, waitMs: 500 }, { deadlineMs: DEADLINE_MS });
        for (const task of tasks) {
          for (let sample = 0; sample < GENERATIONS; sample++) await record(client, task, sample);
          if (own.int(0, 3) === 0) await sleep(own.int(0, 500));
        }
      } catch (error) {
        // It is not there at the moment, or waits for those who died with their run.
        if (!["NOT_FOUND", "UNAVAILABLE", "DEADLINE_EXCEEDED"].includes((error as { code: string }).code)) throw error;
        await sleep(50);
      }
    }
    client.close();
  };
  const record = async (client: GradusClient, task: Task, sample: number): Promise<void> => {
    const incarnation = incarnationOf(task);
    for (;;) {
      const isDeleted = kept.deleted.has(incarnation);
      const { feedback } = await client.step(task, textOf(task, sample), {
        sampleIndex: sample,
        deadlineMs: DEADLINE_MS,
      });
      const status = feedback?.status;
      if (status === "recorded" && isDeleted)
        told.violations.add(`sample ${task.cursor}/${sample} of a run that was deleted was recorded`);
      if (status === "recorded" || status === "duplicate") {
        const samples = kept.recorded.get(incarnation) ?? new Set();
        kept.recorded.set(incarnation, samples.add(`${task.cursor}/${sample}`));
        told.samples++;
        return;
      }
      if (status === "stale_epoch" || kept.deleted.has(incarnation)) return;
      await sleep(50);
    }
  };
  const trainers = Promise.all(Array.from({ length: AGAIN_RANKS }, (_, rank) => one(rank)));
  while (!isOver()) {
    await sleep(rng.int(2_000, 5_000));
    const before = [...kept.recorded.keys()].filter((incarnation) => !kept.deleted.has(incarnation));
    await deleteRun(operator);
    for (const incarnation of before) kept.deleted.add(incarnation);
    await operator.run(AGAIN).create(choice);
    count("run deleted and created again");
  }
  over.now = true;
  await trainers;
  const state = (await operator.run(AGAIN).get()).state;
  const last = [...kept.recorded].filter(([incarnation]) => !kept.deleted.has(incarnation));
  const acknowledgedLast = last.reduce((sum, [, samples]) => sum + samples.size, 0);
  if (last.length > 1 || state?.samplesRecorded !== BigInt(acknowledgedLast))
    told.violations.add(
      `run ${AGAIN} has ${String(state?.samplesRecorded)} samples, and ${acknowledgedLast} were acknowledged for ${last.length} incarnations of it`,
    );
  operator.close();
}

// The whole.

export async function againstReplicas(options: ReplicasOptions): Promise<ReplicasOutcome> {
  const { seed, store, tell = () => undefined } = options;
  const folders = Array.from({ length: 4 }, temporaryFolder);
  const [calmFolder, ...own] = folders.map(({ path }) => path);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => folders.forEach((folder) => folder[Symbol.dispose]()));
  const fairJudge = stack.use(await startChatServer(fair));
  const judge = { isDown: false };
  const fickleJudge = stack.use(
    await startChatServer((request) => (judge.isDown ? { kind: "status", status: 503 } : fair(request))),
  );
  const judgeFlags = (url: string): readonly string[] => ["--judge-url", url, "--judge-model", "judge"];

  tell("the undisturbed run, in memory");
  const calm = newTold(options);
  const server = await startServer(calmFolder!, "--store", "memory", ...judgeFlags(fairJudge.url));
  const calmStates = await trainAll(calm, server.address, options);
  await server.kill("SIGTERM");

  tell("the replicas");
  const postgres = store === "postgres" ? stack.use(await startPostgres()) : undefined;
  const database = await postgres?.database();
  const links = postgres === undefined ? [] : await Promise.all(own.map(() => startLink(postgres.port)));
  stack.defer(() => links.forEach((link) => link.close()));
  for (const path of own) copyFileSync(join(calmFolder!, "task-keys"), join(path, "task-keys"));
  const clocks = store === "postgres" ? [undefined, 2, -2] : [];
  const replicas = stack.use(
    await startReplicas(
      own.map((path, i) => ({
        dataDir: database === undefined ? own[0]! : path,
        flags: [
          ...judgeFlags(i === 0 ? fickleJudge.url : fairJudge.url),
          ...(database === undefined
            ? []
            : ["--store", database.replace(String(postgres?.port), String(links[i]?.port))]),
        ],
        clockAheadHours: clocks[i],
      })),
    ),
  );
  const faults = new Map<string, number>();
  const count = (fault: string): void => {
    faults.set(fault, (faults.get(fault) ?? 0) + 1);
    tell(`${fault}, at ${told.samples} samples`);
  };
  const told = newTold(options);
  const rng = rngFor("storm", seed);
  const over = { now: false };
  const isOver = (): boolean => over.now;
  const each = Promise.withResolvers<void>();
  const storm = storms({ rng, replicas, links, postgres, judge, count }, isOver, each.resolve);
  // A storm that fails ends what waits for it.
  storm.catch(each.reject);
  const recreated = recreate(told, replicas.address, rngFor("recreate", seed), isOver, count);
  const [states] = await Promise.all([
    trainAll(told, replicas.address, options, each.promise).finally(() => (over.now = true)),
    storm,
    recreated,
  ]);

  const { violations } = told;
  const keptIn = process.env["REPLICAS_LOGS"];
  if (keptIn !== undefined)
    replicas.all.forEach((replica, i) => writeFileSync(join(keptIn, `replica-${i}.log`), replica.lines().join("\n")));
  for (const replica of replicas.all)
    for (const line of replica.lines())
      if (line.includes('"code":"ABORTED"')) violations.add(`a call was aborted: ${line}`);
  for (const [name, line] of calm.tasks)
    if (told.tasks.get(name) !== line)
      violations.add(`task ${name}: "${told.tasks.get(name) ?? "none"}"; undisturbed: "${line}"`);
  for (const [name, reward] of calm.rewards)
    if (told.rewards.get(name) !== reward)
      violations.add(`sample ${name}: reward ${told.rewards.get(name)}; undisturbed: ${reward}`);
  for (const [run, state] of calmStates)
    for (const place of placesUnlike(state, states.get(run))) violations.add(`the state of run ${run}: ${place}`);
  return {
    violations: [...calm.violations, ...violations],
    samples: told.samples,
    gapMs: told.gapMs,
    faults: Object.fromEntries(faults),
  };
}
