/** NeMo Gym's /verify reads the assistant's final message and the thoughts before it as the completion. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../../../support/in-process.ts";

let host: TestServer;
beforeAll(async () => void (host = await openServer({ store: "memory" })));
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;

// The answer of the countdown task of seed 7, which earns 1, and the marks that its prompt asks for.
const RIGHT = "82 - (97 - 44)";
const THINKS = "97 - 44 is 53";
const ANSWER = `<answer>${RIGHT}</answer>`;

const text = (words: string): Json => ({ type: "output_text", text: words, annotations: [] });
const message = (words: string, role = "assistant"): Json => ({ type: "message", role, content: [text(words)] });
const thoughts = (words: string): Json => ({ type: "reasoning", summary: [{ type: "summary_text", text: words }] });
const CALL: Json = { type: "function_call", call_id: "1", name: "look", arguments: "{}" };
const RESULT: Json = { type: "function_call_output", call_id: "1", output: ANSWER };
const WHOLE = message(`<think>${THINKS}</think>${ANSWER}`);

async function verify(response: unknown): Promise<{ readonly status: number; readonly body: Json }> {
  const row = { verifier_metadata: { environment: "countdown", level: "T0", seed: 7 } };
  const headers = { "content-type": "application/json" };
  const sent = JSON.stringify({ ...row, response });
  const reply = await fetch(`${host.http}/verify`, { method: "POST", headers, body: sent });
  return { status: reply.status, body: (await reply.json()) as Json };
}

test.each([
  ["one message", [WHOLE]],
  ["a message without a type and a role", [{ content: `<think>${THINKS}</think>${ANSWER}` }]],
  [
    "a message of several parts",
    [{ type: "message", content: [text("<think>hm</think><answer>82 - "), text("(97 - 44)</answer>")] }],
  ],
  ["two messages in a row", [message("<think>hm</think>It is this. "), message(ANSWER)]],
  ["a reasoning item with a summary", [thoughts(THINKS), message(ANSWER)]],
  [
    "a reasoning item with the thoughts themselves",
    [
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "</think><answer>1</answer>" }],
        content: [{ type: "reasoning_text", text: THINKS }],
      },
      message(ANSWER),
    ],
  ],
  [
    "a reasoning item whose thoughts are encrypted",
    [{ type: "reasoning", summary: [], encrypted_content: "gAAA" }, message(ANSWER)],
  ],
  ["several reasoning items", [thoughts("first"), thoughts("second"), message(ANSWER)]],
  ["reasoning before a message that brings its own thoughts", [thoughts(THINKS), WHOLE]],
  [
    "a hosted tool's item and thoughts before the message",
    [{ type: "web_search_call", status: "completed" }, thoughts(THINKS), message(ANSWER)],
  ],
  ["a message after a tool was called", [message("Wait."), CALL, RESULT, thoughts(THINKS), message(ANSWER)]],
  [
    "a message that others answer",
    [WHOLE, message("<answer>1</answer>", "user"), { role: "tool", content: "<answer>1</answer>" }],
  ],
])("NeMo Gym's response earns what its final message does: %s", async (_, output) => {
  expect(await verify({ output, status: "completed", error: null })).toMatchObject({
    status: 200,
    body: { reward: 1 },
  });
});

test.each([
  ["of a user", [message("<think>hm</think><answer>1</answer>"), message(ANSWER, "user")]],
  ["of a user, between the assistant's", [message(ANSWER, "user"), message("<think>hm</think><answer>1</answer>")]],
  ["of a system", [message(`<think>${THINKS}</think>${ANSWER}`, "system"), message("I do not know.")]],
  ["of a developer", [message(`<think>${THINKS}</think>${ANSWER}`, "developer"), message("I do not know.")]],
  ["of a tool", [message("<think>hm</think><answer>1</answer>"), message(ANSWER, "tool")]],
  ["of a tool's output", [CALL, RESULT, message("<think>hm</think>I do not know.")]],
  ["in thoughts", [thoughts(`${THINKS}: ${ANSWER}`), message("I do not know.")]],
  ["of the assistant, before a tool was called", [WHOLE, CALL, RESULT, message("<think>hm</think>I do not know.")]],
  ["of the assistant, before it thought again", [WHOLE, thoughts("no"), message("I do not know.")]],
])("NeMo Gym's response earns nothing by an answer %s", async (_, output) => {
  const { status, body } = await verify({ output });
  expect(status).toBe(200);
  expect(body["reward"]).toBeLessThan(1);
});

test("a right answer after a reasoning item lacks no thinking", async () => {
  const { body } = await verify({ output: [thoughts(THINKS), message("<answer>1</answer>")] });
  expect(body["outcome"]).toMatchObject({ score: { reward: 0.1, verdict: "VERDICT_INFEASIBLE" } });
});

test.each([
  ["no response", undefined, "response: "],
  ["a response of text", "82", "response: "],
  ["no output", {}, "response.output: "],
  ["an empty output", { output: [] }, "response.output: "],
  ["an output of texts", { output: [ANSWER] }, "response.output: "],
  ["a lone call of a tool", { output: [CALL] }, "function_call"],
  ["a call of a tool after a message", { output: [WHOLE, CALL] }, "function_call"],
  ["a tool's output at the end", { output: [WHOLE, CALL, RESULT] }, "function_call_output"],
  ["a call of an MCP server that waits", { output: [WHOLE, { type: "mcp_approval_request" }] }, "mcp_approval_request"],
  ["an item of a kind that is not known", { output: [WHOLE, { type: "new_kind" }] }, "new_kind"],
  ["thoughts and no message", { output: [thoughts(THINKS)] }, "reasoning"],
  ["a user's message alone", { output: [message(ANSWER, "user")] }, "user"],
  ["a tool's message alone", { output: [message(ANSWER, "tool")] }, "tool"],
  [
    "a refusal",
    { output: [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: "I cannot." }] }] },
    "I cannot.",
  ],
  [
    "a refusal after an answer",
    { output: [{ type: "message", content: [text(ANSWER), { type: "refusal", refusal: "No." }] }] },
    "refusal",
  ],
  ["a message without a part", { output: [{ type: "message", role: "assistant", content: [] }] }, "response.output: "],
  [
    "a message without content",
    { output: [{ type: "message", role: "assistant", content: null }] },
    "response.output: ",
  ],
  [
    "a response that failed",
    { output: [WHOLE], status: "failed", error: { code: "server_error", message: "it broke" } },
    "it broke",
  ],
  ["an error without a status", { output: [WHOLE], error: { code: "server_error", message: "it broke" } }, "it broke"],
  ["a response that was cancelled", { output: [WHOLE], status: "cancelled" }, "cancelled"],
  ["a response in progress", { output: [WHOLE], status: "in_progress" }, "in_progress"],
])("NeMo Gym's response without a completion is refused by name, and earns no 0: %s", async (_, response, words) => {
  const { status, body } = await verify(response);
  expect(status).toBe(422);
  expect(body).toMatchObject({ grpc_code: "INVALID_ARGUMENT", detail: expect.stringContaining(words) as string });
});

const UNCLOSED = message(`<think>${THINKS}</think><answer>${RIGHT}`);
test.each([
  ["the response", { output: [UNCLOSED], status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }],
  ["its details alone", { output: [UNCLOSED], status: null, incomplete_details: { reason: "max_output_tokens" } }],
  ["the message", { output: [{ ...UNCLOSED, status: "incomplete" }] }],
])("NeMo Gym's response is a cut completion where %s says so", async (_, response) => {
  expect(await verify({ output: [UNCLOSED] })).toMatchObject({ body: { reward: 1 } });
  const { status, body } = await verify(response);
  expect(status).toBe(200);
  expect(body).toMatchObject({ reward: 0, outcome: { score: { truncated: true } } });
});

test("NeMo Gym's response that was cut in mid-thought is malformed, and earns 0", async () => {
  const { status, body } = await verify({ output: [thoughts(THINKS)], status: "incomplete" });
  expect([status, body["reward"]]).toEqual([200, 0]);
  expect(body["outcome"]).toMatchObject({ score: { truncated: true, verdict: "VERDICT_MALFORMED" } });
});
