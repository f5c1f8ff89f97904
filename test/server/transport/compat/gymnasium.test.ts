/**
 * Tests of /reset and /step, with requests in the form in which NeMo Gym's gymnasium_agent sends them, and in that of
 * OpenEnv's HTTP API. NeMo Gym itself needs a newer Python than CI has, and no client of OpenEnv uses that API.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../../../support/in-process.ts";

let host: TestServer;
beforeAll(async () => {
  host = await openServer({ store: "memory" });
});
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;

/** A client that keeps cookies. */
function client() {
  let cookie = "";
  return async (path: string, body: Json) => {
    const headers = { "content-type": "application/json", cookie };
    const response = await fetch(`${host.http}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) cookie = set.includes("Max-Age=0") ? "" : (set.split(";", 1)[0] ?? "");
    return { status: response.status, body: (await response.json()) as Json };
  };
}

const message = (text: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const guess = (id: string, code: readonly number[]): Json => ({
  type: "function_call",
  call_id: id,
  name: "guess",
  arguments: JSON.stringify({ code }),
});
const stepOf = (row: Json, ...output: readonly Json[]): Json => ({
  ...row,
  response: { id: "resp_1", object: "response", status: "completed", output, tools: [], tool_choice: "auto" },
});
const rowOf = (metadata: Json): Json => ({
  responses_create_params: { input: [] },
  verifier_metadata: metadata,
  agent_ref: { type: "responses_api_agents", name: "gymnasium_agent" },
});

test("NeMo Gym's agent plays tasks of one completion for the rewards of Steps", async () => {
  const rewards = new Set<unknown>();
  for (let seed = 0; seed < 20; seed++) {
    const post = client();
    const row = rowOf({ environment: "countdown", level: "T0", seed });
    const task = await host.client.reset({ environment: "countdown", level: "T0", seed });
    const shown = await post("/reset", row);
    expect(shown.body["observation"]).toBe(task.prompt.map(({ content }) => content).join("\n\n"));
    const { answer } = await host.client.solveTask(task);
    const text = `<think>so</think><answer>${seed % 2 === 0 ? answer : "1 + 1"}</answer>`;
    const stepped = await post("/step", stepOf(row, message(text)));
    const outcome = await host.client.step(task, text);
    if (outcome.kind !== "scored") throw new Error(outcome.detail);
    expect(stepped.body).toMatchObject({ observation: null, reward: outcome.reward, terminated: true });
    rewards.add(outcome.reward);
  }
  expect(rewards.size).toBeGreaterThan(1);
});

test("NeMo Gym's agent calls tools, and the last step has the whole reward", async () => {
  const post = client();
  const row = rowOf({ environment: "games/mastermind", level: "easy", seed: 1, tools: ["guess"], calls: 3 });
  await post("/reset", row);
  const first = await post("/step", stepOf(row, message("I begin."), guess("a", [1, 1, 2]), guess("b", [2, 2, 1])));
  const { tool_outputs: outputs } = first.body["info"] as { readonly tool_outputs: readonly Json[] };
  expect(first.body).toMatchObject({ observation: null, reward: 0, terminated: false, truncated: false });
  expect(outputs.map(({ call_id }) => call_id)).toEqual(["a", "b"]);
  expect(outputs[0]?.["output"]).toMatch(/\d/);
  const last = await post("/step", stepOf(row, guess("c", [3, 3, 3])));
  expect(last.body).toMatchObject({ terminated: true, reward: expect.any(Number) as number });
  // The episode is over, so that its cookie is gone.
  expect(await post("/step", stepOf(row, guess("d", [3, 3, 3])))).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/send a reset first/) as string },
  });
});

test("a step of OpenEnv's HTTP API has its episode in a cookie", async () => {
  const post = client();
  const shown = await post("/reset", { environment: "countdown", level: "T0", seed: 7 });
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
  const prompt = task.prompt.map(({ content }) => content).join("\n\n");
  expect(shown.body).toMatchObject({ observation: { prompt }, reward: null, done: false });
  const stepped = await post("/step", { action: { completion: "<answer>1 + 1</answer>" } });
  const outcome = await host.client.step(task, "<answer>1 + 1</answer>");
  expect(stepped.body).toMatchObject({ reward: outcome.kind === "scored" && outcome.reward, done: true });
  const split = await post("/reset", { environment: "games/mastermind", split: "easy:train", index: 3 });
  expect(split.status).toBe(200);
  const turn = await post("/step", { action: { message: "<answer>[1, 1, 2]</answer>" } });
  expect(turn.body).toMatchObject({ reward: null, done: false });
});

test("what cannot be played is refused, and no missing reward is a number", async () => {
  const row = rowOf({ environment: "countdown", level: "T0", seed: 7 });
  const post = client();
  expect((await post("/step", stepOf(row, message("too early")))).status).toBe(409);
  expect((await post("/reset", rowOf({ environment: "countdown" }))).status).toBe(422);
  expect((await post("/reset", { environment: "nowhere" })).status).toBe(404);
  await post("/reset", row);
  const wrong: readonly Json[] = [
    stepOf(row),
    stepOf(row, { type: "function_call", call_id: "a", name: "guess" }),
    { ...row, response: { status: "failed", output: [guess("a", [1])] } },
    { action: "text" },
    { action: {} },
  ];
  for (const body of wrong) expect((await post("/step", body)).status).toBe(422);
  const long = await post("/step", stepOf(row, message("x".repeat(300 * 1024))));
  expect([long.status, long.body["reward"]]).toEqual([409, undefined]);
  // The episode goes on after an error.
  expect((await post("/step", stepOf(row, message("<answer>1</answer>")))).body).toMatchObject({ terminated: true });
  expect((await fetch(`${host.http}/step`)).status).toBe(405);
});
