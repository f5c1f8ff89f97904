/** Tests of OpenEnv's paths beside its sessions: descriptions, the Task API, and tools over /mcp. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient, type GradusClient } from "../../../../clients/ts/src/index.ts";
import { readMessage } from "../../../../server/transport/compat/openenv/message.ts";
import { takeSeat } from "../../../../server/transport/compat/openenv/seats.ts";
import { createSessions } from "../../../../server/transport/compat/openenv/sessions.ts";
import type { Player } from "../../../../server/transport/compat/openenv/play.ts";
import { createPlaces } from "../../../../server/transport/compat/session-places.ts";
import { openServer, type TestServer } from "../../../support/in-process.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const TOKEN = "a-token-of-thirty-two-characters";
const OTHER = "another-token-of-32-characters-x";
const VIEWER = "a-viewers-token-of-32-characters";
const folder = temporaryFolder();
let host: TestServer;
let client: GradusClient;
beforeAll(async () => {
  const tokens = [
    { name: "one", role: "operator", token: TOKEN },
    { name: "other", role: "trainer", token: OTHER },
    { name: "viewer", role: "viewer", token: VIEWER },
  ];
  const path = join(folder.path, "tokens.json");
  writeFileSync(path, JSON.stringify(tokens), { mode: 0o600 });
  host = await openServer({ store: "memory", tokensFile: path });
  client = createClient(host.address, { token: TOKEN });
});
afterAll(async () => {
  client.close();
  await host[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

type Json = Readonly<Record<string, unknown>>;

/** Asks as OpenEnv's clients do, with the token as the password of the address. */
async function ask(path: string, body?: unknown, token = TOKEN): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Basic ${Buffer.from(`any:${token}`).toString("base64")}` };
  const sent =
    body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await fetch(`${host.http}${path}`, { headers, ...sent });
  return { status: response.status, body: await response.json() };
}

let ids = 0;
async function rpc(method: string, params: Json = {}, token = TOKEN): Promise<Json> {
  const id = ++ids;
  const { status, body } = await ask("/mcp", { jsonrpc: "2.0", id, method, params }, token);
  expect([status, (body as Json)["id"]]).toEqual([200, id]);
  return body as Json;
}

async function opened(path: string, token = TOKEN) {
  const socket = new WebSocket(`${host.http.replace("http://", `ws://any:${token}@`)}${path}`);
  const refused = once(socket, "unexpected-response").then(([, { statusCode }]) => {
    throw new Error(`refused with ${statusCode}`);
  });
  socket.on("error", () => undefined);
  await Promise.race([once(socket, "open"), refused]);
  refused.catch(() => undefined);
  return {
    socket,
    async say(type: string, data: Json) {
      socket.send(JSON.stringify({ type, data }));
      const [reply] = (await once(socket, "message")) as [Buffer];
      return JSON.parse(reply.toString()) as { readonly type: string; readonly data: Json };
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

test("an action has exactly one field, a required text, and the schema is there before any reset", async () => {
  for (const path of ["/schema", "/np/tsp/schema"]) {
    const { status, body } = await ask(path, undefined, VIEWER);
    const { action, observation, state } = body as Record<string, Json>;
    expect(status).toBe(200);
    expect([Object.keys(action?.["properties"] as Json), action?.["required"]]).toEqual([
      ["completion"],
      ["completion"],
    ]);
    expect([observation?.["type"], state?.["type"]]).toEqual(["object", "object"]);
  }
});

test("the server describes itself, and says whether it is healthy to callers without a token", async () => {
  expect(await (await fetch(`${host.http}/health`)).json()).toEqual({ status: "healthy" });
  expect((await ask("/openapi.json")).body).toMatchObject({ info: { version: "1.0.0" } });
  expect((await ask("/metadata")).body).toMatchObject({ name: "gradus" });
  expect((await ask("/np/tsp/metadata")).body).toMatchObject({ name: "np/tsp" });
  expect(await ask("/np/tps/metadata")).toMatchObject({ status: 404, body: { grpc_code: "NOT_FOUND" } });
  for (const path of ["/schema", "/metadata", "/openapi.json", "/list_environments", "/np/tsp/splits"])
    expect((await ask(path, undefined, "no-token")).status).toBe(401);
  expect((await ask("/schema", {})).status).toBe(405);
  expect((await ask("/mcp", {}, VIEWER)).status).toBe(403);
});

test.each([
  ["{}", -32600],
  ["not JSON", -32700],
  ["[]", -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"initialize"}', -32601],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"guess"}}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"guess","arguments":{"a":1,"a":2}}}', -32602],
  [`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":[${"[],".repeat(5000)}0]}}`, -32602],
])("/mcp answers %s by the code of JSON-RPC", async (sent, code) => {
  expect(await ask("/mcp", sent)).toMatchObject({ status: 200, body: { jsonrpc: "2.0", error: { code } } });
});

