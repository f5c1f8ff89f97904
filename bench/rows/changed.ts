/**
 * A run over a pool of many rows whose file is reversed, extended and shortened: what it costs that rows keep their
 * identity. See README.md.
 *
 *   node bench/rows/changed.ts [rows]
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { math } from "../../envs/math/index.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { loadPool } from "../../envs/pool.ts";
import { createRegistry } from "../../envs/registry.ts";
import { noConstraints, type RunConfig } from "../../server/curriculum/types.ts";
import { createRuns } from "../../server/runs/runs.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import { createMaker } from "../../server/tasks/making/make.ts";
import { createRunRanks } from "../../server/tasks/making/run-ranks.ts";
import { createRunRows } from "../../server/tasks/making/run-rows.ts";
import { createRunSource } from "../../server/tasks/making/run-source.ts";
import { sqliteStore } from "../../server/stores/sqlite.ts";
import type { TaskSpec } from "../../server/tasks/spec.ts";

const ROWS = Number(process.argv[2] ?? 1_000_000);
const registry = createRegistry([math]);
const folder = mkdtempSync(join(tmpdir(), "changed-"));

const spec: TaskSpec = {
  environment: "math",
  version: math.version,
  level: "all",
  parameters: {},
  split: "train",
  source: "real",
  pool: "bench",
  answerFormat: "boxed",
  thinking: "stripped",
  rewardScheme: "graded",
  rewardParameters: {},
};
const config: RunConfig<TaskSpec> = {
  arms: [
    {
      id: "rows",
      spec,
      source: "real",
      weight: 1,
      hard: false,
      rewardRange: { min: 0, max: 1 },
      resource: undefined,
      removed: false,
      rows: { rows: ROWS, by: { kind: "learnability", sharpness: 6 }, floor: 0.05, kept: 192, retireAfter: 3 },
    },
  ],
  policy: { kind: "mixture", config: null, constraints: noConstraints },
  seed: 1n,
  numGenerations: 8,
  length: 0,
  promptsPerUpdate: 256,
  dynamicSampling: undefined,
  lag: { kind: "unbounded" },
  feedbackSource: "step",
  lateFeedback: undefined,
  promptTemplate: undefined,
  evaluationArms: [],
  groupTimeoutMs: undefined,
  timeToLiveMs: 86_400_000,
  given: "",
};

const lines = Array.from({ length: ROWS }, (_, n) => `{"problem":"What is ${n} + 1?","answer":"${n + 1}"}`);

async function visit(label: string, rows: readonly string[]): Promise<void> {
  const pool = loadPool(math, "bench", rows.join("\n"), [{ from: 0, to: Infinity, split: "train" }]);
  const pools = new Map([["bench", pool]]);
  const store = await sqliteStore({ directory: folder });
  const ranks = createRunRanks(pools);
  const workers = { ready: Promise.resolve(), run: () => Promise.reject(new Error("rows need no worker")) };
  const maker = createMaker({ registry, pools, workers: workers as never });
  globalThis.gc?.();
  const heldBefore = process.memoryUsage().arrayBuffers;
  const runs = createRuns<TaskSpec, TaskKey>({
    store,
    clock: systemClock,
    source: createRunSource(maker, ranks),
    rows: createRunRows({ pools, ranks, loadedAtMs: systemClock.now() }),
    newIncarnation: () => label,
  });
  const begun = performance.now();
  if (label === "created") await runs.create("run", config);
  const found = await runs.get("run");
  if (found.kind !== "ok") throw new Error(JSON.stringify(found));
  const opened = performance.now() - begun;
  globalThis.gc?.();
  const held = process.memoryUsage().arrayBuffers - heldBefore;
  const took: number[] = [];
  for (let batch = 0; batch < 20; batch++) {
    const from = performance.now();
    const given = await runs.nextBatch("run", {
      cursor: undefined,
      count: 256,
      waitMs: 0,
      signal: new AbortController().signal,
    });
    if (given.kind !== "ok") throw new Error(given.message);
    took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  const exported = await runs.export("run");
  if (exported.kind !== "ok") throw new Error(exported.message);
  runs.close();
  await store.close();
  const file = statSync(join(folder, "runs.sqlite"), { throwIfNoEntry: false })?.size ?? 0;
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(
    `${label}: opened in ${opened.toFixed(0)} ms, ${mb(held)} of arrays; NextBatch of 256 median ${took[10]?.toFixed(1)} ms; the runs' file has ${mb(file)}, an export ${mb(exported.value.state.length)}`,
  );
}

await visit("created", lines);
await visit("same", lines);
await visit("reversed", lines.toReversed());
await visit("shortened", lines.slice(ROWS / 100));
await visit("extended", [...lines, `{"problem":"What is 1 + 2 + 3?","answer":"6"}`]);
rmSync(folder, { recursive: true });
