/**
 * Copies the completions of an evaluation, or those that a run keeps, to a file in the form that `readStored` reads. A
 * resumed command needs the copy, because the server may delete a run's oldest completions at any time.
 */
import { appendFileSync } from "node:fs";
import type { GradusClient, Outcome } from "../../clients/ts/src/public.ts";
import { createBar } from "../bar.ts";
import { CliProblem } from "../problem.ts";
import type { StoredRow } from "./rows.ts";

/** Completions that a server keeps. */
export interface Kept {
  readonly kind: "run" | "evaluation";
  readonly id: string;
}

const PAGE = 200;

export async function writeSnapshot(client: GradusClient, { kind, id }: Kept, to: string): Promise<void> {
  const bar = createBar({ done: 0, total: 0, format: "{bar} {value} completions read" });
  // Keep only the newest score of each sample, which comes first. A run for which the trainer reports advantages may
  // have scored a sample more than once.
  const seen = new Set<string>();
  try {
    for await (const row of kind === "run" ? runRows(client, id) : evaluationRows(client, id)) {
      const name = `${row.group_id} ${row.sample_index}`;
      if (!seen.has(name)) appendFileSync(to, `${JSON.stringify(row)}\n`);
      seen.add(name);
      bar.update(1);
    }
  } finally {
    bar.stop();
  }
  if (seen.size > 0) return;
  const remedy = kind === "run" ? "start the server with --keep-samples to keep them" : "complete it by gradus eval";
  throw new CliProblem("failure", `${kind} ${id} has no completions: ${remedy}`);
}

async function* evaluationRows(client: GradusClient, id: string): AsyncGenerator<StoredRow, void, undefined> {
  const evaluation = client.evaluation(id);
  const { samplesPerTask } = await evaluation.get();
  for await (const { task, part, ...sample } of evaluation.samples({ pageSize: PAGE })) {
    const { taskId = "", groupId = "", instanceHash = "" } = task ?? {};
    const name = `${instanceHash}/${sample.sampleIndex}`;
    yield {
      task_id: taskId,
      group_id: groupId,
      num_generations: samplesPerTask,
      arm: part,
      sample: name,
      ...rest(sample),
    };
  }
}

async function* runRows(client: GradusClient, id: string): AsyncGenerator<StoredRow, void, undefined> {
  for await (const { taskId, groupId, armId, number, ...sample } of client.run(id).samples({ pageSize: PAGE }))
    yield { task_id: taskId, group_id: groupId, arm: armId, sample: `#${number}`, ...rest(sample) };
}

interface Sample {
  readonly sampleIndex: number;
  readonly completion: string;
  readonly finishReason?: "length";
  readonly outcome?: Outcome;
}

/** Returns the fields of a stored row that are the same for samples of runs and of evaluations. */
function rest({ sampleIndex, completion, finishReason, outcome }: Sample): StoredRow {
  const { rlooAdvantage, grpoAdvantage } = outcome ?? {};
  const score = outcome?.kind === "scored" ? outcome : undefined;
  return {
    sample_index: sampleIndex,
    completion,
    finish_reason: finishReason,
    reward: score?.reward,
    verdict: score?.verdict,
    solved: score?.solved,
    rloo_advantage: rlooAdvantage,
    grpo_advantage: grpoAdvantage,
  };
}