test("a task of the Task API is what a reset takes, by its fields or by split and index", async () => {
  const ids = (await ask("/list_environments")).body as string[];
  expect(ids).toEqual(expect.arrayContaining(["countdown", "np/tsp", "games/mastermind"]));
  const splits = (await ask("/np/tsp/splits")).body as { name: string; type: string }[];
  expect(splits.slice(0, 2)).toEqual([
    { name: "train", type: "train" },
    { name: "eval", type: "validation" },
  ]);
  const { num_tasks: count } = (await ask("/np%2Ftsp/num_tasks", { split: "easy:eval" })).body as Json;
  const all = (await ask("/np/tsp/tasks", { split: "easy:eval" })).body as { tasks: Json[] };
  expect(all.tasks).toHaveLength(count as number);
  const { task } = (await ask("/np/tsp/task", { split: "easy:eval", index: 17 })).body as { task: Json };
  expect(task).toEqual({ environment: "np/tsp", level: "easy", split: "eval", seed: 17 });
  expect((await ask("/np/tsp/task_range", { split: "easy:eval", start: 16, stop: 18 })).body).toEqual({
    tasks: [all.tasks[16], task],
  });
  using plain = await opened("/ws");
  using named = await opened("/np/tsp/ws");
  const shown = [
    await plain.say("reset", task),
    await named.say("reset", { seed: 3, split: "easy:eval", index: 17 }),
  ].map(({ data }) => (data["observation"] as Json)["prompt"]);
  expect(shown[0]).toMatch(/./);
  expect(shown[1]).toBe(shown[0]);
});

test("an address that ends with an environment names this environment alone", async () => {
  const [only] = (await ask("/np/tsp/list_environments")).body as string[];
  expect(only).toBe("np/tsp");
  expect((await ask(`/np/tsp/${only}/num_tasks`, { split: "train" })).body).toEqual({ num_tasks: 4096 });
});

test.each([
  ["/np/tsp/num_tasks", { split: "weird" }, 422, "split: must be one of train, eval, "],
  ["/np/tsp/task", { split: "train", index: -1 }, 422, "index: "],
  ["/np/tsp/task_range", { split: "train", stop: 1e9 }, 422, "stop: "],
  ["/np/tsp/tasks", "[]", 422, "JSON object"],
  ["/np/tps/tasks", { split: "train" }, 404, "np/tsp"],
])("the Task API refuses %s %j", async (path, body, status, words) => {
  const refused = await ask(path, body);
  expect(refused).toMatchObject({ status, body: { detail: expect.stringContaining(words) as string } });
});

