/** NextBatch: serves what is drawn, draws what is due, and waits for feedback that is due. */
import { groupsBetween, issueStep, type IssueStep } from "../issue.ts";
import { ok, type Refusal, type Result } from "../results.ts";
import { epochAt, epochOf, type RunState } from "../state.ts";
import type { Arm, Json } from "../types.ts";
import type { Drawing } from "./drawing.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock } from "./ports.ts";
import { changeOf, POLL_MS, unlessAborted } from "./waiting.ts";

/** How long to wait before asking again for a batch whose feedback is due. */
const RETRY_DELAY_MS = 1000;

export interface NextBatchRequest {
  /** Undefined: the first task that was never given out. */
  readonly cursor: number | undefined;
  /** At least 1. */
  readonly count: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface IssuedTask {
  readonly cursor: number;
  /** That the task was drawn in: with the cursor it names the group. */
  readonly epoch: number;
  /** Index of the arm in the configuration. */
  readonly armIndex: number;
  readonly arm: Arm;
  readonly hash: string;
  readonly draft: Json;
}

export interface NextBatch {
  readonly tasks: readonly IssuedTask[];
  readonly nextCursor: number;
  readonly done: boolean;
  /** The run's epoch now. */
  readonly epoch: number;
}

export function issuedTasks(state: RunState, from: number, to: number): readonly IssuedTask[] {
  return groupsBetween(state, from, to).map(({ cursor, group }) => ({
    cursor,
    epoch: epochAt(state, cursor),
    armIndex: group.arm,
    arm: state.config.arms[group.arm] as Arm,
    hash: group.hash,
    draft: group.draft,
  }));
}

/** Looks where the run stands, and marks what is served as given out. */
async function look(
  run: LiveRun,
  clock: Clock,
  { cursor, count }: NextBatchRequest,
  mayDraw: boolean,
): Promise<{ readonly kind: "looked"; readonly step: IssueStep; readonly state: RunState } | Gone | Refusal> {
  return run.commit((state) => {
    const step = issueStep(state, cursor, count, mayDraw);
    const through = step.kind === "serve" ? step.to : 0;
    const events = through > state.handedOut ? [{ kind: "handed_out", through, atMs: clock.now() } as const] : [];
    return { events, value: { kind: "looked", step, state } };
  });
}

export async function nextBatch(
  run: LiveRun,
  drawing: Drawing,
  clock: Clock,
  request: NextBatchRequest,
): Promise<Result<NextBatch> | Gone> {
  const { signal } = request;
  const deadlineMs = clock.now() + request.waitMs;
  let refused: Gone | Refusal | undefined;
  while (!signal.aborted) {
    const looked = await look(run, clock, request, refused === undefined);
    if (looked.kind !== "looked") return looked;
    const { step, state } = looked;
    if (step.kind === "serve") {
      const tasks = issuedTasks(state, step.from, step.to);
      return ok({ tasks, nextCursor: step.to, done: step.done, epoch: epochOf(state) });
    }
    if (step.kind === "draw") {
      // A draw that is refused must not keep back what is drawn already.
      if (refused !== undefined) return refused;
      const drawn = await unlessAborted(drawing.draw(), signal);
      if (drawn !== undefined && drawn.kind !== "done") refused = drawn;
    } else if (step.kind === "wait") {
      const leftMs = deadlineMs - clock.now();
      if (leftMs <= 0) return notDue(step.batch);
      if (run.state() === state) await changeOf(run, clock, Math.min(leftMs, POLL_MS), signal);
    } else return step;
  }
  return { kind: "cancelled", message: "the caller went away" };
}

function notDue(batch: number): Refusal {
  const message = `the next update batch waits for feedback of batch ${batch}`;
  return { kind: "unavailable", message, retryDelayMs: RETRY_DELAY_MS };
}
