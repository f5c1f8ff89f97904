/** Trainers: ask for tasks, send completions until each is answered, and die and come back at any moment. */
import { keyOf } from "../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../server/curriculum/feedback.ts";
import type { Task } from "../server/curriculum/support.ts";
import {
  closeGroups,
  configOf,
  create,
  get,
  itemOf,
  nextBatch,
  sendAdvantages,
  sendSamples,
  type Simulation,
} from "./clients.ts";

/** One trainer's life, from one start to its end. */
interface Life {
  readonly simulation: Simulation;
  readonly runId: string;
  readonly rank: number;
  /** Counts starts: what is generated after one is not what was before. */
  readonly start: number;
  isOver(): boolean;
}

/** How often a batch that waits for feedback is asked for before the trainer looks where the run stands. */
const PATIENCE = 4;

/** The completion that this trainer makes of a sample. */
function digestOf({ simulation, rank, start }: Life, task: Task, sample: number): string {
  const { sharing } = simulation.scenario;
  const own = sharing === "rival" ? `${rank}.${start}` : "";
  return `${task.key.hash.slice(0, 12)}.${sample}.${own}`;
}

function samplesOf(life: Life, task: Task): FeedbackItem[] {
  const { simulation, runId, rank } = life;
  const { numGenerations } = configOf(simulation, runId);
  const { sharing, trainers } = simulation.scenario;
  return Array.from({ length: numGenerations }, (_, sample) => sample)
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
    // Now and then another completion of a sample that was sent, or one that was sent before.
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
  const count = world.rng.int(0, configOf(simulation, runId).numGenerations);
  const advantages = Array.from({ length: count }, () => world.rng.int(-8, 8) / 8);
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
  const dropped = tasks.filter(() => world.chance(0.01));
  if (dropped.length > 0) world.count("groups closed by force");
  if (dropped.length > 0) await closeGroups(simulation, runId, dropped);
  if (configOf(simulation, runId).feedbackSource === "reported") {
    const outcomes = await Promise.all(tasks.map((task) => report(life, task)));
    return outcomes.includes(true);
  }
  const items = tasks.flatMap((task) => samplesOf(life, task));
  // A few streams at once.
  const streams = world.rng.int(1, 3);
  const parts = Array.from({ length: streams }, (_, i) => items.filter((_item, j) => j % streams === i));
  const outcomes = await Promise.all(parts.map((part) => deliver(life, part)));
  return outcomes.includes(true);
}

/** Where a trainer that knows nothing begins: at the first batch that is not closed. */
async function firstOpen({ simulation, runId }: Life): Promise<number> {
  const found = await get(simulation, runId);
  if (found === undefined) return 0;
  if (found.kind !== "ok") await create(simulation, runId);
  return found.kind === "ok" ? found.value.state.batchesClosed * found.value.config.promptsPerUpdate : 0;
}

async function train(life: Life): Promise<void> {
  const { simulation, runId } = life;
  const { world } = simulation.ground;
  const { target } = simulation.scenario;
  const takesFresh = world.chance(0.15);
  let cursor = await firstOpen(life);
  let waits = 0;
  while (cursor < target && !life.isOver()) {
    const count = world.rng.int(1, 2 * configOf(simulation, runId).promptsPerUpdate);
    const asked = takesFresh && waits === 0 ? undefined : cursor;
    const reply = await nextBatch(simulation, runId, { cursor: asked, count, waitMs: world.rng.pick([0, 50, 500]) });
    if (reply?.kind === "ok") {
      const { tasks, nextCursor, done } = reply.value;
      waits = 0;
      const stale = await work(life, tasks);
      cursor = stale ? Math.min(cursor, await firstOpen(life)) : nextCursor;
      if (done) return;
      continue;
    }
    await world.sleep(world.delayMs(30), `trainer ${life.rank} waits`);
    if (reply !== undefined && (reply.kind !== "unavailable" || ++waits % PATIENCE === 0))
      cursor = await firstOpen(life);
  }
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
