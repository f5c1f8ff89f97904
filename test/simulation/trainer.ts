/** Trainers: ask for tasks, send completions until each is answered, and die and come back at any moment. */
import { keyOf } from "../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../server/curriculum/feedback.ts";
import type { Task } from "../server/curriculum/support.ts";
import {
  closeGroups,
  configOf,
  create,
  firstOpenCursor,
  get,
  getGroups,
  itemOf,
  nextBatch,
  reopenGroups,
  sendAdvantages,
  sendSamples,
  type Simulation,
} from "./clients.ts";

/** Life of one trainer, from a start to its end. */
interface Life {
  readonly simulation: Simulation;
  readonly runId: string;
  readonly rank: number;
  /** Number of starts. After a start, other completions are generated than before. */
  readonly start: number;
  isOver(): boolean;
}

/** Number of requests for a batch that waits for feedback, after which the trainer checks the run's state. */
const PATIENCE = 4;

/** The completion that this trainer makes of a sample. */
function digestOf({ simulation, rank, start }: Life, task: Task, sample: number): string {
  const { sharing } = simulation.scenario;
  const own = sharing === "rival" ? `${rank}-${start}` : "";
  return `${task.key.hash.slice(0, 12)}-${sample}-${own}`;
}

function samplesOf(life: Life, task: Task): FeedbackItem[] {
  const { simulation, rank } = life;
  const { sharing, trainers } = simulation.scenario;
  return Array.from({ length: task.numGenerations }, (_, sample) => sample)
    .filter((sample) => sharing !== "split" || sample % trainers === rank)
    .map((sample) => itemOf(task, sample, digestOf(life, task, sample)));
}

/** Sends items until each has an answer, in messages cut by chance; true: they belong to an incarnation that is over. */
async function deliver(life: Life, items: readonly FeedbackItem[]): Promise<boolean> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  let left = [...items];
  let stale = false;
  while (left.length > 0 && !life.isOver()) {
    const shuffled = world.chance(0.5) ? world.rng.shuffle(left) : left;
    const size = world.rng.int(1, Math.max(1, left.length));
    const sent = shuffled.slice(0, size);
    // Sometimes sends a second, different completion of a sample.
    const another = sent.filter(() => world.chance(0.03)).map((item) => ({ ...item, digest: `${item.digest}!` }));
    const statuses = await sendSamples(simulation, runId, [...sent, ...another.map(rescored)]);
    if (statuses === undefined) {
      await world.sleep(world.delayMs(20), "a trainer waits to send again");
      continue;
    }
    stale ||= statuses.some(({ kind }) => kind === "stale_epoch");
    const answered = new Set(sent);
    left = shuffled.filter((item) => !answered.has(item) || world.chance(0.02));
    if (stale && !world.chance(0.3)) return true;
  }
  return stale;
}

/** Another completion has another reward. */
function rescored(item: FeedbackItem): FeedbackItem {
  return { ...item, result: { kind: "reward", reward: 0.5, solved: false } };
}

async function report(life: Life, task: Task): Promise<boolean> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  const { incarnation, cursor } = task;
  const count = world.rng.int(0, task.numGenerations);
  // Groups that are alike have none.
  const size = world.chance(0.3) ? 0 : 8;
  const advantages = Array.from({ length: count }, () => world.rng.int(-size, size) / 8);
  const rewardMean = world.rng.pick([undefined, 0.25]);
  while (!life.isOver()) {
    const status = await sendAdvantages(simulation, runId, { incarnation, cursor, advantages, rewardMean });
    if (status !== undefined) return status.kind === "stale_epoch";
    await world.sleep(world.delayMs(20), "a trainer waits to report again");
  }
  return false;
}

/** Works on tasks; true: they were of an incarnation that is over. */
async function work(life: Life, tasks: readonly Task[]): Promise<boolean> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  await world.sleep(world.delayMs(10), `trainer ${life.rank} generates`);
  const dropped = tasks.filter(() => world.chance(0.02));
  if (dropped.length > 0) world.count("groups closed by force");
  if (dropped.length > 0) await closeGroups(simulation, runId, dropped);
  if (configOf(simulation, runId).feedbackSource === "reported") {
    const outcomes = await Promise.all(tasks.map((task) => report(life, task)));
    return outcomes.includes(true);
  }
  const stale = await deliverAll(life, tasks);
  // Some trainers reopen groups that they dropped or that timed out.
  const again = tasks.filter((task) => dropped.includes(task) || world.chance(0.01));
  if (stale || again.length === 0 || !world.chance(0.5)) return stale;
  if ((await reopenGroups(simulation, runId, again)) > 0) world.count("groups opened again");
  return deliverAll(life, again);
}

