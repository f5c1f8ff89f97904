/**
 * Compares several servers of one store behind HAProxy with one server that keeps runs in memory, under the same
 * trainers. The replicas' clocks are hours apart; replicas and the database are killed, and commits lose their answers.
 * Each acknowledged sample counts once, and tasks, probabilities and values are equal to the bit. Faults are seeded;
 * time is real.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type GradusClient, type RunChoice, type Task } from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { startChatServer } from "../support/chat-server.ts";
import { fair } from "../support/judge.ts";
import { startPostgres } from "../support/postgres.ts";
import { startReplicas } from "../support/replicas.ts";
import { adscRun, complete } from "../support/scripted-policy.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";
import { type Course, type Crew, incarnationOf, noteEnds, trainAll } from "./driver.ts";
import { newSeen, type Seen, unlike } from "./seen.ts";
import { PAUSE_MS, startLink, storms } from "./storm.ts";

export interface ReplicasOptions {
  readonly seed: number;
  /** Approximate number of samples of all runs together. */
  readonly samples: number;
  readonly store: "sqlite" | "postgres";
  /** Called for each fault, and now and then with the number of recorded samples. */
  readonly tell?: (what: string) => void;
  /** Called for each acknowledged sample, of the undisturbed run and of the other. */
  readonly onSample?: () => void;
}

export interface ReplicasOutcome {
  readonly violations: readonly string[];
  /** Samples whose record was acknowledged. */
  readonly samples: number;
  /** Longest time without an acknowledged sample of a run, in milliseconds. */
  readonly gapMs: number;
  readonly faults: Readonly<Record<string, number>>;
}

const GENERATIONS = 8;
/** Tasks of an update batch that each trainer takes. */
const TASKS = 2;
/** Longest time that a trainer waits for a call, with all its attempts, in milliseconds. No fault lasts as long. */
const DEADLINE_MS = 60_000;

const tiers = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));

function shapeOf(trainers: number, length: number) {
  const hours = { groupTimeoutMs: 3_600_000, timeToLiveMs: 7_200_000 };
  return { length, promptsPerUpdate: trainers * TASKS, numGenerations: GENERATIONS, ...hours };
}

function textOf(task: Task, sample: number): string {
  if (task.armId !== "writing") return complete(task, sample);
  // Words for a judge that counts words.
  const words = Array.from(
    { length: 40 * (sample % 4) + 1 },
    (_, i) => `word${"abcdefghij"[i % 10]}${"klmnopqrst"[Math.floor(i / 10) % 10]}`,
  );
  return `<think>Hm.</think><answer>${words.join(" ")}</answer>`;
}

/** Returns thirty trainers: of runs with every kind of arm, of which one asks a judge and one has arms that grow. */
function crewsOf(batches: number): readonly Crew[] {
  const crew = (run: string, trainers: number, choiceOf: (shape: ReturnType<typeof shapeOf>) => RunChoice): Crew => {
    const choice = choiceOf(shapeOf(trainers, batches * trainers * TASKS));
    return { run, trainers, choice, tasksOfEach: TASKS, textOf };
  };
  const arms = [...tiers, { id: "writing", environment: "writing", source: "real", weight: 0.1 }] as const;
  const grown = [2, 3].map((start) => ({
    id: `grown/${start}`,
    environment: "countdown",
    grow: { axis: "numbers", start },
  }));
  return [
    ...["adsc-a", "adsc-b"].map((run) => crew(run, 10, (shape) => adscRun({ ...shape, policy: { kind: "bandit" } }))),
    crew("judged", 6, (shape) => ({ arms, policy: { kind: "mixture" }, seed: 7, ...shape })),
    crew("growing", 4, (shape) => ({ arms: grown, policy: { kind: "frontier" }, seed: 9, ...shape })),
  ];
}

/** Returns the number of update batches of all crews' runs that gives about this many samples. */
function batchesFor(samples: number): number {
  const tasksOfBatch = crewsOf(1).reduce((sum, { choice }) => sum + (choice.promptsPerUpdate ?? 0), 0);
  return Math.ceil(samples / GENERATIONS / tasksOfBatch);
}

/** Run that is deleted and created again now and then; it has four more trainers. */
const AGAIN = "again";
const AGAIN_TRAINERS = 4;

// A run that is deleted and created again while it is trained.

interface Recreated {
  /** Acknowledged samples by incarnation. */
  readonly recorded: Map<string, Set<string>>;
  /** Incarnations whose deletion was acknowledged. */
  readonly deleted: Set<string>;
}

