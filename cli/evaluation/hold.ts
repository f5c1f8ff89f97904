/** Locks an evaluation, so that only one command at a time completes it. */
import { setTimeout as after } from "node:timers/promises";
import { type EvaluationHandle, GradusError, type Hold } from "../../clients/ts/src/public.ts";
import { CliProblem } from "../problem.ts";

/**
 * Maximum wait for the lock of an evaluation, in milliseconds. The lock of a killed command expires within this time. A
 * command that is still running keeps its lock.
 */
const WAIT_MS = 5_000;
const BETWEEN_MS = 250;

const ALONE: Hold = { lost: new Promise<never>(() => undefined), release: () => undefined };

export async function holdAlone(evaluation: EvaluationHandle, waitMs = WAIT_MS): Promise<Hold> {
  for (let waitedMs = 0; ; waitedMs += BETWEEN_MS) {
    try {
      return await evaluation.hold();
    } catch (error) {
      if (!(error instanceof GradusError)) throw error;
      // Go on without a lock, because servers of earlier versions have none.
      if (error.code === "UNIMPLEMENTED") return ALONE;
      if (error.code !== "FAILED_PRECONDITION") throw error;
      if (waitedMs >= waitMs) throw busy(evaluation.evaluationId);
      await after(BETWEEN_MS);
    }
  }
}

function busy(id: string): CliProblem {
  const remedy = "wait until it ends, or name another evaluation by --evaluation-id";
  return new CliProblem("failure", `another command is completing evaluation ${id}: ${remedy}`);
}