/** Sends the samples of tasks, in a few streams at once. */
async function deliverAll(life: Life, tasks: readonly Task[]): Promise<boolean> {
  const { world } = life.simulation.ground;
  const items = tasks.flatMap((task) => samplesOf(life, task));
  const streams = world.rng.int(1, 3);
  const parts = Array.from({ length: streams }, (_, i) => items.filter((_item, j) => j % streams === i));
  const outcomes = await Promise.all(parts.map((part) => deliver(life, part)));
  return outcomes.includes(true);
}

/**
 * Returns the cursor at which a restarted trainer begins: the first batch that is not closed. Undefined: the first new
 * task.
 */
async function firstOpen({ simulation, runId }: Life): Promise<number | undefined> {
  const found = await get(simulation, runId);
  if (found === undefined) return 0;
  if (found.kind !== "ok") {
    await create(simulation, runId);
    return 0;
  }
  return firstOpenCursor(simulation, runId);
}

/** Goes on with the groups that a returning trainer finds open. */
async function goOn(life: Life): Promise<void> {
  const { simulation, runId } = life;
  const groups = await getGroups(simulation, runId, { kind: "open" }, 0);
  if (groups === undefined || groups.length === 0) return;
  simulation.ground.world.count("open groups taken up");
  await work(
    life,
    groups.map(({ task }) => task),
  );
}

/** Requests tasks from a cursor on, or new ones, and completes them. */
async function step(life: Life, cursor: number | undefined): Promise<"done" | "again" | number> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  const count = world.rng.int(1, 2 * configOf(simulation, runId).promptsPerUpdate);
  const reply = await nextBatch(simulation, runId, { cursor, count, waitMs: world.rng.pick([0, 50, 500]) });
  if (reply?.kind !== "ok") {
    await world.sleep(world.delayMs(30), `trainer ${life.rank} waits`);
    return "again";
  }
  const { tasks, nextCursor, done } = reply.value;
  const stale = await work(life, tasks);
  if (done) return "done";
  return stale ? "again" : nextCursor;
}

/** With cursors of its own, the trainer checks the run's state after waiting in vain. */
async function trainByCursor(life: Life, last: number): Promise<void> {
  let waits = 0;
  let cursor = await firstOpen(life);
  while ((cursor ?? 0) < last && !life.isOver()) {
    const next = await step(life, cursor);
    if (next === "done") return;
    if (next !== "again") waits = 0;
    else if (++waits % PATIENCE !== 0) continue;
    cursor = next === "again" ? await firstOpen(life) : next;
  }
}

/** Without cursors, the trainer gets tasks that were never issued, and takes up open ones if there are none. */
async function trainByNeed(life: Life, last: number): Promise<void> {
  let reached = 0;
  await goOn(life);
  while (reached < last && !life.isOver()) {
    const next = await step(life, undefined);
    if (next === "done") return;
    if (next === "again") {
      await firstOpen(life);
      await goOn(life);
    } else reached = next;
  }
}

async function train(life: Life): Promise<void> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  const { dynamicSampling } = configOf(simulation, runId);
  const last = simulation.scenario.target * (dynamicSampling?.oversampleMax ?? 1);
  await (world.chance(0.3) ? trainByNeed(life, last) : trainByCursor(life, last));
}

/** A trainer that starts again whenever it dies, until the faults are over. What a dead one has sent is still on its way. */
export async function trainer(simulation: Simulation, runId: string, rank: number): Promise<void> {
  const { world } = simulation.ground;
  const { trainer: everyMs } = simulation.scenario.everyMs;
  for (let start = 0; !simulation.isOver(); start++) {
    let dead = false;
    const life: Life = { simulation, runId, rank, start, isOver: () => dead || simulation.isOver() };
    world.note(`trainer ${keyOf(runId, rank)} starts`);
    const cancel =
      everyMs === Infinity
        ? (): void => undefined
        : world.after(world.delayMs(everyMs), `trainer ${rank} dies`, () => {
            world.count("trainer killed");
            dead = true;
          });
    await train(life);
    cancel();
    if (!dead) return;
    await world.sleep(world.delayMs(50), `trainer ${rank} is started`);
  }
}