/**
 * Deletes the run once. After a lost answer, a paused server may still do the deletion, and would delete a newer run of
 * that name. So the function waits until the old run is gone.
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

async function recreate(seen: Seen, address: string, rng: Rng, isOver: () => boolean, count: (fault: string) => void) {
  const kept: Recreated = { recorded: new Map(), deleted: new Set() };
  const choice: RunChoice = { arms: tiers, policy: { kind: "bandit" }, ...shapeOf(AGAIN_TRAINERS, 100_000) };
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
        // The run does not exist at the moment, or waits for trainers that died with an earlier one.
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
        seen.violations.add(`sample ${task.cursor}/${sample} of a run that was deleted was recorded`);
      if (status === "recorded" || status === "duplicate") {
        const samples = kept.recorded.get(incarnation) ?? new Set();
        kept.recorded.set(incarnation, samples.add(`${task.cursor}/${sample}`));
        seen.samples++;
        return;
      }
      if (status === "stale_epoch" || kept.deleted.has(incarnation)) return;
      await sleep(50);
    }
  };
  const trainers = Promise.all(Array.from({ length: AGAIN_TRAINERS }, (_, rank) => one(rank)));
  while (!isOver()) {
    await sleep(rng.int(2_000, 5_000));
    await deleteRun(operator);
    // The first sample of an incarnation may have been acknowledged while the run was being deleted.
    for (const incarnation of kept.recorded.keys()) kept.deleted.add(incarnation);
    await operator.run(AGAIN).create(choice);
    count("run deleted and created again");
  }
  over.now = true;
  await trainers;
  const state = (await operator.run(AGAIN).get()).state;
  const last = [...kept.recorded].filter(([incarnation]) => !kept.deleted.has(incarnation));
  const acknowledgedLast = last.reduce((sum, [, samples]) => sum + samples.size, 0);
  if (last.length > 1 || state?.samplesRecorded !== BigInt(acknowledgedLast))
    seen.violations.add(
      `run ${AGAIN} has ${String(state?.samplesRecorded)} samples, and ${acknowledgedLast} were acknowledged for ${last.length} incarnations of it`,
    );
  operator.close();
}

// Runs the whole comparison.

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
  const batches = batchesFor(options.samples);
  const crews = crewsOf(batches);
  const stop = new AbortController().signal;
  const rngOf = (name: string): Rng => rngFor("trainers", seed, name);
  const toTheEnd = async (address: string, seen: Seen, before?: Course["before"]): Promise<void> => {
    if (options.onSample !== undefined) seen.onSample = options.onSample;
    const course: Course = { address, seen, stop, deadlineMs: DEADLINE_MS, ...(before && { before }) };
    await trainAll(course, crews, rngOf);
    await noteEnds(course, crews);
  };
  const calm = newSeen();
  const server = await startServer(calmFolder!, "--store", "memory", ...judgeFlags(fairJudge.url));
  await toTheEnd(server.address, calm);
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
    tell(`${fault}, at ${stormy.samples} samples`);
  };
  const stormy = newSeen();
  const rng = rngFor("storm", seed);
  const over = { now: false };
  const isOver = (): boolean => over.now;
  const each = Promise.withResolvers<void>();
  const storm = storms({ rng, replicas, links, postgres, judge, count }, isOver, each.resolve);
  // If the storm fails, the waits for it fail, too.
  storm.catch(each.reject);
  // The last update batches wait until each fault has happened; that wait is no gap.
  const before = (batch: number) =>
    batch === batches - 1 ? each.promise.then(() => stormy.lastAtMs.clear()) : undefined;
  await Promise.all([
    toTheEnd(replicas.address, stormy, before).finally(() => (over.now = true)),
    storm,
    recreate(stormy, replicas.address, rngFor("recreate", seed), isOver, count),
  ]);

  const keptIn = process.env["REPLICAS_LOGS"];
  if (keptIn !== undefined)
    replicas.all.forEach((replica, i) => writeFileSync(join(keptIn, `replica-${i}.log`), replica.lines().join("\n")));
  for (const replica of replicas.all)
    for (const line of replica.lines())
      if (line.includes('"code":"ABORTED"')) stormy.violations.add(`a call was aborted: ${line}`);
  const { samples, gapMs } = stormy;
  return { violations: unlike(calm, stormy), samples, gapMs, faults: Object.fromEntries(faults) };
}
