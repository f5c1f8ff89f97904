/**
 * Trainers of real servers, which may be killed and cut off meanwhile, and whose runs may be rolled back: each sample must
 * be acknowledged, and be recorded once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createClient,
  type GradusClient,
  type Outcome,
  type RunChoice,
  type ShapeChoice,
  type Task,
} from "../../clients/ts/src/index.ts";
import type { Rng } from "../../envs/lib/rng.ts";
import { complete, taskLine } from "../support/scripted-policy.ts";
import { savedIn } from "./operator.ts";
import { note, type Seen, timeless, unimported, unordered } from "./seen.ts";
import { payloadOf } from "./stored.ts";

/** Changes of shape, by the number of update batches drawn before each. */
export type Shapes = ReadonlyMap<number, ShapeChoice>;

/** The trainers of one run. */
export interface Crew {
  readonly run: string;
  readonly choice: RunChoice;
  readonly trainers: number;
  /**
   * Tasks of each trainer in an update batch. Undefined: each trainer goes through all tasks, from the first open one
   * on.
   */
  readonly tasksOfEach?: number;
  /** Shapes for a crew of one trainer, whose run's states are compared between update batches. */
  readonly shapes?: Shapes;
  /** The run is rolled back by imports, and trainers die now and then. */
  readonly isRolledBack?: boolean;
  readonly textOf?: (task: Task, sample: number) => string;
}

/** Settings that trainers share. */
export interface Course {
  readonly address: string;
  readonly seen: Seen;
  /** Longest time for a call, with all its attempts, in milliseconds. */
  readonly deadlineMs: number;
  /** Stops the trainers when it aborts. */
  readonly stop: AbortSignal;
  /** Trainers of runs that are rolled back go on until they are stopped. */
  readonly isStormy?: boolean;
  /** Runs before the update batch of this number, which waits for it. */
  readonly before?: (batch: number) => Promise<unknown> | undefined;
}

export const incarnationOf = ({ groupId }: Task): string => groupId.split("/")[1] ?? "";

function replied(seen: Seen): void {
  seen.replies++;
  seen.onReply();
}

/**
 * Records a sample's outcome. Returns "again" if the sample must be sent again, and "stale" if the run was rolled back
 * meanwhile.
 */
function take({ seen }: Course, task: Task, sample: number, outcome: Outcome, crew: Crew): "in" | "again" | "stale" {
  const name = `${task.runId}/${task.cursor}/${sample}`;
  const { status = "none", detail = "" } = outcome.feedback ?? {};
  if (status === "stale_epoch" && crew.isRolledBack) return "stale";
  const isLater = outcome.kind === "unscored" && outcome.retryDelayMs !== undefined;
  if (isLater || (status === "not_recorded" && !detail.includes("closed"))) return "again";
  if (status !== "recorded" && status !== "duplicate") seen.violations.add(`sample ${name} is ${status}: ${detail}`);
  // A verifier of a mounted environment may raise, and then there is no reward.
  if (outcome.kind === "unscored" && !task.armId.startsWith("mounted/"))
    seen.violations.add(`sample ${name} was not scored: ${outcome.reason}, ${outcome.detail}`);
  const recorded = `${task.groupId}/${sample}`;
  if (status === "recorded" && seen.recorded.has(recorded)) seen.violations.add(`sample ${recorded} is recorded twice`);
  if (status === "recorded") seen.recorded.add(recorded);
  note(seen, "rewards", name, outcome.kind === "scored" ? String(outcome.reward) : outcome.reason);
  const nowMs = performance.now();
  seen.gapMs = Math.max(seen.gapMs, nowMs - (seen.lastAtMs.get(task.runId) ?? nowMs));
  seen.lastAtMs.set(task.runId, nowMs);
  seen.samples++;
  seen.onSample();
  return "in";
}

interface Part {
  readonly task: Task;
  readonly completions: readonly { readonly sampleIndex: number; readonly text: string }[];
}

