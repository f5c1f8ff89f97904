/** Shared by the curriculum's tests: a clock that stands still, a source of tasks, configurations, and trainers. */
import type { Log } from "../../../server/base/log.ts";
import type { Clock } from "../../../server/base/clock.ts";
import { hashKey } from "../../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import { readList, readObject, readText, readNumber } from "../../../server/curriculum/json.ts";
import type { CompetenceConfig } from "../../../server/curriculum/policies/competence.ts";
import type { FrontierConfig } from "../../../server/curriculum/policies/frontier.ts";
import type { ForgettingConfig } from "../../../server/curriculum/policies/forgetting.ts";
import type { ReplayConfig } from "../../../server/curriculum/policies/replay.ts";
import type { BanditConfig } from "../../../server/curriculum/policies/bandit/config.ts";
import type { Stage } from "../../../server/curriculum/policies/stages.ts";
import type { NextBatch } from "../../../server/runs/next-batch.ts";
import { encodeChange, encodeSummary, type ListedView } from "../../../server/runs/journal.ts";
import type * as ports from "../../../server/runs/dependencies.ts";
import { createRuns, type Runs as RunsOf } from "../../../server/runs/runs.ts";
import type { IssuedTask } from "../../../server/curriculum/batches.ts";
import type { RunEvent } from "../../../server/curriculum/events.ts";
import type { RunState } from "../../../server/curriculum/state.ts";
import { encodeEvent, readEvent } from "../../../server/curriculum/event-codec.ts";
import { encodeState } from "../../../server/curriculum/state-codec.ts";
import type { RunEvent as Message } from "../../../proto/gen/gradus/internal/v1/run_pb.js";
import * as types from "../../../server/curriculum/types.ts";
import type { Constraints, Policy, Result } from "../../../server/curriculum/types.ts";
import type { HistoryEntry } from "../../../server/curriculum/history.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";

export const { noConstraints } = types;

/** The tests' arms and tasks are names. */
export interface Spec {
  readonly id: string;
}

export interface Key {
  readonly hash: string;
  /** Undefined: the rank is not known. */
  readonly rank?: number;
  readonly name: string;
}

export type Arm = types.Arm<Spec>;
export type RunConfig = types.RunConfig<Spec>;
export type Runs = RunsOf<Spec, Key>;
export type Task = IssuedTask<Key>;
export type TaskSource = ports.TaskSource<Spec, Key>;
export type BatchRecord = Extract<HistoryEntry, { readonly kind: "batch" }>;
export type Made = ports.MakeOutcome<Key>;
export type Place = types.TaskPlace<Spec>;

export interface FakeClock extends Clock {
  /** The machine's clock, which the store uses and which may jump. */
  readonly wallNow: () => number;
  /** Moves the clock on, and fires the timers that are due, in their order. */
  advance(ms: number): Promise<void>;
  /** Moves the machine's clock by some milliseconds; no time passes. */
  jump(ms: number): void;
}

