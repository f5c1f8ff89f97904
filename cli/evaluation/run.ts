/** Runs a model over what is missing of an evaluation, a bounded number of completions at a time. */
import { setTimeout as delay } from "node:timers/promises";
import type { EvaluationHandle, Outcome, Task } from "../../clients/ts/src/public.ts";
import { windowed } from "../../clients/ts/src/windowed.ts";
import { CliProblem } from "../problem.ts";
import type { Model } from "./endpoint.ts";
import type { Written } from "./reply.ts";

/** What became of one sample. */
export type Step =
  { readonly kind: "scored"; readonly outcome: Outcome } | { readonly kind: "failed"; readonly message: string };

export interface RunOptions {
  readonly evaluation: EvaluationHandle;
  readonly model: Model;
  /** Completions under way at once. */
  readonly concurrency: number;
  readonly onStep: (step: Step) => void;
}

/** Tasks that one call asks for: few, for those that were never asked for must be made first. */
const PAGE_SIZE = 32;

/** Tries to hand in a completion that has no reward yet. */
const SUBMITS_MAX = 5;

interface Wanted {
  readonly task: Task;
  readonly sampleIndex: number;
}

async function* wantedOf(evaluation: EvaluationHandle): AsyncGenerator<Wanted, void, undefined> {
  for await (const { task, sampleIndices } of evaluation.pending({ pageSize: PAGE_SIZE })) {
    if (task === undefined) throw new Error("the server gave a pending task without its task");
    for (const sampleIndex of sampleIndices) yield { task, sampleIndex };
  }
}

/**
 * Completes what is missing. A sample that fails stays missing, for a later run; when as many fail in a row as are
 * under way at once, or the endpoint refuses all, the rest is not tried. Returns how many samples were scored, how many are
 * still missing, and the last reason for that.
 */
export async function runEvaluation(options: RunOptions) {
  const { evaluation, model, concurrency, onStep } = options;
  const work = async ({ task, sampleIndex }: Wanted): Promise<Step> => {
    const completed = await model(task.prompt);
    if (completed.kind === "refused") throw new CliProblem("failure", `the endpoint refuses: ${completed.message}`);
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
      throw new CliProblem("failure", `${inARow} completions in a row failed, the last one so: ${reason}`);
  }
  return { scored, failed, reason };
}

async function submit(
  evaluation: EvaluationHandle,
  wanted: Wanted,
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
