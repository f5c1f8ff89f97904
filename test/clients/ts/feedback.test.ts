/** Tests that feedback which a run did not record is counted, and reported as the client's options say. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClient, FeedbackError } from "../../../clients/ts/src/index.ts";
import type { GradusClient, OnFeedback, Task } from "../../../clients/ts/src/index.ts";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { openServer } from "../../support/in-process.ts";
import type { TestServer } from "../../support/in-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const opened = [
  ["gRPC", (onFeedback?: OnFeedback) => createClient(server.address, { onFeedback })],
  ["Connect", (onFeedback?: OnFeedback) => createWebClient(server.http, { onFeedback })],
] as const;

async function tasksOf(client: GradusClient, runId: string): Promise<readonly Task[]> {
  const run = client.run(runId);
  await run.create({
    arms: [{ id: "easy", environment: "countdown" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 2,
  });
  return (await run.nextBatch()).tasks;
}

/** Says `text` for all samples of all tasks, by each of the three ways. */
async function answer(client: GradusClient, tasks: readonly Task[], text: string): Promise<void> {
  const groups = tasks.map((task) => ({ task, completions: [text, text] }));
  await client.batchStep(groups);
  for await (const result of client.streamSteps(groups)) if (result.kind === "failed") throw result.error;
  for (const task of tasks) await client.step(task, text);
}

describe.each(opened)("over %s", (protocol, open) => {
  test("a conflict is warned of once, and all is counted", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    const client = open();
    try {
      const runId = `warn-${protocol}`;
      const tasks = await tasksOf(client, runId);
      await answer(client, tasks, "one");
      expect(warn).not.toHaveBeenCalled();
      expect(client.run(runId).feedbackCounts()).toEqual({ recorded: 4, duplicate: 6 });
      await answer(client, tasks, "another");
      expect(warn.mock.calls.flat()).toEqual([
        expect.stringMatching(
          `gradus: run "${runId}" did not learn from sample 0: conflicting_completion: another completion.*onFeedback`,
        ),
      ]);
      expect(client.run(runId).feedbackCounts()).toEqual({ recorded: 4, duplicate: 6, conflicting_completion: 10 });
      expect(client.feedbackCounts()).toEqual(client.run(runId).feedbackCounts());
      expect(client.run("another").feedbackCounts()).toEqual({});
    } finally {
      warn.mockRestore();
      client.close();
    }
  });

  test("it is an error where that is asked for, and each group of a stream fails for itself", async () => {
    const client = open("error");
    const tasks = await tasksOf(client, `error-${protocol}`);
    const [first, second] = tasks.map((task) => ({ task, completions: ["one", "one"] }));
    if (first === undefined || second === undefined) throw new Error("the run gave fewer than two tasks");
    await client.batchStep([first]);
    const other = { ...first, completions: ["one", "another"] };
    const conflict = { code: "FAILED_PRECONDITION", status: "conflicting_completion" };
    await expect(client.batchStep([other])).rejects.toMatchObject(conflict);
    await expect(client.step(first.task, "another", { sampleIndex: 1 })).rejects.toBeInstanceOf(FeedbackError);
    const kinds: string[] = [];
    for await (const result of client.streamSteps([other, second])) {
      kinds[result.index] = result.kind;
      if (result.kind === "failed") expect(result.error).toBeInstanceOf(FeedbackError);
    }
    expect(kinds).toEqual(["failed", "scored"]);
    client.close();
  });

  test("a task that belongs to no run says nothing of feedback", async () => {
    const client = open("error");
    const task = await client.reset({ environment: "countdown" });
    await client.step(task, "one");
    await client.step(task, "another");
    expect(client.feedbackCounts()).toEqual({});
    client.close();
  });
});

test("a choice that does not exist is refused, with those that do", () => {
  const options = { onFeedback: "raise" as OnFeedback };
  expect(() => createClient("localhost:1", options)).toThrow("onFeedback: want warn, error, ignore; got raise");
});
