/** Makes a store with many runs quickly: one long run and one short are trained, and the others are copies of them. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { RunEventSchema, SavedRunSchema } from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { create } from "@bufbuild/protobuf";
import type { TaskKey } from "../../envs/origin.ts";
import { hashKey } from "../../envs/lib/rng.ts";
import { createRegistry, environments } from "../../envs/registry.ts";
import type { TaskSource } from "../../server/runs/dependencies.ts";
import { createRuns, type Runs } from "../../server/runs/runs.ts";
import { newIncarnation } from "../../server/runs/incarnation.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import { RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { runConfigFromWire } from "../../server/rpc/curriculum/run-config.ts";
import { sqliteStore } from "../../server/stores/sqlite.ts";
import type { Store } from "../../server/stores/store.ts";
import { createMaker } from "../../server/tasks/making/make.ts";
import { createRunSource } from "../../server/tasks/making/run-source.ts";
import type { TaskSpec } from "../../server/tasks/spec.ts";
import { createWorkerPool } from "../../server/tasks/making/workers.ts";

export interface StoreSize {
  readonly longRuns: number;
  readonly shortRuns: number;
  /** Of each long run. */
  readonly batches: number;
}

const PROMPTS = 16;
const COMPLETIONS = 4;

const registry = createRegistry(environments);
const limits = {
  groupsMax: 4096,
  completionsMax: 1024,
  batchSeedsMax: 4096,
  streamWindow: 1,
  messageBytesMax: 64 * 2 ** 20,
};
const levels = ["T0", "T1", "T2", "T3"];
const config = runConfigFromWire(
  create(RunConfigSchema, {
    arms: levels.map((level) => ({
      id: level,
      spec: { environment: "countdown", difficulty: { case: "level", value: level } as const },
    })),
    policy: { kind: { case: "bandit", value: {} } },
    seed: 1n,
    numGenerations: COMPLETIONS,
    promptsPerUpdate: PROMPTS,
  }),
  { registry, pools: new Map(), limits },
);

/** Tasks that nobody draws: of a run that is only kept, listed and deleted. */
function keysOnly(source: TaskSource<TaskSpec, TaskKey>): TaskSource<TaskSpec, TaskKey> {
  const make: typeof source.make = async (places) =>
    places.map(({ arm: { spec }, seed }) => {
      if (spec.source === "real") throw new Error("the arms here are not of rows");
      const origin = { kind: "generated", parameters: spec.parameters, seed, attempt: 0 } as const;
      return { kind: "task", key: { origin, hash: hashKey(seed).slice(0, 16) } };
    });
  return { ...source, make };
}

async function train(runs: Runs<TaskSpec, TaskKey>, runId: string, batches: number): Promise<void> {
  const { signal } = new AbortController();
  const created = await runs.create(runId, config);
  if (created.kind !== "ok") throw new Error(created.message);
  for (let batch = 0; batch < batches; batch++) {
    const wanted = { cursor: batch * PROMPTS, count: PROMPTS, waitMs: 60_000, signal };
    const given = await runs.nextBatch(runId, wanted);
    if (given.kind !== "ok") throw new Error(given.message);
    const items = given.value.tasks.flatMap(({ incarnation, cursor }) =>
      Array.from({ length: COMPLETIONS }, (_, sample) => {
        const result = { kind: "reward", reward: (cursor + sample) % 3 === 0 ? 1 : 0.1, solved: false } as const;
        return { incarnation, cursor, sample, digest: hashKey(cursor, sample).slice(0, 12), result };
      }),
    );
    const recorded = await runs.recordFeedback(runId, items);
    if (recorded.kind !== "ok") throw new Error(recorded.message);
  }
}

function renamedEvent(event: Uint8Array, runId: string): Uint8Array {
  const message = fromBinary(RunEventSchema, event);
  if (message.kind.case === "created") message.kind.value.runId = runId;
  return toBinary(RunEventSchema, message);
}

function renamedState(state: Uint8Array, runId: string): Uint8Array {
  const message = fromBinary(SavedRunSchema, state);
  for (const { part } of message.parts) if (part.case === "head") part.value.runId = runId;
  return toBinary(SavedRunSchema, message);
}

/** Writes runs `${from}-1` and on as `${from}-0` is, under their own names. */
async function copy(store: Store, from: string, copies: number): Promise<void> {
  const { runs } = await store.list("", 10);
  const { key = -1, summary = { head: "", state: "" } } = runs.find(({ id }) => id === `${from}-0`) ?? {};
  const timeToLiveMs = Number.MAX_SAFE_INTEGER / 2;
  const events = (await store.read(key, 0)) ?? [];
  const records = await store.records(key, 0, Number.MAX_SAFE_INTEGER);
  const snapshot = await store.snapshot(key);
  for (let i = 1; i <= copies; i++) {
    const id = `${from}-${i}`;
    const [first = new Uint8Array(), ...others] = events;
    const head = summary.head.replaceAll(`"${from}-0"`, `"${id}"`);
    await store.create({
      id,
      timeToLiveMs,
      events: [renamedEvent(first, id), ...others],
      records,
      summary: { ...summary, head },
    });
    const made = await store.find(id);
    if (made && snapshot) await store.saveSnapshot(made.key, { ...snapshot, body: renamedState(snapshot.body, id) });
  }
}

/** Samples of an update batch. */
export const BATCH_SAMPLES = PROMPTS * COMPLETIONS;

/** Trains runs in a store: of each its name and how many update batches. */
export async function trainRuns(store: Store, wanted: readonly (readonly [string, number])[]): Promise<void> {
  const workers = createWorkerPool({
    threads: 1,
    queueMax: 1,
    timeLimitMs: 60_000,
    warmUp: false,
    environmentFiles: [],
    onError: (error) => console.error(error),
  });
  const source = keysOnly(createRunSource(createMaker({ workers, registry, pools: new Map() })));
  const runs = createRuns({ store, source, clock: systemClock, newIncarnation });
  for (const [runId, batches] of wanted) await train(runs, runId, batches);
  runs.close();
  await workers.close();
}

export async function makeStore(directory: string, { longRuns, shortRuns, batches }: StoreSize): Promise<void> {
  const store = await sqliteStore({ directory });
  await trainRuns(store, [
    ["long-0", batches],
    ["short-0", 3],
  ]);
  await copy(store, "long", longRuns - 1);
  await copy(store, "short", shortRuns - 1);
  await store.close();
}
