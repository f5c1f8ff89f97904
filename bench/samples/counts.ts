/**
 * Measures the server CPU that counting a kept sample costs (GetViolations), by turns with and without counts. Both
 * keep the samples in SQLite files. The time of the storage threads and of merging rows is included.
 *
 * ```
 * node bench/samples/counts.ts [--pairs 9] [--flushes 192] [--json]
 * ```
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Score } from "../../envs/score.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { createRunCounter, type RunCounter } from "../../server/samples/counted-runs.ts";
import { createSamples, type RunSample } from "../../server/samples/kept-samples.ts";
import { sqliteSampleStore } from "../../server/stores/sqlite.ts";
import { spreadOf } from "../transport/measure.ts";
import { machineText } from "../transport/report.ts";

const { values: options } = parseArgs({
  options: {
    pairs: { type: "string", default: "9" },
    flushes: { type: "string", default: "192" },
    json: { type: "boolean", default: false },
  },
});

/** Loads: samples in half a second, and arms among which their groups are spread. */
const loads = [
  { samples: 48, arms: 8 },
  { samples: 1248, arms: 8 },
  { samples: 1248, arms: 256 },
] as const;
const GROUP = 8;
const COMPLETION = "so we try this one first, because it splits the others best. ".repeat(16);

const violations: readonly ((rng: Rng) => string)[] = [
  (rng) => `city ${rng.int(0, 99)} is visited twice`,
  (rng) => `evaluates to ${rng.int(1, 999)}/${rng.int(2, 9)}, not ${rng.int(1, 999)}`,
  (rng) => `\\frac{${rng.int(1, 99)}}{x+${rng.int(1, 99)}} is not equal to the expected answer`,
  () => "no <answer> tag was found",
];

function sampleOf(rng: Rng, index: number, group: number, arms: number): RunSample {
  const isSolved = rng.int(0, 9) < 3;
  const components = [
    { name: "format", value: rng.int(0, 1), weight: 0.1 },
    { name: "correctness", value: Number(isSolved), weight: 1 },
  ];
  const score: Score = {
    reward: isSolved ? 1 : 0,
    components,
    verdict: isSolved ? "feasible" : "infeasible",
    solved: isSolved,
    objective: undefined,
    baseline: undefined,
    ratio: undefined,
    quality: Number(isSolved),
    violation: isSolved ? "" : rng.pick(violations)(rng),
    terminated: true,
    truncated: false,
    spans: [],
    info: {},
  };
  const place = { taskId: "t".repeat(200), groupId: `g${group}`, index, incarnation: "i", arm: group % arms };
  return { ...place, cursor: group, completion: COMPLETION, result: { kind: "score", score } };
}

const nothing: RunCounter = {
  add: () => undefined,
  flush: async (beside) => void (await beside?.()),
  of: () => Promise.reject(new Error("nothing is counted")),
  forget: () => undefined,
};

/** Keeps samples in a new file, and returns the CPU time of a sample in microseconds. */
async function microsOf(groups: readonly (readonly RunSample[])[], samples: number, counts: boolean): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "gradus-bench-"));
  const store = await sqliteSampleStore({ directory });
  const log = { info: () => undefined, warn: console.error, error: console.error };
  const due = new Set<() => void>();
  const fire = (): void => {
    const [first] = due;
    if (first !== undefined) due.delete(first);
    first?.();
  };
  const clock = {
    now: () => 0,
    setTimer: (delayMs: number, callback: () => void) => {
      if (delayMs <= 1000) due.add(callback);
      return () => due.delete(callback);
    },
    nextTurn: setImmediate,
  };
  const counter = counts ? createRunCounter(store, log) : nothing;
  const kept = createSamples({ store, clock, log, bytesMax: 64 * 1024 ** 2, keptMs: 1e9, counter });
  const before = process.cpuUsage();
  for (const [i, group] of groups.entries()) {
    kept.keep("run", group);
    if ((i + 1) % (samples / GROUP) !== 0) continue;
    // Samples are written every half second, and counts every second.
    do fire();
    while ((i + 1) % ((2 * samples) / GROUP) === 0 && due.size > 0);
    // Waits for the write of the samples that has begun.
    await kept.list("run", { below: 0, limit: 1, test: () => true });
  }
  await kept.close();
  const { user, system } = process.cpuUsage(before);
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  return (user + system) / (groups.length * GROUP);
}

const machine = machineText(cpus(), process.version);
const results = [];
for (const { samples, arms } of loads) {
  const rng = rngFor("bench/samples", String(arms));
  const groups = Array.from({ length: (Number(options.flushes) * samples) / GROUP }, (_, group) =>
    Array.from({ length: GROUP }, (_, index) => sampleOf(rng, index, group, arms)),
  );
  const pairs: { readonly counted: number; readonly plain: number }[] = [];
  // The first pair warms up, and does not count.
  for (let pair = -1; pair < Number(options.pairs); pair++) {
    const first = await microsOf(groups, samples, pair % 2 === 0);
    const second = await microsOf(groups, samples, pair % 2 !== 0);
    const [counted, plain] = pair % 2 === 0 ? [first, second] : [second, first];
    if (pair >= 0) pairs.push({ counted, plain });
  }
  const [micros, plain] = [pairs.map((pair) => pair.counted - pair.plain), pairs.map((pair) => pair.plain)];
  results.push({ samplesPerSecond: 2 * samples, arms, micros: spreadOf(micros), plainMicros: spreadOf(plain).median });
}
if (options.json) console.log(JSON.stringify({ machine, results }, undefined, 2));
else {
  console.log(machine);
  for (const { samplesPerSecond, arms, micros, plainMicros } of results)
    console.log(
      `${samplesPerSecond} samples/s, ${arms} arms: counting costs ${micros.median.toFixed(2)} µs a sample (quartiles ${micros.lowerQuartile.toFixed(2)} to ${micros.upperQuartile.toFixed(2)}), keeping ${plainMicros.toFixed(1)} µs`,
    );
}
