/** Implements NextBatch: returns drawn tasks, draws the next update batch, or waits for feedback that is due. */
import { toJson } from "@bufbuild/protobuf";
import { timestampFromMs, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { drawReadiness } from "../curriculum/draw.ts";
import type { HandedOut } from "../curriculum/events.ts";
import { type Batch, batchEnd, type Group, type IssuedTask } from "../curriculum/batches.ts";
import { batchAt, isDrawn, issuedTask, type RunState } from "../curriculum/state.ts";
import {
  type Arm,
  type InstanceKey,
  ok,
  type Refusal,
  type Result,
  type RunConfig,
  slotsFor,
} from "../curriculum/types.ts";
import type { Drawing } from "./drawing.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import type { Ports } from "./dependencies.ts";
import { whenever } from "./watch.ts";

/** Delay, in milliseconds, after which the caller may ask again, if the next update batch waits for feedback. */
const RETRY_DELAY_MS = 1000;

export interface NextBatchRequest {
  /** Cursor of the first task to return. Undefined: the first task that was never handed out. */
  readonly cursor: number | undefined;
  /** Number of tasks, at least 1. Undefined: the run's number of prompts per update batch. */
  readonly count: number | undefined;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface NextBatch<Spec, Key extends InstanceKey> {
  /**
   * Configuration of the run to which the tasks belong. It is returned with them, because another run may have the same
   * id later.
   */
  readonly config: RunConfig<Spec>;
  readonly tasks: readonly IssuedTask<Key>[];
  readonly nextCursor: number;
  readonly done: boolean;
  /** Current epoch of the run. */
  readonly epoch: number;
}

/** Next step of a call of NextBatch, by the run's present state. */
type Step<Key extends InstanceKey> =
  /** The call can return tasks: those with cursors from `from` to `to` − 1. */
  | {
      readonly kind: "serve";
      readonly groups: readonly Group<Key>[];
      readonly from: number;
      readonly to: number;
      readonly done: boolean;
    }
  /** More tasks are needed, and the next update batch can be drawn. */
  | { readonly kind: "draw" }
  /** More tasks are needed, but the next update batch waits for feedback of the batch `batch`. */
  | { readonly kind: "wait"; readonly batch: number }
  /** More tasks are needed, but the run is paused. */
  | { readonly kind: "paused" }
  | Refusal;

/**
 * Returns the cursor (position in the run) of the first task that was never handed out. If all were, it is the cursor
 * of the next update batch's first task.
 */
function firstUnissued({ config, batches, handedOut, cursor }: RunState): number {
  if (config.dynamicSampling === undefined) return handedOut;
  // A group that is closed although no client got its task was closed by force, so its task is skipped.
  for (const { groups } of batches) {
    const found = groups.find(({ kind, handedOutAtMs }) => kind === "open" && handedOutAtMs === null);
    if (found !== undefined) return found.task.cursor;
  }
  return cursor;
}

/**
 * Returns the index of the first batch that has both open groups and spare (reserve) tasks. Such tasks may still become
 * groups.
 */
function withReserve({ batches }: RunState): number | undefined {
  return batches.find(({ open, reserve }) => open > 0 && reserve.length > 0)?.index;
}

/**
 * Returns whether this server can serve a task: it still has the task's data row, if there is one, and the same source
 * files of the task's environment.
 */
type IsThere<Spec, Key extends InstanceKey> = (key: Key, spec: Spec) => boolean;

/** Tasks that NextBatch can return now, from a cursor on. */
interface Available<Key extends InstanceKey> {
  readonly groups: readonly Group<Key>[];
  /**
   * Number of the requested tasks that this result covers. With a cursor in the request, it includes tasks that are
   * left out.
   */
  readonly counted: number;
  /** Cursor at which the caller should continue. */
  readonly next: number;
  /**
   * Index of the batch whose spare (reserve) tasks begin at `next` and may be released when more groups of the batch
   * close. Undefined: there is none.
   */
  readonly pending: number | undefined;
  /** Whether the batch at `next` was closed long ago and dropped. */
  readonly forgotten: boolean;
  /** Whether the task at `next` was already handed out to another caller. */
  readonly taken: boolean;
}

/**
 * Returns at most `count` drawn tasks to hand out, from a cursor on. It leaves out spare (reserve) tasks that were
 * skipped, and tasks that this server cannot serve.
 *
 * If `fresh`, the caller gave no cursor, and the result ends before the first task that was already handed out. The
 * result may be short, because released spare tasks can lie just before tasks that other callers have. With a cursor,
 * tasks that are left out count towards `count`, because other callers ask for the tasks after them.
 */
function available<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  from: number,
  count: number,
  { fresh, isThere }: { readonly fresh: boolean; readonly isThere: IsThere<Spec, Key> },
): Available<Key> {
  const specOf = ({ arm }: Group<Key>["task"]): Spec => (state.config.arms[arm] as Arm<Spec>).spec;
  const groups: Group<Key>[] = [];
  let counted = 0;
  let next = from;
  while (next < state.cursor && counted < count) {
    const batch = batchAt(state, next);
    if (batch === undefined) return { groups, counted, next, pending: undefined, forgotten: true, taken: false };
    const place = next - batch.cursor;
    const wanted = batch.groups.slice(place, place + count - counted);
    const given = fresh ? wanted.findIndex(({ handedOutAtMs }) => handedOutAtMs !== null) : -1;
    const all = given < 0 ? wanted : wanted.slice(0, given);
    const there = all.filter(({ kind, task }) => kind === "open" || isThere(task.key, specOf(task)));
    groups.push(...there);
    counted += fresh ? there.length : all.length;
    next = batch.cursor + place + (given < 0 ? wanted.length : given);
    if (given >= 0) return { groups, counted, next, pending: undefined, forgotten: false, taken: true };
    if (next < batch.cursor + batch.groups.length || batch.reserve.length === 0) continue;
    if (batch.open > 0) return { groups, counted, next, pending: batch.index, forgotten: false, taken: false };
    next = batchEnd(batch);
  }
  return { groups, counted, next, pending: undefined, forgotten: false, taken: false };
}

/**
 * Returns the next step of a call of NextBatch. If `mayDraw` is false, the step is a draw only if no drawn task is left
 * to return.
 */
function nextStep<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  cursor: number | undefined,
  count: number,
  mayDraw: boolean,
  isThere: IsThere<Spec, Key>,
): Step<Key> {
  const from = cursor ?? firstUnissued(state);
  const end = isDrawn(state);
  if (end && from >= state.cursor) {
    const batch = cursor === undefined ? withReserve(state) : undefined;
    if (batch !== undefined) return { kind: "wait", batch };
    return { kind: "serve", groups: [], from: state.cursor, to: state.cursor, done: true };
  }
  // The cursors of two callers may be up to one update batch apart. The tasks between them are drawn even if no caller
  // asks for these tasks.
  const { promptsPerUpdate, dynamicSampling } = state.config;
  if (from > state.cursor + slotsFor(promptsPerUpdate, dynamicSampling)) {
    const message = `cursor ${from} is more than one update batch beyond the ${state.cursor} tasks drawn so far: use a cursor of at most ${state.cursor + slotsFor(promptsPerUpdate, dynamicSampling)}`;
    return { kind: "out_of_range", message };
  }
  const fresh = cursor === undefined;
  const { groups, counted, next, pending, forgotten, taken } = available(state, from, count, { fresh, isThere });
  if (forgotten)
    return {
      kind: "out_of_range",
      message: `the task at cursor ${from} was closed long ago and the run no longer keeps it: leave the cursor out to go on`,
    };
  if (pending !== undefined && counted === 0) return { kind: "wait", batch: pending };
  if (pending === undefined && !taken && counted < count) {
    const readiness = drawReadiness(state);
    const nothing = counted === 0;
    if (readiness.kind === "ready" && (mayDraw || nothing)) return { kind: "draw" };
    if (nothing && readiness.kind === "waiting") return { kind: "wait", batch: readiness.batch };
    if (nothing && readiness.kind === "paused") return readiness;
  }
  return { kind: "serve", groups, from, to: next, done: end && next >= state.cursor };
}

