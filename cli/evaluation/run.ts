/** Runs a model over the missing samples of an evaluation, with a bounded number of completions at a time. */
import type { EvaluationHandle } from "../../clients/ts/src/public.ts";
import { windowed } from "../../clients/ts/src/windowed.ts";
import { CliProblem } from "../problem.ts";
import { type PendingSample, playSample, type PlayOptions, type Step } from "./play-sample.ts";

export interface RunOptions extends PlayOptions {
  /** Maximum number of concurrent completions. */
  readonly concurrency: number;
  readonly onStep: (step: Step) => void;
}

/**
 * Number of tasks that are requested in one call. The number is small, because the reply waits until the server has
 * made all tasks of the call.
 */
const PAGE_SIZE = 32;

async function* wantedOf(evaluation: EvaluationHandle): AsyncGenerator<PendingSample, void, undefined> {
  for await (const { task, sampleIndices } of evaluation.pending({ pageSize: PAGE_SIZE })) {
    if (task === undefined) throw new Error("the server sent a pending sample without its task");
    for (const sampleIndex of sampleIndices) yield { task, sampleIndex };
  }
}

/**
 * Completes the missing samples. A failed sample stays missing, so a repeated command tries it again. Throws an error
 * if the endpoint refuses all prompts, or after max(`concurrency`, 3) failures in a row. Returns the numbers of scored
 * and failed samples, and the last failure.
 */
export async function runEvaluation(options: RunOptions) {
  const { evaluation, concurrency, onStep } = options;
  const work = (sample: PendingSample): Promise<Step> => playSample(options, sample);
  let [scored, failed, inARow, reason] = [0, 0, 0, ""];
  for await (const step of windowed(wantedOf(evaluation), concurrency, work)) {
    onStep(step);
    if (step.kind === "scored") {
      scored++;
      inARow = 0;
      continue;
    }
    failed++;
    inARow++;
    reason = step.message;
    if (inARow >= Math.max(concurrency, 3))
      throw new CliProblem("failure", `${inARow} completions in a row failed; the last failure: ${reason}`);
  }
  return { scored, failed, reason };
}
