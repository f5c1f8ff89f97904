/**
 * A server that is killed in the middle of a run goes on as if it had not been. Each kill is a start too, of about two
 * seconds of processor time; KILLS=100 kills more often.
 */
import { randomInt } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type GradusClient, type Task, createClient } from "../../clients/ts/src/index.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { adscRun, completionsOf, taskLine } from "../support/scripted-policy.ts";

const KILLS = Number(process.env.KILLS ?? 20);
/** More than the kills let pass. */
const BATCHES = Math.max(12, Math.ceil(1.6 * KILLS));
const PROMPTS = 8;
const GENERATIONS = 4;
const RUN = "killed";

/** What a trainer keeps over a crash of the server: where it is, and what it has seen. */
interface Trainer {
  cursor: bigint;
  readonly tasks: string[];
}

async function oneBatch(client: GradusClient, trainer: Trainer, onReply: () => void): Promise<boolean> {
  const run = client.run(RUN);
  await run.create(adscRun({ length: BATCHES * PROMPTS, promptsPerUpdate: PROMPTS, numGenerations: GENERATIONS }));
  const batch = await run.nextBatch({ cursor: trainer.cursor });
  onReply();
  if (batch.tasks.length === 0) return false;
  await feed(client, batch.tasks, onReply);
  trainer.tasks.push(...batch.tasks.map(taskLine));
  trainer.cursor = batch.nextCursor;
  return true;
}

/** Each completion alone, so that a kill falls between the samples of a group. */
async function feed(client: GradusClient, tasks: readonly Task[], onReply: () => void): Promise<void> {
  const parts = tasks.flatMap((task) =>
    completionsOf(task, GENERATIONS).completions.map((text, sampleIndex) => ({
      task,
      completions: [{ sampleIndex, text: text as string }],
    })),
  );
  for await (const result of client.streamSteps(parts, { deadlineMs: PATIENCE_MS })) {
    if (result.kind === "failed") throw result.error;
    onReply();
  }
}

async function historyOf(server: ServerProcess) {
  const client = createClient(server.address);
  const history = await client.run(RUN).history();
  const state = (await client.run(RUN).get()).state;
  client.close();
  const draws = history.flatMap(({ kind }) => (kind.case === "batch" ? [kind.value] : []));
  return {
    draws: draws.map(({ cursor, probabilities, values, counts, rewardMean, closed }) => ({
      ...{ cursor, probabilities, values, counts, rewardMean, closed },
    })),
    recorded: state?.samplesRecorded,
    arms: state?.arms,
  };
}

test(`a run under the bandit is the same to the bit after ${KILLS} kills at random points`, async () => {
  using calm = temporaryFolder();
  using stormy = temporaryFolder();
  const undisturbed: Trainer = { cursor: 0n, tasks: [] };
  const server = await startServer(calm.path);
  const client = createClient(server.address);
  while (await oneBatch(client, undisturbed, () => undefined));
  client.close();
  const expected = await historyOf(server);
  await server.kill("SIGTERM");
  copyFileSync(join(calm.path, "task-keys"), join(stormy.path, "task-keys"));

  const disturbed: Trainer = { cursor: 0n, tasks: [] };
  const repliesPerBatch = 1 + PROMPTS * GENERATIONS;
  const points: number[] = [];
  for (let kills = 0; kills < KILLS; kills++) {
    const running = await startServer(stormy.path);
    const victim = createClient(running.address, { retry: false });
    // The point: after so many replies, with others on their way, or (0) while the first call is.
    const point = randomInt(0, Math.floor(1.5 * repliesPerBatch));
    points.push(point);
    let replies = 0;
    let killed = false;
    const kill = (): void => {
      killed = true;
      void running.kill("SIGKILL");
    };
    const onReply = (): void => {
      if (++replies === point) kill();
    };
    if (point === 0) setTimeout(kill, randomInt(0, 20));
    try {
      while (await oneBatch(victim, disturbed, onReply));
    } catch (error) {
      // The server is gone; the trainer goes on from its cursor with the next one.
      if (!killed) throw error;
    }
    victim.close();
    expect(await running.kill("SIGKILL")).toBe("SIGKILL");
  }
  const last = await startServer(stormy.path);
  const survivor = createClient(last.address);
  while (await oneBatch(survivor, disturbed, () => undefined));
  survivor.close();
  const found = await historyOf(last);
  await last.kill("SIGTERM");
  expect(disturbed.tasks, `killed at ${points.join(", ")}`).toEqual(undisturbed.tasks);
  expect(found, `killed at ${points.join(", ")}`).toEqual(expected);
});
