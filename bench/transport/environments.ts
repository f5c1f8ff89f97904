/**
 * Graded completions for each environment, through the wire: BatchStep with 16 groups × 16 completions of 4 KB at
 * benchmark level, against the minimal server on the same messages, in pairs.
 *
 *   node bench/transport/environments.ts [--json] [--repetitions 9] [--seconds 1] [--environment np/tsp] [--tasks 256]
 *
 * The server keeps the tasks that it made last, in 8 MB: with --tasks 1024, those of np/tsp and np/bisection are
 * no longer there when their turn comes.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../../clients/ts/src/index.ts";
import type { Environment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { environments } from "../../envs/registry.ts";
import { BatchStepRequestSchema } from "../../proto/gen/gradus/v1/environment_pb.js";
import { completionBytes, shapes } from "./data.ts";
import { measurePairs, warmUpMs } from "./measure.ts";
import { startLoadClient, startMinimal, startOurs } from "./processes.ts";
import { machineText } from "./report.ts";

/** Whether its tasks can be made and answered here; bench/capacity/run.ts has those of rows too. */
function isSolved({ generator, solver }: Environment): boolean {
  return generator !== undefined && solver !== undefined;
}

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    tasks: { type: "string", default: "256" },
    repetitions: { type: "string", default: "9" },
    seconds: { type: "string", default: "1" },
    environment: { type: "string", multiple: true, default: environments.filter(isSolved).map(({ id }) => id) },
  },
});
const taskCount = Number(options.tasks);
const repetitions = Number(options.repetitions);
const durationMs = Number(options.seconds) * 1000;
const { groups, completions } = shapes.batch;

/** The hardest level that may be trained on or measured. */
const levelOf = ({ levels }: Environment) =>
  levels.findLast(({ evaluationOnly }) => evaluationOnly !== true) ?? levels[0];

/** Half the solver's answers, half none; 4 KB each. */
async function messagesFor(environment: Environment, address: string): Promise<readonly Uint8Array[]> {
  const level = levelOf(environment);
  const { generator, solver } = environment;
  if (level === undefined || generator === undefined || solver === undefined) throw new Error(environment.id);
  const client = createClient(address);
  const seeds = Array.from({ length: taskCount }, (_, seed) => BigInt(seed));
  const choice = { environment: environment.id, level: level.name, answerFormat: "think_answer" } as const;
  const tasks = await client.batchReset({ ...choice, seeds });
  client.close();
  const made = tasks.map(({ result }, i) => {
    const issued = makeGenerated(environment, { parameters: level.parameters, seed: BigInt(i), split: "train" });
    if (issued.kind !== "made" || result.case !== "task") throw new Error(`${environment.id}: no task of seed ${i}`);
    const answer = solver.format(solver.solve(issued.instance).answer);
    const { taskId, groupId } = result.value;
    const texts = Array.from({ length: completions }, (_, sampleIndex) => ({
      sampleIndex,
      text: padded(sampleIndex % 2 === 0 ? `</think>\n<answer>${answer}</answer>` : "</think>\nI do not know."),
    }));
    return { taskId, groupId, completions: texts };
  });
  return Array.from({ length: Math.floor(taskCount / groups) }, (_, i) =>
    toBinary(
      BatchStepRequestSchema,
      create(BatchStepRequestSchema, { groups: made.slice(i * groups, (i + 1) * groups) }),
    ),
  );
}

function padded(tail: string): string {
  const thoughts = "we try the nearest first and then exchange two of them, for it may be shorter so. ".repeat(64);
  return `<think>${thoughts.slice(0, Math.max(0, completionBytes - tail.length - 7))}${tail}`;
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const client = startLoadClient();
const ours = await startOurs(folder);
const minimal = await startMinimal(folder);
const rows = [];
try {
  for (const environment of environments.filter(({ id }) => options.environment.includes(id))) {
    console.error(environment.id);
    await client.prepare("batch", await messagesFor(environment, `127.0.0.1:${ours.port}`));
    const plan = { repetitions, durationMs, warmUpMs: rows.length === 0 ? warmUpMs : durationMs };
    const result = await measurePairs("batch", { ours, minimal }, client, plan);
    const perMessage = groups * completions;
    const gradedPerCpuSecond = (perMessage * 1e6) / result.ours.cpuMicrosPerRequest;
    rows.push({ environment: environment.id, gradedPerCpuSecond, ...result });
  }
} finally {
  client.stop();
  await Promise.all([ours.stop(), minimal.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
const machine = machineText(cpus(), process.version);
if (options.json) console.log(JSON.stringify({ machine, rows }, undefined, 2));
else {
  console.log(`${machine}; ${repetitions} pairs\n`);
  console.log(
    "| environment | graded completions per CPU second | throughput, ours ÷ minimal (quartiles) | CPU, ours ÷ minimal |",
  );
  console.log("| --- | --- | --- | --- |");
  for (const { environment, gradedPerCpuSecond, throughputRatio: t, cpuRatio: c } of rows) {
    const spread = `**${t.median.toFixed(2)}** (${t.lowerQuartile.toFixed(2)}–${t.upperQuartile.toFixed(2)})`;
    console.log(`| ${environment} | ${Math.round(gradedPerCpuSecond)} | ${spread} | ${c.median.toFixed(2)} |`);
  }
}
