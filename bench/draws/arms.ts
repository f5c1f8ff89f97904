/**
 * NextBatch of runs with many arms: a family of so many levels of countdown, tasks of which cost next to nothing to make,
 * under the default policy. A trainer answers each update batch at once. What is told: how long NextBatch takes by the
 * clock, what it costs the whole process, and what is written of an update batch.
 *
 *   node bench/draws/arms.ts [--arms 300,1024] [--prompts 256] [--batches 100] [--json]
 */
import { parseArgs } from "node:util";
import { memoryStore } from "../../server/stores/memory.ts";
import {
  arm,
  answer,
  ask,
  bench,
  freshTasks,
  frontierPolicy,
  runConfig,
  value,
} from "../../test/server/curriculum/support.ts";

const { values: options } = parseArgs({
  options: {
    arms: { type: "string", default: "300,1024" },
    prompts: { type: "string", default: "256" },
    batches: { type: "string", default: "100" },
    json: { type: "boolean", default: false },
  },
});
/** The middle, the 99th of a hundred and the greatest. */
function spreadOf(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(10 * (sorted[Math.ceil(share * sorted.length) - 1] ?? 0)) / 10;
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}

/** While the code is still being compiled. */
const WARM_UP = 10;

async function measured(armCount: number, prompts: number, batches: number) {
  const store = memoryStore();
  const { runs } = bench({ store, source: freshTasks, aheadMax: 4096 });
  const arms = Array.from({ length: armCount }, (_, i) => arm(`family/level${i}`));
  const shape = { promptsPerUpdate: prompts, numGenerations: 2, length: 0 };
  value(await runs.create("run", runConfig({ arms, policy: frontierPolicy(), ...shape })));
  const [times, cpu]: [number[], number[]] = [[], []];
  let cursor = 0;
  for (let i = 0; i < batches + WARM_UP; i++) {
    const [from, used] = [performance.now(), process.cpuUsage()];
    const batch = value(await ask(runs, "run", cursor, prompts));
    const { user, system } = process.cpuUsage(used);
    if (i >= WARM_UP) {
      times.push(performance.now() - from);
      cpu.push((user + system) / 1000);
    }
    await answer(runs, "run", batch.tasks);
    cursor = batch.nextCursor;
  }
  const key = (await store.find("run"))?.key ?? -1;
  const records = await store.records(key, 0, batches + WARM_UP);
  const sizes = records.map(({ body }) => body.length);
  return { arms: armCount, ms: spreadOf(times), cpuMs: spreadOf(cpu), recordBytes: spreadOf(sizes) };
}

for (const armCount of options.arms.split(",").map(Number)) {
  const found = await measured(armCount, Number(options.prompts), Number(options.batches));
  console.log(options.json ? JSON.stringify(found) : found);
}
