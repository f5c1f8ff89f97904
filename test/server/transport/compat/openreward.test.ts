/** Tests of OpenReward's sessions on the HTTP port of a whole server that asks for a token. */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../../../support/in-process.ts";

const TOKEN = "a-token-of-thirty-two-characters";
let host: TestServer;
beforeAll(async () => {
  const path = join(tmpdir(), `gradus-openreward-${process.pid}`);
  writeFileSync(path, TOKEN, { mode: 0o600 });
  host = await openServer({ store: "memory", tokenFile: path });
});
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;
/** Parts of the server's answers that the tests read. */
interface Body {
  readonly detail: string;
  readonly tools: readonly { readonly name: string }[];
  readonly tasks: readonly Json[];
  readonly env_name: string;
  readonly scores: readonly { readonly reward: number }[];
}
interface Answer {
  readonly status: number;
  readonly body: Body;
}
interface Output {
  readonly finished: boolean;
  readonly reward: number | null;
  readonly metadata: { readonly calls_left: number; readonly outcome: { readonly feedback: Json } };
}
interface Result {
  readonly ok: boolean;
  readonly output: Output;
}

const headersOf = (deployment: string, sid?: string): Record<string, string> => ({
  "x-api-key": TOKEN,
  "x-deployment": deployment,
  ...(sid !== undefined && { "x-session-id": sid }),
});

