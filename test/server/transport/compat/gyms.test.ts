/** Tests of OpenEnv's sessions and NeMo Gym's two calls, on the HTTP port of a whole server that asks for a token. */
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openServer, type TestServer } from "../../../support/in-process.ts";

const TOKEN = "a-token-of-thirty-two-characters";
let host: TestServer;
beforeAll(async () => {
  const path = join(tmpdir(), `gradus-gyms-${process.pid}`);
  writeFileSync(path, TOKEN, { mode: 0o600 });
  host = await openServer({ store: "memory", tokenFile: path });
});
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;
interface Reply {
  readonly type: string;
  readonly data: Json & { readonly observation?: Json; readonly reward?: number | null; readonly done?: boolean };
}

const at = (): string => host.http.replace(/^http:\/\//, "");

/**
 * Opens a client whose answers come in the order of its messages. `password` is that of the address, in which its
 * clients carry a token.
 */
async function open(password = TOKEN) {
  const socket = new WebSocket(`ws://any:${password}@${at()}/ws`);
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (_, { statusCode }) => reject(new Error(`refused with ${statusCode}`)));
  });
  const waiting: { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void }[] = [];
  socket.on("message", (data) => waiting.shift()?.resolve(JSON.parse((data as Buffer).toString()) as Reply));
  socket.on("close", () => waiting.forEach(({ reject }) => reject(new Error("the session ended"))));
  const ask = (message: unknown): Promise<Reply> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      socket.send(typeof message === "string" ? message : JSON.stringify(message));
    });
  return {
    reset: (data: Json) => ask({ type: "reset", data }),
    step: (data: Json) => ask({ type: "step", data }),
    ask,
    [Symbol.dispose]: () => socket.close(),
  };
}

/** Returns the reward of a Step of the seed's task. */
async function scored(completion: string): Promise<number> {
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
  const outcome = await host.client.step(task, completion);
  if (outcome.kind !== "scored") throw new Error(outcome.detail);
  return outcome.reward;
}

test("a session without the token is refused before it is one", async () => {
  await expect(open("another")).rejects.toThrow("401");
});

test("the guide's example earns the reward that it names", async () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/other-gyms.md"), "utf8");
  const [, given = ""] = /env\.reset\((.*)\)$/m.exec(guide) ?? [];
  const [, completion = ""] = /env\.step\(\{"completion": "(.*)"\}\)$/m.exec(guide) ?? [];
  const [, reward = ""] = /print\(result\.reward\) {2}# → (.*)$/m.exec(guide) ?? [];
  const choice = given.split(", ").map((each) => each.split("="));
  using session = await open();
  const fields = choice.map(([name, value = ""]): [string | undefined, unknown] => [name, JSON.parse(value)]);
  const begun = await session.reset(Object.fromEntries(fields) as Json);
  expect(begun.type).toBe("observation");
  const stepped = await session.step({ completion });
  expect(Number(reward)).toBeGreaterThan(0);
  expect(stepped.data.reward).toBe(Number(reward));
});

test("an episode is a task by its seed, and one completion that is scored as a Step is", async () => {
  using session = await open();
  const choice = { environment: "countdown", level: "T0", seed: 7 };
  const begun = await session.reset(choice);
  expect(begun).toMatchObject({ type: "observation", data: { reward: null, done: false } });
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
  expect(begun.data.observation).toEqual({ prompt: task.prompt.map(({ content }) => content).join("\n\n") });
  expect(begun.data["metadata"]).toMatchObject({
    environment: "countdown",
    level: "T0",
    messages: task.prompt.map(({ content }): unknown => expect.objectContaining({ content })),
  });
  const completion = "<think>no</think><answer>1 + 1</answer>";
  const stepped = await session.step({ completion });
  expect(stepped.data.reward).toBe(await scored(completion));
  expect(stepped.data.done).toBe(true);
  expect(await session.step({ completion })).toMatchObject({
    type: "error",
    data: { grpc_code: "FAILED_PRECONDITION" },
  });
  expect(await session.ask({ type: "state" })).toMatchObject({ type: "state", data: { step_count: 1 } });
});

test("a session plays a run's task at its cursor as one of the group's samples, and the run learns of it", async () => {
  const run = host.client.run("played");
  const arms = [{ id: "t0", environment: "countdown", level: "T0" }];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 2 });
  using first = await open();
  using second = await open();
  const groups = await Promise.all(
    [first, second].map((each, i) => each.reset({ run: "played", cursor: 0, sample_index: i })),
  );
  const [one, other] = groups.map(({ data }) => (data["metadata"] as Json)["group_id"]);
  expect(one).toBe(other);
  for (const each of [first, second]) {
    const { data } = await each.step({ message: "<answer>2</answer>" });
    expect((data.observation?.["outcome"] as Json)["feedback"]).toMatchObject({ status: "FEEDBACK_STATUS_RECORDED" });
  }
  const { state } = await run.get();
  expect(state?.samplesRecorded).toBe(2n);
  // The session goes on from its last state.
  expect((await first.reset({ run: "played" })).data["metadata"]).toMatchObject({ cursor: "1" });
});