/** Returns how many completions a task must have, which changes of shape set. */
function generationsOf({ updateBatch }: Task, { choice, shapes = new Map() }: Crew): number {
  const said = [...shapes].filter(([at]) => at <= Number(updateBatch));
  return said.findLast(([, shape]) => shape.numGenerations !== undefined)?.[1].numGenerations ?? choice.numGenerations;
}

/** Splits the samples of tasks into messages of some size. */
function partsOf(tasks: readonly Task[], crew: Crew, size: number): readonly Part[] {
  const { textOf = complete } = crew;
  return tasks.flatMap((task) => {
    const count = generationsOf(task, crew);
    return Array.from({ length: Math.ceil(count / size) }, (_, part): Part => {
      const indices = Array.from({ length: Math.min(size, count - part * size) }, (__, i) => part * size + i);
      return { task, completions: indices.map((sampleIndex) => ({ sampleIndex, text: textOf(task, sampleIndex) })) };
    });
  });
}

/**
 * Sends the samples of tasks until each is recorded. True: the run was rolled back meanwhile, and the tasks are void.
 */
async function deliver(course: Course, client: GradusClient, tasks: readonly Task[], crew: Crew, rng: Rng) {
  const { seen, deadlineMs, stop } = course;
  const inBatch = rng.int(0, 2) === 0;
  let left = partsOf(tasks, crew, rng.pick([1, 2, 4, 8]));
  let stale = false;
  while (left.length > 0 && !stale) {
    const again: Part[] = [];
    const answered = ({ task, completions }: Part, outcomes: readonly Outcome[]): void => {
      const fates = completions.map(({ sampleIndex }, i) => take(course, task, sampleIndex, outcomes[i]!, crew));
      const missing = completions.filter((_, i) => fates[i] === "again");
      if (missing.length > 0) again.push({ task, completions: missing });
      stale ||= fates.includes("stale");
      replied(seen);
    };
    // Some messages go twice, as a proxy may send them.
    const parts = left.flatMap((part) => (rng.int(0, 19) === 0 ? [part, part] : [part]));
    if (inBatch) {
      const groups = parts.map((part) => ({ ...part, numGenerations: generationsOf(part.task, crew) }));
      const outcomes = await client.batchStep(groups, { deadlineMs, signal: stop });
      for (const [i, part] of parts.entries()) answered(part, outcomes[i]!.outcomes);
    } else {
      for await (const result of client.streamSteps(parts, { deadlineMs, signal: stop })) {
        if (result.kind === "failed") throw result.error;
        answered(result.group, result.outcome.outcomes);
      }
    }
    left = again;
    if (left.length > 0) await sleep(rng.int(20, 200));
  }
  return stale;
}

/** Notes the run's state between update batches, and changes the shape if a change is due and not yet made. */
async function between(course: Course, client: GradusClient, crew: Crew): Promise<void> {
  const { seen, deadlineMs, stop } = course;
  const { run: id, choice, shapes } = crew;
  if (shapes === undefined) return;
  const [run, options] = [client.run(id), { deadlineMs, signal: stop }];
  const { state } = await run.create(choice, options);
  if (state === undefined || state.batchesDrawn !== state.batchesClosed) return;
  const drawn = Number(state.batchesDrawn);
  const due = [...shapes].filter(([at]) => at <= drawn);
  const controls = (await run.history()).filter(({ kind }) => kind.case === "control" && kind.value.kind === "shape");
  const [change] = due.slice(controls.length);
  if (change !== undefined) {
    // The client does not repeat this call. If there is no reply, the history says whether the change was made.
    await run.updateShape(change[1], options).catch((error: unknown) => {
      if ((error as { readonly code?: string }).code !== "UNAVAILABLE") throw error;
    });
    return between(course, client, crew);
  }
  const { state: bytes } = await run.export(options);
  replied(seen);
  seen.states.set(`${id}/${drawn}`, timeless(savedIn(payloadOf(bytes))));
}

/**
 * Pause, in milliseconds, before a trainer of a rolled-back run looks again: there may be no task until others are
 * answered.
 */
