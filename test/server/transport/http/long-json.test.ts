/** Tests that JSON which a thread reads means the same as JSON which the event loop reads. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { LONG_JSON_BYTES } from "../../../../server/transport/http/long-json.ts";
import { openServer, type TestServer } from "../../../support/in-process.ts";

let host: TestServer;
beforeAll(async () => void (host = await openServer({ store: "memory" })));
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;

async function post(path: string, body: string): Promise<{ readonly status: number; readonly body: Json }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${host.http}${path}`, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as Json };
}

/** Makes a text long by white space at its end, which changes nothing. */
const lengthened = (json: string): string => json + " ".repeat(LONG_JSON_BYTES);

const STEP = "/gradus.v1.EnvironmentService/Step";
const ROW = { environment: "countdown", level: "T0", seed: 7 };
// The right answer of that task.
const WHOLE = "<think>97 - 44 is 53</think><answer>82 - (97 - 44)</answer>";
const response = { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: WHOLE }] }] };

test.each([
  ["a task that is none", STEP, '{"taskId":"none","completion":"1"}'],
  ["a field that there is not", STEP, '{"task":"none"}'],
  ["a number beyond 2^53", "/gradus.v1.EnvironmentService/Reset", '{"seed":12345678901234567890}'],
  ["half a surrogate pair", STEP, String.raw`{"completion":"\ud800"}`],
  ["no JSON", STEP, '{"completion":'],
  ["a task", "/gradus.v1.EnvironmentService/Reset", '{"spec":{"environment":"countdown","level":"T0"},"seed":"7"}'],
  ["a row of NeMo Gym", "/seed_session", JSON.stringify(ROW)],
  ["a response of NeMo Gym", "/verify", JSON.stringify({ ...ROW, response })],
  ["a response in a row that names its task apart", "/verify", JSON.stringify({ verifier_metadata: ROW, response })],
  ["a row without a response", "/verify", JSON.stringify(ROW)],
  ["a row without a seed", "/seed_session", '{"environment":"countdown"}'],
  ["a list in place of a row", "/verify", "[1]"],
])("%s gets the same answer in a long text", async (_, path, body) => {
  const [short, long] = [await post(path, body), await post(path, lengthened(body))];
  // Task ids hold the time at which they were made.
  const masked = (answer: Json): unknown =>
    JSON.parse(JSON.stringify(answer).replaceAll(/"(task_?id|group_?id)":"[^"]*"/gi, '"$1":""'));
  expect({ ...long, body: masked(long.body) }).toEqual({ ...short, body: masked(short.body) });
});

test("an answer repeats the whole row, and its own fields replace those of the row", async () => {
  const notes = { text: "ä\u001f💡".repeat(LONG_JSON_BYTES / 8), list: [1, null, { a: "b" }] };
  const row = { verifier_metadata: ROW, response, reward: 7, outcome: "mine", notes };
  const { status, body } = await post("/verify", JSON.stringify(row));
  expect(status).toBe(200);
  expect(body).toEqual({ ...row, reward: 1, outcome: expect.objectContaining({}) as unknown });
});

test("a long message of OpenEnv is answered as a short one is", async () => {
  const socket = new WebSocket(`${host.http.replace("http", "ws")}/ws`);
  await once(socket, "open");
  const say = async (text: string): Promise<Json> => {
    socket.send(text);
    const [reply] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(reply.toString()) as Json;
  };
  for (const wrong of ["{", '{"type":"stop"}', '{"type":"reset","data":[]}', '{"type":"reset","data":{"seed":-1}}'])
    expect(await say(lengthened(wrong))).toEqual(await say(wrong));
  await say(lengthened(JSON.stringify({ type: "reset", data: ROW })));
  const step = await say(lengthened(JSON.stringify({ type: "step", data: { completion: WHOLE } })));
  expect(step).toMatchObject({ type: "observation", data: { reward: 1, done: true } });
  socket.close();
});

test("texts of ids are bounded, and completions may be longer", async () => {
  const text = "x".repeat(9 * 1024 ** 2);
  const batch = async (group: object) => post("/gradus.v1.EnvironmentService/BatchStep", JSON.stringify(group));
  const ids = await batch({ groups: [{ taskId: text }] });
  expect(ids.body["message"]).toBe(
    "the request has more than 8388608 bytes of texts that are no completions (here task_id): send it in several requests",
  );
  const long = await batch({ groups: [{ taskId: "none", completions: [{ text }] }] });
  expect(JSON.stringify(long.body)).not.toContain("texts that are no completions");
});
