/** NextBatch: serves what is drawn, draws what is due, and waits for feedback that is due. */
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
type Step<Key extends InstanceKey> =
  /** These tasks of [from, to) can be given. */
  | {
      readonly kind: "serve";
      readonly groups: readonly Group<Key>[];
      readonly from: number;
      readonly to: number;
      readonly done: boolean;
    }
  /** The next update batch is wanted, and can be drawn. */
  | { readonly kind: "draw" }
  /** The next update batch is wanted, and waits for feedback of this batch. */
  | { readonly kind: "wait"; readonly batch: number }
  /** The next update batch is wanted, and waits for Resume. */
  | { readonly kind: "paused" }
  | Refusal;

/** The first task that was never given out; else the next update batch. */
function firstUnissued({ config, batches, handedOut, cursor }: RunState): number {
  if (config.dynamicSampling === undefined) return handedOut;
  // A task that was not given out has an open group, or one that was closed by force.
  for (const { groups } of batches) {
    const found = groups.find(({ kind, handedOutAtMs }) => kind === "open" && handedOutAtMs === null);
    if (found !== undefined) return found.task.cursor;
  }
  return cursor;
}

/** The first batch of which more tasks may be given out, as its groups prove useless. */
function withReserve({ batches }: RunState): number | undefined {
  return batches.find(({ open, reserve }) => open > 0 && reserve.length > 0)?.index;
}

/** Whether this server has what a task was made of: its row, if it is one, and its sources. */
type IsThere<Spec, Key extends InstanceKey> = (key: Key, spec: Spec) => boolean;

/** Tasks that can be given from a cursor on. */
interface Available<Key extends InstanceKey> {
  readonly groups: readonly Group<Key>[];
  /** How many of the tasks that were asked for they stand for. */
  readonly counted: number;
  /** The cursor to ask for next. */
  readonly next: number;
  /** The batch whose reserve may go on at `next`, once more of its groups are closed. */
  readonly pending: number | undefined;
  /** A batch that the cursors lie in is no longer kept. */
  readonly forgotten: boolean;
  /** At `next` stands a task that others have. */
  readonly taken: boolean;
}

/**
 * What of the drawn batches can be given from a cursor on, at most `count` tasks; what was passed over is not there, nor
 * are tasks of rows that are gone. `fresh`: only up to a task that was given out, as a reserve may be let out before tasks
 * that others have; else a cursor was asked for, and tasks that are gone count: behind them begins what others ask for.
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

/** `mayDraw`: whether more can be drawn; else what is drawn must do. */
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
  // One update batch, so that ranks can run ahead of each other: what lies between is drawn, and may never be asked for.
  const { promptsPerUpdate, dynamicSampling } = state.config;
  if (from > state.cursor + slotsFor(promptsPerUpdate, dynamicSampling)) {
    const message = `cursor ${from} is more than one update batch beyond ${state.cursor}, the tasks drawn so far`;
    return { kind: "out_of_range", message };
  }
  const fresh = cursor === undefined;
  const { groups, counted, next, pending, forgotten, taken } = available(state, from, count, { fresh, isThere });
  if (forgotten) return { kind: "out_of_range", message: `the tasks from cursor ${from} on were closed long ago` };
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

/** Marks what is served as given out, where it is not yet. */
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
  // Written with the draw, so that the disk is waited for once. Without a cursor, the next look would give what follows;
  // a caller who left is given nothing.
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
      // A draw that is refused must not keep back what is drawn already.
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
  return { kind: "cancelled", message: "the caller went away" };
}

function notDue(batch: number): Refusal {
  const message = `the next update batch waits for feedback of batch ${batch}`;
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