export function fakeClock(): FakeClock {
  let now = 1_000_000;
  let jumpedMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    now: () => now,
    wallNow: () => now + jumpedMs,
    jump: (ms) => (jumpedMs += ms),
    setTimer: (delayMs, callback) => {
      const timer = { atMs: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    nextTurn: (callback) => void setImmediate(callback),
    advance: async (ms) => {
      const end = now + ms;
      for (;;) {
        await settled();
        const due = [...timers].filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
        if (due === undefined) break;
        timers.delete(due);
        now = Math.max(now, due.atMs);
        due.callback();
      }
      now = end;
      await settled();
    },
  };
}

/** Returns the runs of a page of the list, all of which must be readable. */
export function listedViews({ items }: Awaited<ReturnType<Runs["list"]>>): readonly ListedView[] {
  return items.map((item) => {
    if (item.kind === "run") return item.view;
    throw new Error(item.message);
  });
}

/** Lets everything that can run without the clock run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

export const codecs: Pick<TaskSource, "specs" | "keys"> = {
  specs: { encode: ({ id }) => ({ id }), decode: (json) => ({ id: readText(readObject(json)["id"]) }) },
  keys: {
    encode: ({ hash, rank, name }) => (rank === undefined ? [hash, name] : [hash, name, rank]),
    decode: (json) => {
      const [hash, name, rank] = readList(json);
      const key = { hash: readText(hash), name: readText(name) };
      return rank === undefined ? key : { ...key, rank: readNumber(rank) };
    },
  },
};

/** A source that makes each task alone. */
export function sourceOf(make: (place: Place) => Made | Promise<Made>): TaskSource {
  return { ...codecs, make: (places) => Promise.all(places.map(async (place) => make(place))) };
}

export function made(hash: string, name = hash): Made {
  return { kind: "task", key: { hash, name } };
}

/** A source whose tasks are named after their place; every instance is different. */
export const freshTasks: TaskSource = sourceOf(({ arm: { id }, ordinal, seed }) =>
  made(hashKey(seed).slice(0, 16), `${id}:${ordinal}:${seed}`),
);

export function arm(id: string, more: Partial<Arm> = {}): Arm {
  const range = { min: 0, max: 1 };
  return {
    id,
    spec: { id },
    source: "synthetic",
    weight: 1,
    hard: false,
    rewardRange: range,
    resource: undefined,
    removed: false,
    ...more,
  };
}

export function banditPolicy(more: Partial<BanditConfig> = {}, constraints = noConstraints): Policy {
  const config: BanditConfig = {
    rule: "EMA_SOFTMAX",
    signal: "ABSOLUTE_ADVANTAGE",
    alpha: 0.15,
    tau: 0.25,
    epsilon: 0.1,
    exp3Rate: 0.1,
    exp3Share: 0.01,
    discount: 0.95,
    exploration: 0.5,
    progressFastRate: 0.3,
    progressSlowRate: 0.05,
    rescale: undefined,
    ...more,
  };
  return { kind: "bandit", config, constraints };
}

export function mixturePolicy(constraints: Constraints = noConstraints): Policy {
  return { kind: "mixture", config: null, constraints };
}

export function stage(extent: Stage["extent"], weights: Stage["weights"] = {}, ranks?: Stage["ranks"]): Stage {
  return { extent, weights, ranks };
}

/** Easy, medium and hard, on the run's ADSC arms. */
const cycle: readonly Stage[] = [
  stage({ kind: "share", share: 0.5 }, { "real/T0": 1, "synthetic/T0": 1, "real/T2": 0.5 }),
  stage({ kind: "open" }, { "real/T1": 1, "real/T2": 1 }),
  stage({ kind: "open" }, { "synthetic/T3": 1, "real/T3": 2 }),
];

export function replayPolicy(more: Partial<ReplayConfig> = {}): Policy {
  const config: ReplayConfig = { stages: cycle, cycle: { kind: "cycles", cycles: 3 }, instances: "FRESH", ...more };
  return { kind: "replay", config, constraints: noConstraints };
}

export function competencePolicy(more: Partial<CompetenceConfig> = {}): Policy {
  const config: CompetenceConfig = {
    tiers: [{ "real/T0": 1, "synthetic/T0": 1, "real/T2": 0.1 }, { "real/T1": 1 }, { "real/T2": 1 }, { "real/T3": 3 }],
    step: "WIDEN",
    threshold: 0.6,
    window: 4,
    floor: 0,
    newestShare: undefined,
    ...more,
  };
  return { kind: "competence", config, constraints: noConstraints };
}

export function frontierPolicy(more: Partial<FrontierConfig> = {}): Policy {
  const config: FrontierConfig = {
    measure: "QUALITY",
    armMeasures: {},
    exploration: 0.1,
    practiceScale: "auto",
    ...more,
  };
  return { kind: "frontier", config, constraints: noConstraints };
}

export function forgettingPolicy(more: Partial<ForgettingConfig> = {}): Policy {
  const config: ForgettingConfig = {
    domains: [
      { name: "math", weights: { "real/T0": 1, "real/T2": 1 }, share: undefined },
      { name: "code", weights: { "real/T1": 1, "real/T3": 2 }, share: 0.5 },
      { name: "writing", weights: { "synthetic/T0": 1, "real/T2": 1 }, share: undefined },
    ],
    transfers: [
      { trained: "math", changes: { code: -0.25, writing: -0.5 } },
      { trained: "code", changes: { math: -0.5, writing: 0, code: 0.9 } },
    ],
    reversed: false,
    ...more,
  };
  return { kind: "forgetting", config, constraints: noConstraints };
}

export function stagedPolicy(...stages: readonly Stage[]): Policy {
  return { kind: "staged", config: { stages }, constraints: noConstraints };
}

/** ADSC's eight arms: real and synthetic, T0 to T3. T2 and T3 are hard. */
export const adscArms: readonly Arm[] = (["real", "synthetic"] as const).flatMap((source) =>
  ["T0", "T1", "T2", "T3"].map((tier, i) => arm(`${source}/${tier}`, { source, hard: i >= 2 })),
);

export const adscConstraints = Object.freeze({
  realShareMin: 0.3,
  syntheticShareMax: 0.5,
  hardShareMin: 0.1,
  hardWarmupBatches: 2,
});

export function runConfig(more: Partial<RunConfig> = {}): RunConfig {
  return {
    arms: [arm("a"), arm("b"), arm("c")],
    policy: banditPolicy(),
    seed: 7n,
    numGenerations: 4,
    length: 0,
    promptsPerUpdate: 6,
    lag: { kind: "batches", count: 1 },
    dynamicSampling: undefined,
    lateFeedback: undefined,
    promptTemplate: undefined,
    evaluationArms: [],
    feedbackSource: "step",
    groupTimeoutMs: undefined,
    timeToLiveMs: 1e9,
    given: "",
    ...more,
  };
}

export interface Bench {
  readonly runs: Runs;
  readonly store: Store;
  readonly clock: FakeClock;
}

export function bench(
  more: {
    source?: TaskSource;
    store?: Store;
    clock?: FakeClock;
    newIncarnation?: () => string;
    aheadMax?: number;
    log?: Log;
  } = {},
): Bench {
  const { source = freshTasks, clock = fakeClock(), newIncarnation = incarnations() } = more;
  const { store = memoryStore(clock.wallNow) } = more;
  const { aheadMax = 0, log } = more;
  const ports = { store, source, clock, newIncarnation, aheadMax, ...(log && { log }) };
  return { runs: createRuns(ports), store, clock };
}

/** Writes a run without checks, as an older server did that refused fewer configurations. */
export async function writeRun({ store, clock }: Bench, runId: string, config: RunConfig): Promise<void> {
  const atMs = clock.now();
  const created = { kind: "created", runId, incarnation: "i0", config, atMs } as const;
  const { state, events, records } = encodeChange(undefined, { events: [created] }, freshTasks, atMs);
  await store.create({ id: runId, timeToLiveMs: 1e9, events, records, summary: encodeSummary(state, undefined) });
}

/** Returns a state in the form of exports and snapshots. */
export function savedState(state: RunState<Spec, Key>, by: Pick<TaskSource, "specs" | "keys">): Buffer {
  return Buffer.concat([...encodeState(state, by)]);
}

/** Returns the kind of a journal's event. */
export function kindOf(event: Uint8Array): Message["kind"]["case"] {
  return readEvent(event).kind.case;
}

/** An event that says nothing of a state, as a journal has it. */
export function eventBytes(event: RunEvent<Spec, Key>): Uint8Array {
  return encodeEvent(event, {} as RunState<Spec, Key>, codecs);
}

/** Returns incarnation names in order; servers that share no store have different names. */
export function incarnations(server = "i"): () => string {
  let count = 0;
  return () => `${server}${count++}`;
}

/** The value of a result that must be ok. */
export function value<T>(result: Result<T>): T {
  if (result.kind !== "ok") throw new Error(`refused: ${JSON.stringify(result)}`);
  return result.value;
}

/** Asks once, without waiting. */
export function ask(
  runs: Runs,
  runId: string,
  cursor?: number,
  count: number | undefined = 4096,
): Promise<Result<NextBatch<Spec, Key>>> {
  const { signal } = new AbortController();
  return runs.nextBatch(runId, { cursor, count, waitMs: 0, signal });
}

/** A reward that depends on the task, and on how much has been learned: later tasks are solved more often. */
export function rewardOf(task: Task, sample: number): number {
  const chance = Number.parseInt(hashKey(task.key.hash, sample).slice(0, 8), 16) / 2 ** 32;
  return chance < 0.2 + 0.2 * task.arm + task.cursor / 1000 ? 1 : chance < 0.8 ? 0.1 : 0;
}

export function feedbackFor(task: Task, sample: number, reward = rewardOf(task, sample)): FeedbackItem {
  const { incarnation, cursor } = task;
  const result = { kind: "reward", reward, solved: reward === 1 } as const;
  return { incarnation, cursor, sample, digest: `completion ${sample}`, result };
}

/** Returns the feedback of all samples of the tasks, in order. */
export function feedbackOf(tasks: readonly Task[], numGenerations: number): FeedbackItem[] {
  return tasks.flatMap((task) => Array.from({ length: numGenerations }, (_, sample) => feedbackFor(task, sample)));
}

/** Gives rewards in full for some tasks. */
export async function answer(runs: Runs, runId: string, tasks: readonly Task[]): Promise<void> {
  const { config } = value(await runs.get(runId));
  value(await runs.recordFeedback(runId, feedbackOf(tasks, config.numGenerations)));
}

/**
 * The part of a training that must not depend on scheduling: tasks, and each batch's probabilities, values and means.
 */
export interface Trace {
  readonly tasks: readonly Task[];
  readonly batches: readonly BatchRecord[];
}

export async function batchesOf(runs: Runs, runId: string): Promise<readonly BatchRecord[]> {
  const { items } = value(await runs.history(runId, 0, 10_000));
  // The position among other records, such as those of evaluations, does not matter to training.
  return items.filter((record) => record.kind === "batch").map((record) => ({ ...record, seq: 0, isSettled: true }));
}

/** An undisturbed trainer: asks for an update batch, answers it, and goes on, for some batches from a cursor on. */
export async function train(runs: Runs, runId: string, batches: number, from = 0): Promise<Trace> {
  const { config } = value(await runs.get(runId));
  const tasks: Task[] = [];
  let cursor = from;
  for (let i = 0; i < batches; i++) {
    const batch = value(await ask(runs, runId, cursor, config.promptsPerUpdate));
    await answer(runs, runId, batch.tasks);
    tasks.push(...batch.tasks);
    cursor = batch.nextCursor;
  }
  return { tasks, batches: await batchesOf(runs, runId) };
}
