/**
 * How long a run in the embedded sandbox takes, how many there are in a second, and what they leave behind.
 *
 *   node bench/sandbox/run.ts [--runs 10000] [--at-once 2] [--python python3] [--json]
 */
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import { openEmbedded } from "../../server/outside/sandbox/embedded.ts";
import { findPython } from "../../server/outside/sandbox/python.ts";
import { createProgress } from "../progress.ts";
import { machineText } from "../transport/report.ts";
import { type JobName, jobs, measure, type Measured, traces, type Traces } from "./measure.ts";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    "at-once": { type: "string", default: String(availableParallelism()) },
    python: { type: "string", default: "python3" },
    json: { type: "boolean", default: false },
  },
});

/** Before anything is counted: zygotes start, and memory settles. */
const WARM_UP_RUNS = 200;

const [runs, atOnce] = [Number(options.runs), Number(options["at-once"])];
const python = await findPython(options.python);
if (python.kind === "missing") throw new Error(python.why);
const opened = await openEmbedded({ python: python.path, concurrency: atOnce });
if (opened.kind === "missing") throw new Error(opened.why);
const { sandbox } = opened;

const results: Record<string, { readonly alone: Measured; readonly together: Measured }> = {};
const before: Traces[] = [];
for (const name of Object.keys(jobs) as JobName[]) {
  await measure(sandbox, jobs[name], WARM_UP_RUNS, atOnce);
  before.push(await traces(sandbox));
  const progress = createProgress(name, runs);
  const alone = await measure(sandbox, jobs[name], Math.ceil(runs / 10), 1, () => progress.step());
  const together = await measure(sandbox, jobs[name], runs - Math.ceil(runs / 10), atOnce, () => progress.step());
  progress.stop();
  results[name] = { alone, together };
}
const [first] = before;
const after = await traces(sandbox);
await sandbox.close();
if (first === undefined) throw new Error("there are no jobs");
const left = Object.fromEntries(
  Object.entries(after).map(([name, value]) => [name, value - first[name as keyof Traces]]),
);

if (options.json) console.log(JSON.stringify({ found: sandbox.found, runs, atOnce, results, left }, undefined, 2));
else {
  const { python: version, landlock, namespaces } = sandbox.found;
  console.log(
    `${machineText(cpus(), process.version)}, Python ${version}, Landlock ${landlock}, namespaces ${namespaces}\n`,
  );
  console.log(
    `| job | alone: median, p99 | ${atOnce} at once: median, p99 | runs/s | CPU a run |\n| --- | --- | --- | --- | --- |`,
  );
  for (const [name, { alone, together }] of Object.entries(results))
    console.log(
      `| ${name} | ${ms(alone)} | ${ms(together)} | ${Math.round(together.runsPerSecond)} | ${together.cpuMsPerRun.toFixed(2)} ms |`,
    );
  console.log(`\nafter ${Object.keys(results).length} × ${runs} runs, more than before: ${JSON.stringify(left)}`);
}

function ms({ p50Ms, p99Ms }: Measured): string {
  return `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} ms`;
}
