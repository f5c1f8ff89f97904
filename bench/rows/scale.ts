/** A run over a million rows: how long a NextBatch of 256 takes, and how long it takes to read the run back. See README.md. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { rngFor } from "../../envs/lib/rng.ts";
import { ratedEvent } from "../../server/curriculum/row-arms.ts";
import { readText } from "../../server/curriculum/json.ts";
import { noConstraints, type InstanceKey, type RunConfig } from "../../server/curriculum/types.ts";
import type { TaskSource } from "../../server/runs/dependencies.ts";
import { createRuns } from "../../server/runs/runs.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import { sqliteStore } from "../../server/stores/sqlite.ts";

const ROWS = 1_000_000;
const PROMPTS = 256;
const BATCHES = Number(process.argv[2] ?? 100);
const GENERATIONS = 8;
const CHUNK = 65_536;

/** Tasks are names: what a pool's row costs to render is another benchmark's. */
const source: TaskSource<null, InstanceKey> = {
  specs: { encode: () => null, decode: () => null },
  keys: { encode: ({ hash }) => hash, decode: (json) => ({ hash: readText(json) }) },
  make: async (places) => places.map(({ row = 0 }) => ({ kind: "task", key: { hash: String(row) } })),
};

const config: RunConfig<null> = {
  arms: [
    {
      id: "rows",
      spec: null,
      source: "real",
      weight: 1,
      hard: false,
      rewardRange: { min: 0, max: 1 },
      resource: undefined,
      removed: false,
      rows: { rows: ROWS, by: { kind: "learnability", sharpness: 6 }, floor: 0.05, kept: 192, retireAfter: 3 },
    },
  ],
  policy: { kind: "mixture", config: {}, constraints: noConstraints },
  seed: 1n,
  numGenerations: GENERATIONS,
  length: 0,
  promptsPerUpdate: PROMPTS,
  dynamicSampling: undefined,
  lag: { kind: "batches", count: 1 },
  feedbackSource: "step",
  lateFeedback: undefined,
  promptTemplate: undefined,
  evaluationArms: [],
  groupTimeoutMs: undefined,
  timeToLiveMs: 86_400_000,
  given: "",
};

const folder = mkdtempSync(join(tmpdir(), "rows-"));
const open = async () => {
  const store = await sqliteStore({ directory: folder });
  return { store, runs: createRuns({ store, source, clock: systemClock, newIncarnation: () => "bench" }) };
};

const rng = rngFor("scale");
/** Pass rates from a column, as a pool begins with them. */
const rated = Array.from({ length: Math.ceil(ROWS / CHUNK) }, (_, i) => {
  const rates = Array.from({ length: Math.min(CHUNK, ROWS - i * CHUNK) }, () => rng.float());
  return ratedEvent({ arm: 0, rows: [], first: i * CHUNK, rates, samples: 8 });
});

const { store, runs } = await open();
const created = await runs.create("run", config, rated);
if (created.kind !== "ok") throw new Error(JSON.stringify(created));
const { signal } = new AbortController();
const took: number[] = [];
/** CPU of the whole process: what a machine with others on it still tells. */
const used: number[] = [];
const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};
for (let batch = 0; batch < BATCHES; batch++) {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const given = await runs.nextBatch("run", { cursor: batch * PROMPTS, count: PROMPTS, waitMs: 60_000, signal });
  took.push(performance.now() - begun);
  used.push(cpuMs(cpu));
  if (given.kind !== "ok") throw new Error(given.message);
  const items = given.value.tasks.flatMap(({ incarnation, cursor, row = 0 }) =>
    Array.from({ length: GENERATIONS }, (_, sample) => {
      const solved = rng.float() < (row % 97) / 97;
      const result = { kind: "reward", reward: Number(solved), solved } as const;
      return { incarnation, cursor, sample, digest: "000000000000", result };
    }),
  );
  const told = await runs.recordFeedback("run", items);
  if (told.kind !== "ok") throw new Error(told.message);
}
runs.close();
await store.close();

const [begun, cpu] = [performance.now(), process.cpuUsage()];
const again = await open();
const found = await again.runs.get("run");
const resumed = performance.now() - begun;
const resumedCpu = cpuMs(cpu);
if (found.kind !== "ok") throw new Error(found.message);
again.runs.close();
await again.store.close();
rmSync(folder, { recursive: true });

const at = (times: readonly number[], share: number): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN).toFixed(1);
};
const told = (times: readonly number[]): string =>
  `median ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms, most ${at(times, 1)} ms`;
console.log(`${ROWS} rows, ${BATCHES} update batches of ${PROMPTS} × ${GENERATIONS}`);
console.log(`NextBatch: ${told(took)}; CPU of the process: ${told(used)}`);
console.log(`opened and read back in ${(resumed / 1000).toFixed(2)} s, ${(resumedCpu / 1000).toFixed(2)} s of CPU`);
