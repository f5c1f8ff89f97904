/** Tests of cut completions, and of those without a reward, in the protocols of OpenEnv and NeMo Gym. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openServer, type TestServer } from "../../../support/in-process.ts";
import { DIGITS_FILE, openMounting } from "../../../support/mounted/mounts.ts";

let host: TestServer;
beforeAll(async () => void (host = await openServer({ store: "memory" })));
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;
interface Reply {
  readonly type: string;
  readonly data: Json;
}

/** Opens an OpenEnv session. */
async function open({ http }: TestServer) {
  const socket = new WebSocket(`${http.replace("http", "ws")}/ws`);
  await once(socket, "open");
  const ask = async (type: string, data: Json): Promise<Reply> => {
    socket.send(JSON.stringify({ type, data }));
    const [reply] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(reply.toString()) as Reply;
  };
  return {
    reset: (data: Json) => ask("reset", data),
    step: (data: Json) => ask("step", data),
    [Symbol.dispose]: () => socket.close(),
  };
}

/** Sends NeMo Gym's call for a completion. */
async function verify({ http }: TestServer, row: Json, completion: string, more: Json = {}) {
  const response = { ...more, output: [{ type: "message", role: "assistant", content: completion }] };
  const headers = { "content-type": "application/json" };
  const sent = JSON.stringify({ ...row, response });
  const reply = await fetch(`${http}/verify`, { method: "POST", headers, body: sent });
  return { status: reply.status, body: (await reply.json()) as Json };
}

const TASK = { environment: "countdown", level: "T0", seed: 7 };

test("a completion is cut where an OpenEnv client says so", async () => {
  using session = await open(host);
  const completion = "<think>97 - 44 is 53</think><answer>82 - (97 - 44)";
  const step = async (finish_reason: unknown) => {
    await session.reset(TASK);
    return session.step({ completion, finish_reason });
  };
  for (const unknown of [undefined, null, "stop"]) expect((await step(unknown)).data.reward).toBe(1);
  const cut = await step("length");
  expect(cut.data).toMatchObject({ reward: 0, done: true, observation: { outcome: { score: { truncated: true } } } });
  for (const other of ["abort", "1", 2, true, ["length"]])
    expect(await step(other)).toMatchObject({ type: "error", data: { code: "VALIDATION_ERROR" } });
  // The episode goes on after a message that was refused.
  expect((await session.step({ completion })).data.reward).toBe(1);
});

test("an answer line that a cut may have shortened earns nothing, of either gym", async () => {
  const row = { environment: "countdown", level: "T0", seed: 7, answer_format: "answer_line" };
  const completion = "So it is.\nAnswer: 82 - (97 - 44)";
  using session = await open(host);
  const step = async (finish_reason: string) => {
    await session.reset(row);
    return (await session.step({ completion, finish_reason })).data["reward"];
  };
  expect([await step("stop"), await step("length")]).toEqual([1, 0]);
  expect((await verify(host, row, completion)).body["reward"]).toBe(1);
  expect((await verify(host, row, completion, { status: "incomplete" })).body["reward"]).toBe(0);
});

test("a completion without a reward is an error of both gyms, which no client adds up as 0", async () => {
  using session = await open(host);
  const tooLong = "x".repeat(300 * 1024);
  await session.reset(TASK);
  const stepped = await session.step({ completion: tooLong });
  expect(stepped).toMatchObject({ type: "error", data: { grpc_code: "FAILED_PRECONDITION" } });
  expect(stepped.data["message"]).toContain("there is no reward (too_large): the completion has");
  const { status, body } = await verify(host, TASK, tooLong);
  expect(status).toBe(409);
  expect(body["detail"]).toContain("there is no reward (too_large)");
  expect(body).not.toHaveProperty("reward");
});

test("a resource that is away is an error that says when to try again", async () => {
  await using mounting = await openMounting(DIGITS_FILE);
  const row = { environment: "mine/digits", level: "default", seed: 3 };
  using session = await open(mounting);
  await session.reset(row);
  const away = await session.step({ completion: "<think>hm</think><answer>13</answer>" });
  expect(away).toMatchObject({ type: "error", data: { code: "EXECUTION_ERROR", grpc_code: "UNAVAILABLE" } });
  expect(away.data["message"]).toContain("the abacus is away");
  expect(away.data["retry_delay_ms"]).toBeGreaterThan(0);
  // The client may make the step again.
  const again = await session.step({ completion: "<think>hm</think><answer>12</answer>" });
  expect(again.data).toMatchObject({ reward: 0.1, done: true });
  const { status, body } = await verify(mounting, row, "<think>hm</think><answer>13</answer>");
  expect(status).toBe(503);
  expect(body["detail"]).toContain("the abacus is away");
});