interface Looked<Spec, Key extends InstanceKey> {
  readonly kind: "looked";
  readonly step: Step<Key>;
  readonly state: RunState<Spec, Key>;
}

/** Returns the event that marks the tasks of a response as handed out. Empty: all of them were handed out before. */
function handingOut<Key extends InstanceKey>(step: Step<Key>, clock: Clock): readonly HandedOut[] {
  if (step.kind !== "serve" || step.groups.every(({ handedOutAtMs }) => handedOutAtMs !== null)) return [];
  return [{ kind: "handedOut", from: step.from, through: step.to, atMs: clock.now() }];
}

export async function nextBatch<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  drawing: Drawing<Spec, Key>,
  { clock, rows }: Pick<Ports<Spec, Key>, "clock" | "rows">,
  request: NextBatchRequest,
): Promise<Result<NextBatch<Spec, Key>> | Gone> {
  const { signal, cursor, waitMs } = request;
  const deadlineMs = clock.now() + waitMs;
  const stepOf = (state: RunState<Spec, Key>, mayDraw: boolean): Step<Key> =>
    nextStep(state, cursor, request.count ?? state.config.promptsPerUpdate, mayDraw, rows?.has ?? (() => true));
  // If the request has a cursor, the draw also marks the tasks as handed out, which saves a wait for the disk. Without
  // a cursor, the marked tasks would be skipped when the tasks to return are looked up. If the caller has disconnected,
  // no task is marked.
  const withDraw = (drawn: RunState<Spec, Key>): readonly HandedOut[] =>
    cursor === undefined || signal.aborted ? [] : handingOut(stepOf(drawn, true), clock);
  let refused: Gone | Refusal | undefined;
  while (!signal.aborted) {
    const mayDraw = refused === undefined;
    const looked = await run.commit<Looked<Spec, Key>>((state) => {
      const step = stepOf(state, mayDraw);
      return { events: handingOut(step, clock), value: { kind: "looked", step, state } };
    });
    if (looked.kind !== "looked") return looked;
    const { step, state } = looked;
    if (step.kind === "serve") {
      const tasks = step.groups.map(({ task }) => issuedTask(state, batchAt(state, task.cursor) as Batch<Key>, task));
      return ok({ config: state.config, tasks, nextCursor: step.to, done: step.done, epoch: state.epoch });
    }
    if (step.kind === "draw") {
      // A draw was refused in an earlier iteration. Since then, the call has looked for tasks that were drawn before,
      // and there are none.
      if (refused !== undefined) return refused;
      const drawn = await drawing.draw(signal, withDraw);
      if (drawn.kind !== "done") refused = drawn;
    } else if (step.kind === "wait" || step.kind === "paused") {
      const leftMs = deadlineMs - clock.now();
      if (leftMs <= 0) return step.kind === "wait" ? notDue(step.batch) : paused(state);
      const isWaiting = ({ kind }: Step<Key>): boolean => kind === "wait" || kind === "paused";
      const waited = await whenever(run, (now) => !isWaiting(stepOf(now, mayDraw)), clock, leftMs, signal);
      if (waited !== "fresh") return waited;
    } else return step;
  }
  return { kind: "cancelled", message: "the caller left before the answer" };
}

function notDue(batch: number): Refusal {
  const message = `the next update batch waits for feedback on update batch ${batch}: score its completions`;
  const wait = { reason: "FEEDBACK_DUE", metadata: { update_batch: String(batch) } } as const;
  return { kind: "unavailable", message, retryDelayMs: RETRY_DELAY_MS, wait };
}

function paused({ runId, pausedBy, pausedAtMs }: RunState): Refusal {
  const since = pausedAtMs === 0 ? "" : toJson(TimestampSchema, timestampFromMs(pausedAtMs));
  const by = pausedBy === "" ? "" : ` by "${pausedBy}"`;
  const message = `run "${runId}" was paused${by}${since && ` at ${since}`}, and draws no update batch until \`gradus run resume ${runId}\``;
  const wait = { reason: "PAUSED", metadata: { paused_by: pausedBy, paused_since: since } } as const;
  return { kind: "unavailable", message, retryDelayMs: RETRY_DELAY_MS, wait };
}
