/** What the curriculum's tests share: a clock that stands still, a source of tasks, configurations, and trainers. */
import { hashKey } from "../../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import type { BatchRecord } from "../../../server/curriculum/history.ts";
import type { Result } from "../../../server/curriculum/results.ts";
import type { IssuedTask, NextBatch } from "../../../server/curriculum/runs/next-batch.ts";
import type { Clock, TaskSource } from "../../../server/curriculum/runs/ports.ts";
import { createRuns, type Runs } from "../../../server/curriculum/runs/runs.ts";
import { type Arm, type BanditPolicy, noConstraints, type RunConfig } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";

export interface FakeClock extends Clock {
  /** Moves on, and fires the timers that are due, in their order. */
  advance(ms: number): Promise<void>;
}

export function fakeClock(): FakeClock {
  let now = 1_000_000;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    now: () => now,
    setTimer: (delayMs, callback) => {
      const timer = { atMs: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
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

/** Lets everything that can run without the clock run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Tasks named after their seed; every instance is another one. */
export const freshTasks: TaskSource = {
  issue: async (arm, { seed, ordinal }) => ({
    kind: "task",
    hash: hashKey(seed).slice(0, 16),
    draft: { arm: arm.id, ordinal, seed: seed.toString() },
  }),
};

export function arm(id: string, more: Partial<Arm> = {}): Arm {
  return { id, spec: { id }, source: "synthetic", weight: 1, hard: false, rewardRange: { min: 0, max: 1 }, ...more };
}

export function banditPolicy(more: Partial<BanditPolicy> = {}): BanditPolicy {
  const numbers = { alpha: 0.15, tau: 0.25, epsilon: 0.1 };
  return {
    kind: "bandit",
    rule: "ema_softmax",
    signal: "absolute_advantage",
    ...numbers,
    constraints: noConstraints,
    ...more,
  };
}

/** ADSC's eight arms: real and synthetic, T0 to T3, of which T2 and T3 are hard. */
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
    feedbackSource: "step",
    groupTimeoutMs: undefined,
    timeToLiveMs: 1e9,
    extra: null,
    ...more,
  };
}

export interface Bench {
  readonly runs: Runs;
  readonly store: Store;
  readonly clock: FakeClock;
}

export function bench(more: { source?: TaskSource; store?: Store; clock?: FakeClock } = {}): Bench {
  const { source = freshTasks, store = memoryStore(), clock = fakeClock() } = more;
  return { runs: createRuns({ store, source, clock }), store, clock };
}

/** The value of a result that must be ok. */
export function value<T>(result: Result<T>): T {
  if (result.kind !== "ok") throw new Error(`refused: ${JSON.stringify(result)}`);
  return result.value;
}

/** Asks once, without waiting. */
export function ask(runs: Runs, runId: string, cursor?: number, count = 4096): Promise<Result<NextBatch>> {
  const { signal } = new AbortController();
  return runs.nextBatch(runId, { cursor, count, waitMs: 0, signal });
}

/** A reward that depends on the task, and on how much has been learned: later tasks are solved more often. */
export function rewardOf(task: IssuedTask, sample: number): number {
  const chance = Number.parseInt(hashKey(task.hash, sample).slice(0, 8), 16) / 2 ** 32;
  return chance < 0.2 + 0.2 * task.armIndex + task.cursor / 1000 ? 1 : chance < 0.8 ? 0.1 : 0;
}

export function feedbackFor(task: IssuedTask, sample: number, reward = rewardOf(task, sample)): FeedbackItem {
  const { epoch, cursor } = task;
  const result = { kind: "reward", reward, solved: reward === 1 } as const;
  return { epoch, cursor, sample, digest: `completion ${sample}`, result };
}

/** What a group of samples reports, in order. */
export function feedbackOf(tasks: readonly IssuedTask[], numGenerations: number): FeedbackItem[] {
  return tasks.flatMap((task) => Array.from({ length: numGenerations }, (_, sample) => feedbackFor(task, sample)));
}

/** Gives rewards in full for some tasks. */
export async function answer(runs: Runs, runId: string, tasks: readonly IssuedTask[]): Promise<void> {
  const { config } = value(await runs.get(runId));
  value(await runs.recordFeedback(runId, feedbackOf(tasks, config.numGenerations)));
}

/** What must not depend on scheduling: tasks, and for each batch its probabilities, values and means. */
export interface Trace {
  readonly tasks: readonly IssuedTask[];
  readonly batches: readonly BatchRecord[];
}

export async function batchesOf(runs: Runs, runId: string): Promise<readonly BatchRecord[]> {
  const { items } = value(await runs.history(runId, 0, 10_000));
  return items.filter((record) => record.kind === "batch");
}

/** An undisturbed trainer: asks for an update batch, answers it, and goes on, for some batches from a cursor on. */
export async function train(runs: Runs, runId: string, batches: number, from = 0): Promise<Trace> {
  const { config } = value(await runs.get(runId));
  const tasks: IssuedTask[] = [];
  let cursor = from;
  for (let i = 0; i < batches; i++) {
    const batch = value(await ask(runs, runId, cursor, config.promptsPerUpdate));
    await answer(runs, runId, batch.tasks);
    tasks.push(...batch.tasks);
    cursor = batch.nextCursor;
  }
  return { tasks, batches: await batchesOf(runs, runId) };
}
