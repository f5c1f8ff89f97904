/** An evaluation outlives its server. */
import { afterEach, expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import type { EvaluationHandle, GradusClient, PendingTask } from "../../clients/ts/src/index.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const started: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(started.map((server) => server.kill("SIGKILL")));
  folder[Symbol.dispose]();
});

async function connect(): Promise<{ readonly server: ServerProcess; readonly client: GradusClient }> {
  const server = await startServer(folder.path);
  started.push(server);
  return { server, client: createClient(server.address, { retry: false }) };
}

async function pendingOf(evaluation: EvaluationHandle): Promise<PendingTask[]> {
  const tasks: PendingTask[] = [];
  for await (const task of evaluation.pending()) tasks.push(task);
  return tasks;
}

const wrong = "<think>…</think><answer>1 + 1</answer>";

test("kill -9: what was answered is there, the tasks are the same, and the rest can be done", async () => {
  const first = await connect();
  const before = first.client.evaluation("one");
  await before.create({ suite: "countdown" });
  const tasks = await pendingOf(before);
  const submissions = tasks.map(({ task }) => ({ task: { taskId: task?.taskId ?? "" }, completion: wrong }));
  let answered = 0;
  const ended = (async () => {
    for (const submission of submissions) {
      await before.submit([submission]);
      if (++answered === 100) void first.server.kill("SIGKILL");
    }
  })();
  await expect(ended).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await first.server.exited;

  const second = await connect();
  const after = second.client.evaluation("one");
  const { samplesScored } = await after.create({ suite: "countdown" });
  // One more sample may have been committed before its reply was lost.
  expect(Number(samplesScored) - answered).toBeOneOf([0, 1]);
  const missing = await pendingOf(after);
  expect(missing).toEqual(tasks.slice(Number(samplesScored)));
  await after.submit(submissions);
  expect(await pendingOf(after)).toEqual([]);
  expect((await after.report()).overall).toMatchObject({
    samples: 500n,
    figures: { mean_score: expect.closeTo(0.1) as number },
  });
  first.client.close();
  second.client.close();
});
