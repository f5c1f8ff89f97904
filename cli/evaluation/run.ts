/** Runs a model over the missing samples of an evaluation, with a bounded number of completions at a time. */
import { setTimeout as delay } from "node:timers/promises";
import type { EvaluationHandle, Outcome, Task } from "../../clients/ts/src/public.ts";
import { windowed } from "../../clients/ts/src/windowed.ts";
import { CliProblem } from "../problem.ts";
import type { Model } from "./endpoint.ts";
import type { Written } from "./reply.ts";

/** Result of one sample, scored or failed. */
export type Step =
  { readonly kind: "scored"; readonly outcome: Outcome } | { readonly kind: "failed"; readonly message: string };

export interface RunOptions {
  readonly evaluation: EvaluationHandle;
  readonly model: Model;
  /** Maximum number of concurrent completions. */
  readonly concurrency: number;
  readonly onStep: (step: Step) => void;
}

/**
 * Number of tasks per call. The number is small, because the server must first make tasks that were never requested.
 */
const PAGE_SIZE = 32;

/** Maximum number of attempts to submit a completion for which the server could give no reward yet. */
const SUBMITS_MAX = 5;

interface PendingSample {
  readonly task: Task;
  readonly sampleIndex: number;
}

async function* wantedOf(evaluation: EvaluationHandle): AsyncGenerator<PendingSample, void, undefined> {
  for await (const { task, sampleIndices } of evaluation.pending({ pageSize: PAGE_SIZE })) {
    if (task === undefined) throw new Error("the server gave a pending task without its task");
    for (const sampleIndex of sampleIndices) yield { task, sampleIndex };
  }
}

/**
 * Completes the missing samples. A failed sample stays missing for a later run. Stops if the endpoint refuses
 * everything, or if as many samples in a row fail as run concurrently (at least 3). Returns the numbers of scored and
 * failed samples, and the last failure.
 */
export async function runEvaluation(options: RunOptions) {
  const { evaluation, model, concurrency, onStep } = options;
  const work = async ({ task, sampleIndex }: PendingSample): Promise<Step> => {
    const completed = await model(task.prompt);
    if (completed.kind === "refused")
      throw new CliProblem("failure", `the endpoint refuses all prompts: ${completed.message}`);
    if (completed.kind === "failed") return completed;
    return submit(evaluation, { task, sampleIndex }, completed);
  };
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

async function submit(
  evaluation: EvaluationHandle,
  wanted: PendingSample,
  { text: completion, finishReason }: Written,
): Promise<Step> {
  for (let tries = 1; ; tries++) {
    const [result] = await evaluation.submit([{ ...wanted, completion, finishReason }]);
    const { outcome, failure, feedback } = result ?? {};
    if (outcome === undefined) return { kind: "failed", message: failure?.message ?? "the server gave no outcome" };
    if (feedback?.status !== "not_recorded") return { kind: "scored", outcome };
    const { detail = "", retryDelayMs = 0 } = outcome.kind === "unscored" ? outcome : {};
    if (tries >= SUBMITS_MAX) return { kind: "failed", message: `no reward: ${detail}` };
    await delay(retryDelayMs);
  }
}