test.each([
  ["not JSON", "INVALID_JSON", "not JSON"],
  [{ type: "dance" }, "UNKNOWN_TYPE", '"reset"'],
  [{ type: "reset", data: {} }, "VALIDATION_ERROR", "environment: "],
  [{ type: "reset", data: { environment: "np/tps" } }, "EXECUTION_ERROR", "np/tsp"],
  [{ type: "reset", data: { environment: "np/tsp", colour: 1 } }, "VALIDATION_ERROR", "colour: "],
  [{ type: "reset", data: { environment: "np/tsp", seed: -1 } }, "VALIDATION_ERROR", "seed: "],
  [{ type: "step", data: { completion: "x" } }, "EXECUTION_ERROR", "reset first"],
])("a wrong message is told, and the session goes on: %j", async (message, code, words) => {
  using session = await open();
  const { type, data } = await session.ask(message);
  expect([type, data["code"]]).toEqual(["error", code]);
  expect(data["message"]).toContain(words);
  expect(await session.reset({ environment: "np/tsp", level: "easy" })).toMatchObject({ type: "observation" });
});

async function answered(method: string): Promise<number> {
  const asked = await fetch(`${host.http}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const counts = (await asked.text()).matchAll(/^gradus_calls_total{([^}]*)} (\d+)$/gm);
  return [...counts].reduce((sum, [, of = "", count]) => sum + (of.includes(`"${method}"`) ? Number(count) : 0), 0);
}

test("messages that come at once are answered one after the other", async () => {
  using session = await open();
  const data = { environment: "countdown", level: "T0", seed: 7 };
  const episodes = Array.from({ length: 20 }, () => [session.reset(data), session.step({ completion: "none" })]);
  const replies = await Promise.all(episodes.flat());
  expect(replies.map((reply) => reply.data.done)).toEqual(episodes.flatMap(() => [false, true]));
});

test("a session whose answers are not read is worked on no further", async () => {
  const MESSAGES = 1000;
  const socket = new WebSocket(`ws://any:${TOKEN}@${at()}/ws`);
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "reset", data: { environment: "np/tsp", level: "benchmark", split: "eval" } }));
  await once(socket, "message");
  socket.pause();
  // The answers have 20 kilobytes each: together far more than the system buffers for a client that does not read.
  for (let i = 0; i < MESSAGES; i++) socket.send('{"type":"state"}');
  let [before, now] = [-1, 0];
  while (before !== now) {
    await setTimeout(250);
    [before, now] = [now, await answered("openenv/state")];
  }
  expect(now).toBeLessThan(MESSAGES);
  // Once they are read, the rest are answered.
  let read = 0;
  const all = new Promise<void>((resolve) => socket.on("message", () => ++read === MESSAGES && resolve()));
  socket.resume();
  await all;
  socket.close();
});

async function post(path: string, body: unknown, token = TOKEN): Promise<{ status: number; body: Json }> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(`http://${at()}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Json };
}

test("NeMo Gym's row is a task, and its response comes back with the reward of a Step", async () => {
  const row = {
    verifier_metadata: { environment: "countdown", level: "T0", seed: 7 },
    responses_create_params: { input: [] },
  };
  const seeded = await post("/seed_session", row);
  expect(seeded).toMatchObject({ status: 200, body: { environment: "countdown", level: "T0" } });
  const text = "<think>no</think><answer>1 + 1</answer>";
  const response = {
    output: [
      { type: "reasoning", summary: [] },
      { type: "message", content: [{ type: "output_text", text }] },
    ],
  };
  const verified = await post("/verify", { ...row, response });
  const reward = await scored(text);
  expect(verified).toMatchObject({ status: 200, body: { ...row, response, reward } });
});

test("what NeMo Gym's calls lack is told by status and in words", async () => {
  expect(await post("/verify", {}, "another")).toMatchObject({ status: 401 });
  expect(await post("/verify", { environment: "countdown", seed: 1 })).toMatchObject({
    status: 422,
    body: { grpc_code: "INVALID_ARGUMENT" },
  });
  expect(await post("/seed_session", { environment: "countdown" })).toMatchObject({ status: 422 });
  expect(await post("/seed_session", { environment: "count", seed: 1 })).toMatchObject({ status: 404 });
});

test("NeMo Gym's calls leave nothing on the connection that they come over", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", warn);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  for (let i = 0; i < 12; i++) {
    const asked = request(`${host.http}/seed_session`, {
      agent,
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    asked.on("socket", (socket) => sockets.add(socket));
    asked.end(JSON.stringify({ environment: "countdown", level: "T0", seed: i }));
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
  }
  agent.destroy();
  process.off("warning", warn);
  expect(sockets.size).toBe(1);
  expect(warnings.map(({ name }) => name)).toEqual([]);
});
