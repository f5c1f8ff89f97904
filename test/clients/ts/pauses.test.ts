/** A paused run is waited for without limit, over both transports; and completions that UTF-8 cannot hold. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { pauseNotice } from "../../../clients/ts/src/pauses.ts";
import { createClient, GradusError, rewardOf } from "../../../clients/ts/src/index.ts";
import type { GradusClient, RunChoice, RunHandle } from "../../../clients/ts/src/index.ts";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { openServer } from "../../support/in-process.ts";
import type { TestServer } from "../../support/in-process.ts";

/** Time limit of a call, in milliseconds: shorter than the pause, and long enough for a call on a busy machine. */
const DEADLINE_MS = 4_000;

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.spyOn(console, "warn").mockImplementation((words: string) => void said.push(words));
});
afterEach(() => void vi.restoreAllMocks());

const choice: RunChoice = {
  arms: [{ id: "t0", environment: "countdown", level: "T0" }],
  policy: { kind: "mixture" },
  numGenerations: 1,
  promptsPerUpdate: 2,
  length: 4,
};
const text = "<think>none</think><answer>1 + 1</answer>";

const clients = [
  ["gRPC", (): GradusClient => createClient(server.address, { retry: false })],
  ["Connect", (): GradusClient => createWebClient(server.http, { retry: false })],
] as const;

describe.each(clients)("over %s", (protocol, open) => {
  const runOf = async (id: string): Promise<{ readonly client: GradusClient; readonly run: RunHandle }> => {
    const client = open();
    const run = client.run(`${id}-${protocol}`);
    await run.create(choice);
    return { client, run };
  };

  test("batches wait through pauses, whatever deadline and retries say, and say so once", async () => {
    const { client, run } = await runOf("through");
    await run.pause();
    const cursors: bigint[] = [];
    const reading = (async () => {
      for await (const { tasks } of run.batches({}, { deadlineMs: DEADLINE_MS })) {
        cursors.push(...tasks.map(({ cursor }) => cursor));
        await client.batchStep(tasks.map((task) => ({ task, completions: [text] })));
      }
    })();
    await sleep(DEADLINE_MS + 1_000);
    expect(cursors).toEqual([]);
    await run.resume();
    await reading;
    expect(cursors).toEqual([0n, 1n, 2n, 3n]);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(new RegExp(`run "${run.runId}" is paused.* since \\d{4}-.*gradus run resume ${run.runId}`));
  });

  test("a signal ends the wait", async () => {
    const { run } = await runOf("signal");
    await run.pause();
    const controller = new AbortController();
    const waiting = run.nextBatch({}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 300);
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("a caller may ask for the error, which has its reason and its facts", async () => {
    const { run } = await runOf("error");
    await run.pause();
    const error = await run.nextBatch({ onPause: "error" }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GradusError);
    const retrying = (protocol === "gRPC" ? createClient(server.address) : createWebClient(server.http)).run(run.runId);
    await expect(retrying.nextBatch({ cursor: 0n, waitMs: 0, onPause: "error" })).rejects.toMatchObject({
      reason: "PAUSED",
    });
    const { code, reason, facts, retryDelayMs } = error as GradusError;
    expect([code, reason]).toEqual(["UNAVAILABLE", "PAUSED"]);
    expect(retryDelayMs).toBeGreaterThan(0);
    expect(Math.abs(Date.parse(facts["paused_since"] ?? "") - Date.now())).toBeLessThan(60_000);
    const { state } = await run.get();
    expect(state).toMatchObject({ paused: true, pausedBy: facts["paused_by"] ?? "" });
  });

  test("half of a surrogate pair is named, and harms neither its sample nor those beside it", async () => {
    const client = open();
    const task = await client.reset({ environment: "countdown", level: "T0", seed: 1 });
    const odd = text.replace("none", "\ud83d");
    const [outcome] = await client.batchStep([{ task, completions: [text, odd] }]);
    expect(outcome?.outcomes.map(rewardOf)).toEqual([0.1, 0.1]);
    for await (const result of client.streamSteps([{ task, completions: [odd] }]))
      expect(result).toMatchObject({ kind: "scored" });
    expect(rewardOf(await client.step(task, "a\u{1f600}"))).toBe(0);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain(`sample 1 of group ${task.groupId}: character 7 is half of a surrogate pair (U+D83D)`);
    expect(said[1]).toContain(`sample 0 of group ${task.groupId}: character 7`);
  });
});

test("a pause is said once a minute", () => {
  let now = 0;
  const notice = pauseNotice("r", () => now);
  const facts = { paused_by: "ada", paused_since: "2026-11-28T22:00:00Z" };
  const error = new GradusError("UNAVAILABLE", "paused", { reason: { reason: "PAUSED", facts } });
  for (const at of [0, 1_000, 59_999, 60_000, 61_000, 120_000]) {
    now = at;
    notice(error);
  }
  expect(said).toHaveLength(3);
  expect(said[0]).toContain('run "r" is paused by ada since 2026-11-28T22:00:00Z');
});