test("a session of /mcp plays a task by its tools, for the reward of a Step", async () => {
  const { session_id: id } = (await rpc("openenv/session/create"))["result"] as Json;
  using socket = await opened(`/ws?session_id=${String(id)}`);
  await expect(opened(`/ws?session_id=${String(id)}`)).rejects.toThrow("409");
  await expect(opened(`/ws?session_id=${String(id)}`, OTHER)).rejects.toThrow("404");
  const begun = await socket.say("reset", { environment: "games/mastermind", level: "easy", seed: 1, calls: 2 });
  expect(begun.data).toMatchObject({ reward: null, done: false });
  const list = (await rpc("tools/list", { session_id: id }))["result"] as { readonly tools: readonly Json[] };
  expect(list.tools.map(({ name }) => name)).toEqual(["guess"]);
  expect(list.tools[0]?.["inputSchema"]).toMatchObject({ properties: { code: { type: "array" } } });
  const call = { session_id: id, name: "guess", arguments: { code: [1, 1, 2] } };
  expect(await rpc("tools/call", call, OTHER)).toMatchObject({ error: { data: { grpc_code: "NOT_FOUND" } } });
  const first = (await rpc("tools/call", call))["result"] as { readonly data: Json };
  expect(first.data).toMatchObject({ done: false, reply: expect.stringContaining("in place") as string });
  expect(first.data).not.toHaveProperty("reward");
  // The second call comes over the socket, and its reply is that of the same episode.
  const last = await socket.say("step", { type: "call_tool", tool_name: "guess", arguments: { code: [2, 1, 2] } });
  expect(last.data).toMatchObject({ done: true, observation: { tool_name: "guess" } });

  const task = await client.reset({
    environment: "games/mastermind",
    level: "easy",
    seed: 1,
    calls: 2,
    tools: ["guess"],
  });
  const calls = [
    [1, 1, 2],
    [2, 1, 2],
  ].map((code) => ({ id: "", name: "guess", argumentsJson: JSON.stringify({ code }) }));
  const stepped = await client.step(task, "", { toolCalls: calls });
  expect(stepped).toMatchObject({ kind: "scored", reward: last.data["reward"] });
  expect(await rpc("tools/call", call)).toMatchObject({ error: { data: { grpc_code: "FAILED_PRECONDITION" } } });
  expect(await rpc("openenv/session/close", { session_id: id })).toMatchObject({ result: { closed: true } });
  expect(await rpc("tools/list", { session_id: id })).toMatchObject({ error: { data: { grpc_code: "NOT_FOUND" } } });
});

test("a task of several turns is played by texts, and its end has the reward", async () => {
  using socket = await opened("/games/mastermind/ws");
  await socket.say("reset", { level: "easy", seed: 1, calls: 2 });
  const turn = await socket.say("step", { completion: "<think>a</think><answer>1 1 2</answer>" });
  expect(turn.data).toMatchObject({ reward: null, done: false, metadata: { calls_left: 1 } });
  expect((turn.data["observation"] as Json)["prompt"]).toMatch(/./);
  const end = await socket.say("step", { end: true });
  expect(end.data).toMatchObject({ reward: 0, done: true, observation: { outcome: { score: { calls: 1 } } } });
});

test("arguments of a tool are those that the client wrote, also beyond 2^53", () => {
  const sent =
    '{"type":"step","data":{"type":"call_tool","tool_name":"guess","arguments":{"a":[12345678901234567890]}}}';
  expect(readMessage(Buffer.from(sent))).toEqual({
    kind: "call_tool",
    data: { tool_name: "guess", arguments_json: '{"a":[12345678901234567890]}' },
  });
});

test("10,000 sessions that a caller opens over /mcp and leaves take no place from another caller", () => {
  const sessions = createSessions(createPlaces(256));
  const player = {} as Player;
  const outcomes = Array.from({ length: 10_000 }, () => {
    try {
      return sessions.create("mine", player);
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  });
  expect(new Set(outcomes.slice(256))).toEqual(new Set(["RESOURCE_EXHAUSTED"]));
  const other = Array.from({ length: 100 }, () => sessions.create("other", player));
  for (const id of other) expect(sessions.find(id, "other").player).toBe(player);
  // The caller with most sessions lost as many, the longest idle first.
  expect(() => sessions.find(outcomes[99], "mine")).toThrow("no such session");
  expect(sessions.find(outcomes[100], "mine").player).toBe(player);
  sessions.close();
  expect(() => sessions.find(other[0], "other")).toThrow("no such session");
});

test("a seat is idle only while none of its requests is answered", () => {
  const places = createPlaces(1);
  const seat = takeSeat(places, "mine");
  seat?.begin();
  seat?.begin();
  seat?.finish();
  expect(takeSeat(places, "mine")).toBeUndefined();
  seat?.finish();
  seat?.leave();
  expect(takeSeat(places, "other")).toBeDefined();
});
