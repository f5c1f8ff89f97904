/** The services over an environment that asks a resource, for tests: a store in memory, and a clock that stands still. */
import { expect } from "vitest";
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry } from "../../../envs/registry.ts";
import type { CallContext } from "../../../server/base/rpc.ts";
import { createResources } from "../../../server/outside/gate/resources.ts";
import type { ServiceDeps } from "../../../server/rpc/deps.ts";
import { createEnvironmentService } from "../../../server/rpc/environment/handlers.ts";
import { recordItem } from "../../../server/rpc/record-feedback.ts";
import { createRuns } from "../../../server/runs/runs.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { signingKey } from "../../../server/tasks/keyring.ts";
import { createAsyncScorer } from "../../../server/tasks/scoring/async-scorer.ts";
import { createNoRewards } from "../../../server/tasks/scoring/no-rewards.ts";
import { createScorer } from "../../../server/tasks/scoring/scorer.ts";
import type { RunPlace } from "../../../server/tasks/task-id.ts";
import { graded } from "../../support/environments/graded.ts";
import type { Sum } from "../../support/environments/sums.ts";
import { arm, fakeClock, made, mixturePolicy, runConfig, sourceOf } from "../curriculum/support.ts";

export const keyring = [signingKey(Buffer.alloc(32, 1))] as const;
export const sum: Sum = { a: 3, b: 4 };
/** Hash of the instance, in the run and in its tasks' ids. */
export const HASH = "0123456789abcdef";
export const GENERATIONS = 4;

/** The services over one environment and a store in memory. */
export function serve(environment: Environment<Sum, number>) {
  const clock = fakeClock();
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const runs = createRuns({
    store: memoryStore(),
    source: sourceOf(() => made(HASH)),
    clock,
    newIncarnation: () => "i",
  });
  const resources = createResources({ clock, onFailure });
  const shared = { keyring, completionBytesMax: 1000, onFailure };
  const registry = createRegistry([environment, graded]);
  const scorer = createScorer({ ...shared, registry, pools: new Map() });
  const record: Parameters<typeof createAsyncScorer>[0]["record"] = (runId, item) =>
    recordItem({ runs, onFailure }, runId, item);
  const asyncScorer = createAsyncScorer({ ...shared, resources, record });
  const limits = {
    maxGroups: 16,
    maxCompletions: 16,
    maxBatchSeeds: 16,
    maxMessageBytes: 1e6,
    maxCompletionBytes: 1000,
  };
  // A limit of 0 keeps no samples.
  const samples = { bytesMax: 0 };
  const noRewards = createNoRewards();
  const deps = {
    runs,
    scorer,
    asyncScorer,
    samples,
    noRewards,
    onFailure,
    limits,
    streamWindow: 2,
  } as unknown as ServiceDeps;
  const run = async (): Promise<void> => {
    const policy = mixturePolicy();
    await runs.create(
      "r",
      runConfig({ arms: [arm("only")], policy, promptsPerUpdate: 1, numGenerations: GENERATIONS }),
    );
    const signal = new AbortController().signal;
    const batch = await runs.nextBatch("r", { cursor: undefined, count: 1, waitMs: 0, signal });
    expect(batch.kind).toBe("ok");
  };
  return { clock, deps, runs, resources, asyncScorer, run, service: createEnvironmentService(deps) };
}

export function callOf(signal = new AbortController().signal, deadlineMs?: number): CallContext {
  return { peer: "127.0.0.1:1", signal, deadlineMs } as unknown as CallContext;
}

export const place: RunPlace = {
  runId: "r",
  incarnation: "i",
  arm: 0,
  cursor: 0,
  numGenerations: GENERATIONS,
  feedback: true,
};
