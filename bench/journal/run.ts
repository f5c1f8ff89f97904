/**
 * How many bytes of journal a run writes for each sample recorded, by kind of event.
 *
 *   node bench/journal/run.ts [--json] [--batches 20]
 *
 * Eight arms of four environments under the bandit, rewards as np environments give them. The settings are 256 prompts
 * with 16 completions and 16 prompts with 4, whose samples come by whole groups, by halves (two ranks), or one by one.
 */
import { create } from "@bufbuild/protobuf";
import { parseArgs } from "node:util";
import { hashKey, type Rng, rngFor } from "../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../server/curriculum/feedback.ts";
import { createRegistry, environments } from "../../envs/registry.ts";
import { readEvent } from "../../server/curriculum/event-codec.ts";
import { createRuns } from "../../server/runs/runs.ts";
import { newIncarnation } from "../../server/runs/incarnation.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import type { IssuedTask } from "../../server/curriculum/batches.ts";
import { RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { runConfigFromWire } from "../../server/rpc/curriculum/run-config.ts";
import { memoryStore } from "../../server/stores/memory.ts";
import { createMaker } from "../../server/tasks/making/make.ts";
import { createRunSource } from "../../server/tasks/making/run-source.ts";
import { createWorkerPool } from "../../server/tasks/making/workers.ts";

const { values: options } = parseArgs({
  options: { json: { type: "boolean", default: false }, batches: { type: "string", default: "20" } },
});

const environmentIds = ["np/tsp", "np/knapsack", "np/clique", "countdown"];
const arms = environmentIds.flatMap((environment) => {
  const levels = environment === "countdown" ? ["T0", "T1"] : ["easy", "medium"];
  return levels.map((level) => ({
    id: `${environment}/${level}`,
    spec: { environment, difficulty: { case: "level", value: level } as const },
  }));
});

interface Setting {
  readonly prompts: number;
  readonly completions: number;
  /** Samples of a group that come together. */
  readonly together: number;
}

const settings: readonly Setting[] = [
  { prompts: 256, completions: 16, together: 16 },
  { prompts: 256, completions: 16, together: 8 },
  { prompts: 256, completions: 16, together: 1 },
  { prompts: 16, completions: 4, together: 4 },
  { prompts: 16, completions: 4, together: 2 },
  { prompts: 16, completions: 4, together: 1 },
];

/** One in ten malformed, one in four infeasible, the others 1 + ratio, of which some are optimal. */
function rewardOf(rng: Rng): FeedbackItem["result"] {
  const chance = rng.float();
  if (chance < 0.1) return { kind: "reward", reward: -2.5, solved: false };
  if (chance < 0.35) return { kind: "reward", reward: -0.5, solved: false };
  const value = rng.int(900, 1300);
  return { kind: "reward", reward: 1 + 900 / value, solved: value === 900 };
}

function itemsOf({ incarnation, cursor }: IssuedTask, first: number, count: number): readonly FeedbackItem[] {
  return Array.from({ length: count }, (_, i) => {
    const sample = first + i;
    const digest = hashKey(cursor, sample).slice(0, 12);
    return { incarnation, cursor, sample, digest, result: rewardOf(rngFor("reward", cursor, sample)) };
  });
}

const workers = createWorkerPool({
  threads: 1,
  queueMax: 4096,
  timeLimitMs: 60_000,
  warmUp: false,
  environmentFiles: [],
  onError: (error) => console.error(error),
});
const source = createRunSource(createMaker({ workers, registry: createRegistry(environments), pools: new Map() }));

async function measure({ prompts, completions, together }: Setting) {
  const store = memoryStore();
  const runs = createRuns({ store, source, clock: systemClock, newIncarnation });
  const wire = create(RunConfigSchema, {
    arms,
    policy: { kind: { case: "bandit", value: {} } },
    seed: 1n,
    numGenerations: completions,
    promptsPerUpdate: prompts,
  });
  const limits = {
    groupsMax: 4096,
    completionsMax: 1024,
    batchSeedsMax: 4096,
    streamWindow: 1,
    messageBytesMax: 64 * 2 ** 20,
  };
  const created = await runs.create(
    "run",
    runConfigFromWire(wire, { registry: createRegistry(environments), pools: new Map(), limits }),
  );
  if (created.kind !== "ok") throw new Error(created.message);
  const { signal } = new AbortController();
  for (let batch = 0; batch < Number(options.batches); batch++) {
    const wanted = { cursor: batch * prompts, count: prompts, waitMs: 60_000, signal };
    const given = await runs.nextBatch("run", wanted);
    if (given.kind !== "ok") throw new Error(given.message);
    for (const task of given.value.tasks) {
      for (let first = 0; first < completions; first += together)
        await runs.recordFeedback("run", itemsOf(task, first, together));
    }
  }
  const events = (await store.read((await store.find("run"))?.key ?? -1, 0)) ?? [];
  runs.close();
  const samples = Number(options.batches) * prompts * completions;
  const byKind = Map.groupBy(events, (event) => readEvent(event).kind.case ?? "");
  const bytes = (of: readonly Uint8Array[]): number => of.reduce((sum, event) => sum + event.length, 0) / samples;
  const perSample = Object.fromEntries([...byKind].map(([kind, of]) => [kind, Number(bytes(of).toFixed(2))]));
  return { prompts, completions, together, samples, bytesPerSample: Number(bytes(events).toFixed(1)), ...perSample };
}

const results = [];
for (const setting of settings) results.push(await measure(setting));
await workers.close();
if (options.json) console.log(JSON.stringify(results, undefined, 2));
else console.table(results);
