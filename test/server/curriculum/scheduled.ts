/** A trainer whose every move is chance: how it cuts batches, and how feedback is split, shuffled, repeated, delayed. */
import { type Rng, rngFor } from "../../../envs/lib/rng.ts";
import type { FeedbackItem } from "../../../server/curriculum/feedback.ts";
import { ask, batchesOf, feedbackOf, type Trace, value, type Runs, type Task } from "./support.ts";

interface Desk {
  readonly runs: Runs;
  readonly runId: string;
  readonly rng: Rng;
  readonly numGenerations: number;
  readonly tasks: Map<number, Task>;
  undelivered: FeedbackItem[];
  readonly delivered: FeedbackItem[];
}

/** Asks for tasks after the last ones, or again for some that were given. */
async function pull(desk: Desk, end: number): Promise<void> {
  const { runs, runId, rng, tasks } = desk;
  const again = tasks.size > 0 && rng.int(0, 4) === 0;
  const cursor = again ? rng.int(Math.max(0, tasks.size - 4), tasks.size - 1) : tasks.size;
  const result = await ask(runs, runId, cursor, Math.min(rng.int(1, 9), end - cursor));
  if (result.kind !== "ok") {
    if (result.kind !== "unavailable") throw new Error(JSON.stringify(result));
    return;
  }
  const fresh = result.value.tasks.filter((task) => !tasks.has(task.cursor));
  for (const task of fresh) tasks.set(task.cursor, task);
  desk.undelivered.push(...feedbackOf(fresh, desk.numGenerations));
}

/** Sends some of the feedback, partly in parallel calls; some of it was sent before. */
async function deliver(desk: Desk, share: number): Promise<void> {
  const { runs, runId, rng } = desk;
  const shuffled = rng.shuffle(desk.undelivered);
  const count = Math.ceil(shuffled.length * share);
  const repeated = rng.shuffle(desk.delivered).slice(0, rng.int(0, 3));
  const sent = rng.shuffle([...shuffled.slice(0, count), ...repeated]);
  const callCount = rng.int(1, 3);
  const calls = Array.from({ length: callCount }, (_, i) => sent.filter((_item, j) => j % callCount === i));
  desk.undelivered = shuffled.slice(count);
  desk.delivered.push(...shuffled.slice(0, count));
  await Promise.all(calls.map(async (items) => value(await runs.recordFeedback(runId, items))));
}

/** Trains until `end` tasks were given and answered. `between` is done before each move. */
export async function trainBySchedule(
  runs: () => Runs,
  runId: string,
  end: number,
  seed: number,
  between: (rng: Rng) => Promise<void> = async () => undefined,
): Promise<Trace> {
  const rng = rngFor("schedule", seed);
  const { numGenerations } = value(await runs().get(runId)).config;
  const tasks = new Map<number, Task>();
  let desk: Desk = { runs: runs(), runId, rng, numGenerations, tasks, undelivered: [], delivered: [] };
  while (tasks.size < end || desk.undelivered.length > 0) {
    await between(rng);
    desk = { ...desk, runs: runs() };
    const stuck = tasks.size === end;
    if (!stuck && rng.int(0, 1) === 0) await pull(desk, end);
    else await deliver(desk, rng.int(0, 3) === 0 ? 1 : rng.float());
  }
  const inOrder = [...tasks.values()].sort((a, b) => a.cursor - b.cursor);
  return { tasks: inOrder, batches: await batchesOf(runs(), runId) };
}
