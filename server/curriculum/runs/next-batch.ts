/** NextBatch: serves what is drawn, draws what is due, and waits for feedback that is due. */
import { drawReadiness } from "../draw.ts";
import { ok, type Refusal, type Result } from "../results.ts";
import { batchAt, groupAt, incarnationOf, type IssuedTask, type RunState } from "../state.ts";
import type { InstanceKey, RunConfig } from "../types.ts";
import type { Drawing } from "./drawing.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock } from "./ports.ts";
import { changeOf, POLL_MS, unlessAborted } from "./watch.ts";

/** How long to wait before asking again for a batch whose feedback is due. */
const RETRY_DELAY_MS = 1000;

export interface NextBatchRequest {
  /** Undefined: the first task that was never given out. */
  readonly cursor: number | undefined;
  /** At least 1; undefined: the tasks of an update batch. */
  readonly count: number | undefined;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface NextBatch<Spec, Key extends InstanceKey> {
  /** Of the run that the tasks are of: by the time of a second look its id may be another run's. */
  readonly config: RunConfig<Spec>;
  readonly tasks: readonly IssuedTask<Key>[];
  readonly nextCursor: number;
  readonly done: boolean;
  /** The run's epoch now. */
  readonly epoch: number;
}

/** What can be answered now. */
type Step =
  /** Tasks [from, to) can be given. */
  | { readonly kind: "serve"; readonly from: number; readonly to: number; readonly done: boolean }
  /** The next update batch is wanted, and can be drawn. */
  | { readonly kind: "draw" }
  /** The next update batch is wanted, and waits for feedback of this batch. */
  | { readonly kind: "wait"; readonly batch: number }
  | Refusal;

function isKept(state: RunState, from: number, to: number): boolean {
  const size = state.config.promptsPerUpdate;
  for (let cursor = from; cursor < to; cursor += size) if (batchAt(state, cursor) === undefined) return false;
  return to <= from || batchAt(state, to - 1) !== undefined;
}

/** `mayDraw`: whether more can be drawn; else what is drawn must do. */
function nextStep(state: RunState, cursor: number | undefined, count: number, mayDraw: boolean): Step {
  const end = state.config.length === 0 ? Infinity : state.config.length;
  const from = cursor ?? state.handedOut;
  if (from >= end) return { kind: "serve", from: end, to: end, done: true };
  // One update batch, so that ranks can run ahead of each other: what lies between is drawn, and may never be asked for.
  if (from > state.cursor + state.config.promptsPerUpdate) {
    const message = `cursor ${from} is more than one update batch beyond ${state.cursor}, the tasks drawn so far`;
    return { kind: "out_of_range", message };
  }
  const to = Math.min(from + count, end);
  if (to > state.cursor) {
    const readiness = drawReadiness(state);
    if (readiness.kind === "ready" && (mayDraw || state.cursor <= from)) return { kind: "draw" };
    if (state.cursor <= from) {
      if (readiness.kind === "waiting") return { kind: "wait", batch: readiness.batch };
      return { kind: "failed_precondition", message: "the run is paused" };
    }
  }
  const available = Math.min(to, state.cursor);
  if (isKept(state, from, available)) return { kind: "serve", from, to: available, done: available >= end };
  return { kind: "out_of_range", message: `the tasks from cursor ${from} on were closed long ago` };
}

/** The tasks [from, to), as far as they are kept. */
function tasksBetween<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  from: number,
  to: number,
): readonly IssuedTask<Key>[] {
  const incarnation = incarnationOf(state);
  const tasks: IssuedTask<Key>[] = [];
  for (let cursor = from; cursor < to; cursor++) {
    const group = groupAt(state, cursor);
    if (group !== undefined) tasks.push({ ...group.task, incarnation });
  }
  return tasks;
}

interface Looked<Spec, Key extends InstanceKey> {
  readonly kind: "looked";
  readonly step: Step;
  readonly state: RunState<Spec, Key>;
}

/** Looks where the run stands, and marks what is served as given out. */
async function look<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  clock: Clock,
  { cursor, count }: NextBatchRequest,
  mayDraw: boolean,
): Promise<Looked<Spec, Key> | Gone | Refusal> {
  return run.commit((state) => {
    const step = nextStep(state, cursor, count ?? state.config.promptsPerUpdate, mayDraw);
    const through = step.kind === "serve" ? step.to : 0;
    const events = through > state.handedOut ? [{ kind: "handed_out", through, atMs: clock.now() } as const] : [];
    return { events, value: { kind: "looked", step, state } };
  });
}

export async function nextBatch<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  drawing: Drawing,
  clock: Clock,
  request: NextBatchRequest,
): Promise<Result<NextBatch<Spec, Key>> | Gone> {
  const { signal } = request;
  const deadlineMs = clock.now() + request.waitMs;
  let refused: Gone | Refusal | undefined;
  while (!signal.aborted) {
    const looked = await look(run, clock, request, refused === undefined);
    if (looked.kind !== "looked") return looked;
    const { step, state } = looked;
    if (step.kind === "serve") {
      const tasks = tasksBetween(state, step.from, step.to);
      return ok({ config: state.config, tasks, nextCursor: step.to, done: step.done, epoch: state.epoch });
    }
    if (step.kind === "draw") {
      // A draw that is refused must not keep back what is drawn already.
      if (refused !== undefined) return refused;
      const drawn = await unlessAborted(drawing.draw(signal), signal);
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