async function ask(path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
  const method = body === undefined ? "GET" : "POST";
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(`${host.http}${path}`, { method, headers, ...sent });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Returns the data of the events of a stream, by their names. */
async function events(path: string, headers: Record<string, string>, body: unknown): Promise<Record<string, string>> {
  const response = await fetch(`${host.http}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const found = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)];
  return Object.fromEntries(found.map(([, name = "", data = ""]): [string, string] => [name, data]));
}

/** Opens a session of a task. */
async function opened(deployment: string, spec: Json) {
  const { task_id: sid = "" } = await events("/create_session", headersOf(deployment), {});
  const headers = headersOf(deployment, sid);
  const created = await ask("/create", headers, { task_spec: spec, env_name: deployment });
  const call = async (name: string, input: Json, more: Json = {}): Promise<Result> => {
    const { end = "" } = await events("/call", headers, { name, input, ...more });
    return JSON.parse(end) as Result;
  };
  return { sid, headers, created, call };
}

const countdown = { level: "T0", split: "train", seed: 7 };

/** Returns the reward of a Step of the same task. */
async function scored(completion: string): Promise<number> {
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7, thinking: "stripped" });
  const outcome = await host.client.step(task, completion);
  if (outcome.kind !== "scored") throw new Error(outcome.detail);
  return outcome.reward;
}

test.each(["1 + 1", "<answer>1 + 1</answer>", "I think <answer>2 * (3 + 4)</answer>"])(
  "an answer earns the reward of a Step, whether it is marked or alone: %s",
  async (answer) => {
    const { created, headers, call } = await opened("countdown", countdown);
    expect(created.status).toBe(200);
    const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
    const prompt = await ask("/prompt", headers);
    expect(prompt.body).toEqual([
      {
        text: task.prompt.map(({ content }) => content).join("\n\n"),
        detail: null,
        type: "text",
      },
    ]);
    expect((await ask("/task_tools", headers)).body.tools.map(({ name }) => name)).toEqual(["submit_answer"]);
    const { ok, output } = await call("submit_answer", { answer });
    const marked = answer.includes("<answer>") ? answer : `<answer>${answer}</answer>`;
    expect([ok, output.finished, output.reward]).toEqual([true, true, await scored(marked)]);
    expect(await call("submit_answer", { answer })).toMatchObject({ ok: false });
  },
);

test("a wrong call of a tool costs nothing, and the session goes on", async () => {
  const { call } = await opened("countdown", countdown);
  expect(await call("guess", {})).toMatchObject({
    ok: false,
    error: expect.stringContaining("submit_answer") as string,
  });
  expect(await call("submit_answer", { answer: 3 })).toMatchObject({ ok: false });
  expect(await call("submit_answer", { answer: "1" })).toMatchObject({ ok: true, output: { finished: true } });
});

test("a game is played by its tools, and its last call has the return", async () => {
  const spec = { level: "easy", seed: 3 };
  const { call, headers } = await opened("games/mastermind", spec);
  const tools = (await ask("/task_tools", headers)).body.tools.map(({ name }) => name);
  expect(tools).toEqual(["guess", "submit_answer"]);
  const guesses = [1, 2, 3, 4].map((colour) => JSON.stringify({ code: [colour, 1, 1] }));
  const guessAt = (i: number): string => guesses[i % guesses.length] ?? "";
  const chosen = { environment: "games/mastermind", level: "easy", seed: 3, tools: ["guess"] };
  const task = await host.client.reset({ ...chosen, thinking: "stripped" });
  let count = 0;
  const [stepped] = await host.client.rollout(task, async () => ({
    text: "",
    toolCalls: [{ id: "", name: "guess", argumentsJson: guessAt(count++) }],
  }));
  const rewards: (number | null)[] = [];
  for (let i = 0; i < count; i++) {
    const { output } = await call("guess", JSON.parse(guessAt(i)) as Json);
    expect(output.finished).toBe(i === count - 1);
    rewards.push(output.reward);
  }
  const outcome = stepped?.outcome;
  if (outcome?.kind !== "scored") throw new Error("the episode has no score");
  expect(rewards).toEqual([...Array.from({ length: count - 1 }, () => null), outcome.reward]);
});

test("a result is sent again to a client that asks for it by its number, and changes nothing", async () => {
  const { call } = await opened("games/mastermind", { level: "easy", seed: 3 });
  const first = await call("guess", { code: [1, 1, 2] });
  expect(await call("guess", { code: [1, 1, 2] }, { task_id: "0" })).toEqual(first);
  const second = await call("guess", { code: [2, 2, 1] });
  expect(second.output.metadata.calls_left).toBe(first.output.metadata.calls_left - 1);
  await expect(call("guess", { code: [1, 1, 2] }, { task_id: "0" })).rejects.toThrow("409");
});

test("calls that come at once are played one after the other", async () => {
  const { call } = await opened("games/mastermind", { level: "easy", seed: 3 });
  const all = await Promise.all([1, 2, 3].map((colour) => call("guess", { code: [colour, 1, 1] })));
  const left = all.map(({ output }) => output.metadata.calls_left).toSorted((a, b) => a - b);
  const [least = 0] = left;
  expect(left).toEqual([least, least + 1, least + 2]);
});

test("a run's task is one of the group's samples, and the run learns of it", async () => {
  const run = host.client.run("rewarded");
  const arms = [{ id: "t0", environment: "countdown", level: "T0" }];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 2 });
  const both = await Promise.all([1, 2].map(() => opened("countdown", { run: "rewarded", cursor: 0 })));
  const rewards = await Promise.all(both.map(({ call }) => call("submit_answer", { answer: "2" })));
  const feedback = rewards.map(({ output }) => output.metadata.outcome.feedback);
  expect(feedback.map((each) => each["status"])).toEqual(["FEEDBACK_STATUS_RECORDED", "FEEDBACK_STATUS_RECORDED"]);
  expect((await run.get()).state?.samplesRecorded).toBe(2n);
});

test("tasks are seeds, which are counted and given in ranges but not listed", async () => {
  const headers = headersOf("np/tsp");
  const named = ["train", "eval", "bench"].map((name): unknown => expect.objectContaining({ name }));
  expect((await ask("/splits", headers)).body).toEqual(named);
  expect((await ask("/num_tasks", headers, { split: "train" })).body).toEqual({ num_tasks: 1_000_000 });
  const { body } = await ask("/easy/task_range", headers, { split: "validation", start: -2 });
  expect(body.env_name).toBe("easy");
  expect(body.tasks).toEqual(
    [999_998, 999_999].map((seed) => ({ environment: "np/tsp", level: "easy", split: "eval", seed })),
  );
  expect(await ask("/easy/task", headers, { split: "train", index: 5 })).toMatchObject({
    body: { task: { seed: 5, level: "easy" } },
  });
  expect((await ask("/tasks", headers, { split: "train" })).status).toBe(501);
  expect((await ask("/task_range", headers, { split: "train" })).status).toBe(422);
});

test.each([
  [{ split: "train", index: 3 }, 200],
  [{ split: "holiday", index: 3 }, 422],
  [{ split: "train", index: -1 }, 422],
  [{ task_spec: { level: "T0" } }, 422],
  [{ task_spec: { level: "T9", seed: 1 } }, 422],
  [{ task_spec: { environment: "np/tsp", seed: 1 } }, 422],
  [{ task_spec: { seed: 1, colour: "red" } }, 422],
  [{ task_spec: { run: "none", cursor: 0 } }, 404],
  ["{", 422],
])("a session's task is checked: %j", async (body, status) => {
  const { task_id: sid = "" } = await events("/create_session", headersOf("countdown"), {});
  expect((await ask("/create", headersOf("countdown", sid), body)).status).toBe(status);
});

test("a token is asked for, and a session belongs to its caller until it is deleted", async () => {
  const { headers, sid } = await opened("countdown", countdown);
  expect((await ask("/ping", { ...headers, "x-api-key": "another-token-of-some-length" }, {})).status).toBe(401);
  expect((await ask("/ping", headers, {})).body).toEqual({ status: "ok" });
  expect((await ask("/create", headers, { task_spec: countdown })).body).toEqual({ sid });
  expect((await ask("/create", headers, { task_spec: { ...countdown, seed: 8 } })).status).toBe(409);
  expect((await ask("/delete_session", { "x-api-key": TOKEN, "x-session-id": sid }, {})).body).toEqual({ sid });
  for (const path of ["/prompt", "/task_tools"]) expect((await ask(path, headers)).status).toBe(410);
  expect((await ask("/ping", headers, {})).status).toBe(410);
  expect((await ask("/ping", { ...headers, "x-session-id": "guessed" }, {})).status).toBe(422);
  expect((await ask("/splits", headersOf("np/tps"))).body.detail).toContain("np/tsp");
});

test("a call of a body that is too long, or has too many parts, is refused before it is parsed", async () => {
  const { headers, call } = await opened("countdown", countdown);
  const parts = `{"name":"submit_answer","input":{"answer":[${"1,".repeat(70_000)}1]}}`;
  expect(await ask("/call", headers, parts)).toMatchObject({ status: 422 });
  const long = await ask("/call", headers, `{"name":"x","input":{"answer":"${"x".repeat(1.7 * 1024 ** 2)}"}}`);
  expect(long.status).toBe(429);
  const { output } = await call("submit_answer", { answer: "\u001f".repeat(200 * 1024) });
  expect(output.finished).toBe(true);
});

test("an answer beyond the limit of completions has no reward: the call fails", async () => {
  const { call } = await opened("countdown", countdown);
  await expect(call("submit_answer", { answer: "x".repeat(300 * 1024) })).rejects.toThrow(/409.*too_large/);
});

test("a task of one completion may be answered by a message, and its candidates are scored together", async () => {
  const { headers } = await opened("countdown", countdown);
  const tools = (await ask("/task_tools", headers)).body;
  expect(tools).toMatchObject({ terminal_tool: { name: "submit_answer", arg: "answer" }, supports_score_group: true });
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
  expect((await ask("/messages", headers)).body).toEqual(
    task.prompt.map(({ role, content }): unknown => ({
      role,
      blocks: [{ text: content, detail: null, type: "text" }],
      detail: null,
    })),
  );
  const candidate = (text: string) => ({
    messages: [
      { role: "user", blocks: [{ type: "text", text: "Well?" }] },
      { role: "assistant", blocks: [{ type: "text", text }] },
    ],
    metadata: null,
  });
  const texts = ["<answer>1</answer>", "2", "nothing"];
  const { end = "" } = await events("/score_group", headers, { candidates: texts.map(candidate) });
  const rewards = (JSON.parse(end) as Body).scores.map(({ reward }) => reward);
  expect(rewards).toEqual(
    await Promise.all([texts[0] ?? "", "<answer>2</answer>", "<answer>nothing</answer>"].map(scored)),
  );
  // One candidate without a reward fails the group.
  const one = { candidates: ["1", "x".repeat(300 * 1024)].map(candidate) };
  await expect(events("/score_group", headers, one)).rejects.toThrow(/409.*too_large/);
  await expect(events("/score_group", headers, { candidates: [{ messages: [] }] })).rejects.toThrow("422");
  const game = await opened("games/mastermind", { level: "easy", seed: 3 });
  expect((await ask("/task_tools", game.headers)).body).toMatchObject({
    terminal_tool: null,
    supports_score_group: false,
  });
  await expect(events("/score_group", game.headers, { candidates: [candidate("1")] })).rejects.toThrow("404");
});

test("the token may be the secret api_key of a session", async () => {
  const secrets = Buffer.from(JSON.stringify({ api_key: { value: TOKEN, allowed_domains: [] } })).toString("base64");
  const { "x-api-key": _, ...headers } = headersOf("countdown");
  expect((await ask("/splits", { ...headers, "x-secrets": secrets })).status).toBe(200);
  for (const wrong of ["", "e30=", "bnVsbA==", "!"])
    expect((await ask("/splits", { ...headers, "x-secrets": wrong })).status).toBe(401);
});