const LOOK_AGAIN_MS = 4_000;

/** Runs one trainer to the run's end, or until it is stopped. */
async function train(course: Course, crew: Crew, rank: number, rng: Rng): Promise<void> {
  const { seen, deadlineMs, stop } = course;
  const { choice, trainers, tasksOfEach, isRolledBack } = crew;
  const open = () => createClient(course.address, { onFeedback: "ignore" });
  const own = (batch: number): bigint | undefined =>
    tasksOfEach === undefined ? undefined : BigInt((batch * trainers + rank) * tasksOfEach);
  const name = `${crew.run}/${rank}`;
  let client = open();
  try {
    let cursor = own(0) ?? seen.cursors.get(name);
    for (let batch = 0; !stop.aborted; batch++) {
      await course.before?.(batch);
      if (isRolledBack && rng.int(0, 29) === 0) {
        // A killed trainer knows nothing any more.
        client.close();
        client = open();
        cursor = undefined;
      }
      const run = client.run(crew.run);
      await between(course, client, crew);
      if (batch === 0 || cursor === undefined) {
        const { state } = await run.create(choice, { deadlineMs, signal: stop });
        cursor ??= state?.firstOpenCursor ?? 0n;
      }
      const count = tasksOfEach ?? rng.int(1, 2 * choice.promptsPerUpdate);
      const options = { deadlineMs: isRolledBack ? LOOK_AGAIN_MS : 2 * deadlineMs, signal: stop };
      const asked = run.nextBatch({ cursor, count, waitMs: 2_000 }, options);
      const given = await (isRolledBack ? asked.catch(() => undefined) : asked);
      if (given === undefined) {
        cursor = undefined;
        continue;
      }
      replied(seen);
      for (const task of given.tasks) {
        const line = `${task.updateBatch} ${task.armProbability} ${taskLine(task)} ${task.instanceHash}`;
        note(seen, "tasks", `${task.runId}/${task.cursor}`, line);
      }
      const stale = await deliver(course, client, given.tasks, crew, rng);
      const isOver = given.tasks.length === 0 && (given.done || tasksOfEach !== undefined);
      if (isOver && !(isRolledBack && course.isStormy)) return;
      // A run that is over may be rolled back, and then has more to do.
      if (isOver) await sleep(rng.int(20, 100));
      cursor = stale || isOver ? undefined : (own(batch + 1) ?? given.nextCursor);
      if (cursor !== undefined && !isRolledBack) seen.cursors.set(name, cursor);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    client.close();
  }
}

/** Runs all trainers of some crews, to the end of their runs or until they are stopped. */
export async function trainAll(course: Course, crews: readonly Crew[], rngOf: (name: string) => Rng): Promise<void> {
  const trainers = crews.flatMap((crew) =>
    Array.from({ length: crew.trainers }, (_, rank) => train(course, crew, rank, rngOf(`${crew.run}/${rank}`))),
  );
  await Promise.all(trainers);
}

/** Notes the state of each run at its end, and that it has as many samples as its trainers were to send. */
export async function noteEnds({ address, seen }: Course, crews: readonly Crew[]): Promise<void> {
  const client = createClient(address);
  for (const crew of crews) {
    const recorded = (await client.run(crew.run).get()).state?.samplesRecorded;
    const saved = timeless(savedIn(payloadOf((await client.run(crew.run).export()).state)));
    const state = crew.isRolledBack ? unimported(saved) : saved;
    seen.states.set(`${crew.run}/end`, crew.trainers === 1 ? state : unordered(state));
    const names = [...seen.rewards.keys()].filter((name) => name.startsWith(`${crew.run}/`));
    seen.states.set(`${crew.run}/samples`, recorded);
    if (!crew.isRolledBack && recorded !== BigInt(names.length))
      seen.violations.add(
        `run ${crew.run} has ${String(recorded)} samples of the ${names.length} that were acknowledged`,
      );
  }
  client.close();
}
