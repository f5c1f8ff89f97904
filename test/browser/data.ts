/** Fills a server with runs, completions and evaluations for the tests of the page. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GradusClient } from "../../clients/ts/src/index.ts";
import { eventually } from "../support/patience.ts";
import { complete } from "../support/scripted-policy.ts";

const gradus = join(import.meta.dirname, "../../cli/gradus");

/** Creates a run entirely with the command line. */
export async function driveByCommandLine(address: string, folder: string): Promise<void> {
  const file = join(folder, "run.yaml");
  const arm = (id: string, environment: string, level: string) =>
    `  - {id: ${id}, spec: {environment: ${environment}, level: ${level}}}`;
  const arms = [arm("t0", "countdown", "T0"), arm("tsp", "np/tsp", "easy"), arm("clique", "np/clique", "easy")];
  writeFileSync(
    file,
    ["arms:", ...arms, "policy: {frontier: {}}", "num_generations: 4", "prompts_per_update: 8", "length: 96"].join(
      "\n",
    ),
  );
  const args = ["--server", address, "--data-dir", folder, "--run-id", "by-hand", "--no-open"];
  await promisify(execFile)(gradus, ["run", "start", file, ...args, "--chart", join(folder, "chart.svg")]);
}

/** Server flags that make it accept and keep the completions of `hostile`, one of which has a megabyte. */
export const keeping = { keepSamples: "8", maxCompletionBytes: "2097152" };

/** Wrong answers, and right ones in completions with surplus text. */
export const hostile = [
  '<script>window.hostile = "ran"</script><answer>[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]</answer>',
  '<img src="x" onerror="window.hostile = 1"><a href="javascript:window.hostile = 1">here</a>',
  `\u0000\u001b[31m\u202egnihton\u202c ${"long ".repeat(200_000)}`,
  "<think>none</think><answer>{{constructor.constructor('window.hostile = 1')()}}</answer>",
];

/** A run that waits: one group of hostile completions, the others open. One of its arms chooses among its rows. */
export async function driveHostile(client: GradusClient): Promise<void> {
  const run = client.run("hostile");
  await run.create({
    arms: [
      { id: "tsp", environment: "np/tsp", level: "easy", rows: { count: 40 } },
      { id: "t0", environment: "countdown", level: "T0" },
    ],
    policy: { kind: "staged", stages: [{ weights: { tsp: 1 } }, { weights: { t0: 1 } }] },
    numGenerations: 4,
    promptsPerUpdate: 4,
  });
  const { tasks } = await run.nextBatch();
  const [first] = tasks;
  if (first === undefined) throw new Error("the run has no task");
  await client.batchStep([{ task: first, completions: hostile }]);
}

/** Share of a suite's tasks that are answered: one in this many. */
const ANSWERED_OF = 8;

/** Two evaluations of one suite by models that are right now and then, of a part of its tasks. */
export async function evaluate(client: GradusClient): Promise<void> {
  for (const [model, id] of ["left", "right"].entries()) {
    const evaluation = client.evaluation(id);
    await evaluation.create({ suite: "countdown", model: `model ${id}` });
    const pending = await Array.fromAsync(evaluation.pending());
    const asked = pending.flatMap(({ task }, at) => (task !== undefined && at % ANSWERED_OF === 0 ? [task] : []));
    await evaluation.submit(asked.map((task) => ({ task, sampleIndex: 0, completion: complete(task, model) })));
  }
}

/** Waits until a run keeps so many completions: they are written behind their scores. */
export async function untilKept(client: GradusClient, runId: string, count: number): Promise<void> {
  await eventually(async () => {
    const kept = await Array.fromAsync(client.run(runId).samples({ brief: true }));
    if (kept.length < count) throw new Error(`${runId} keeps ${kept.length} of ${count} completions`);
  });
}
