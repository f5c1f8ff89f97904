/**
 * Tests of the calls of NeMo Gym 0.7, with requests in the form in which its environment server single_agent_turn sends
 * them. NeMo Gym itself needs a newer Python than CI has.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { tQuantile } from "../../../../server/transport/compat/nemo-gym/statistics.ts";
import { openServer, type TestServer } from "../../../support/in-process.ts";
import metrics from "./nemo-gym-metrics.json" with { type: "json" };

let host: TestServer;
beforeAll(async () => {
  host = await openServer({ store: "memory" });
});
afterAll(() => host[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;

async function post(path: string, body: Json, cookie = "") {
  const headers = { "content-type": "application/json", cookie };
  const response = await fetch(`${host.http}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return {
    status: response.status,
    body: (await response.json()) as Json,
    cookie: response.headers.get("set-cookie") ?? "",
    retryAfter: response.headers.get("retry-after"),
  };
}

const episode_id = { rollout_id: "0-0", attempt: 0 };
const resources_session_id = "resources-session-2f6c8d90f4c14f0b8f2a6f3f1f6a7b11";
const task_data = {
  verifier_metadata: { environment: "countdown", level: "T0", seed: 7 },
  agent_ref: { type: "responses_api_agents", name: "simple_agent" },
};
const responses_create_params = { input: [{ role: "user", content: "Reach the number." }] };
const task_id = { taskset: "countdown", task_id: "7" };
const text = "<think>no</think><answer>1 + 1</answer>";
const response = {
  id: "resp_1",
  created_at: 1760000000,
  model: "policy",
  object: "response",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
};

test("an environment server's episode is seeded, verified with a Step's reward, and closed", async () => {
  const seeded = await post("/seed_session", { resources_session_id, episode_id, task_id, task_data });
  // The reply has the id and nothing else, and sets a cookie: otherwise the server takes the seed for a failure.
  expect([seeded.status, seeded.body]).toEqual([200, { resources_session_id }]);
  expect(seeded.cookie).toContain(resources_session_id);
  const again = await post("/seed_session", { resources_session_id, episode_id, task_id, task_data });
  expect(again.body).toEqual(seeded.body);
  const verified = await post("/verify", { ...task_data, responses_create_params, response }, seeded.cookie);
  const task = await host.client.reset({ environment: "countdown", level: "T0", seed: 7 });
  const outcome = await host.client.step(task, text);
  if (outcome.kind !== "scored") throw new Error(outcome.detail);
  expect(verified.body).toMatchObject({ responses_create_params, response, reward: outcome.reward });
  for (const body of [
    { resources_session_id, episode_id },
    { resources_session_id: "never-seeded", episode_id },
  ])
    expect((await post("/close_session", body)).body).toEqual({ resources_session_id: body.resources_session_id });
  const mode = await fetch(`${host.http}/reverify_mode`);
  expect([mode.status, await mode.json()]).toEqual([200, "stateless"]);
});

test("an invalid seed fails, and no missing reward is a number", async () => {
  const wrong = { ...task_data, verifier_metadata: { environment: "countdown" } };
  expect((await post("/seed_session", { resources_session_id, episode_id, task_id, task_data: wrong })).status).toBe(
    422,
  );
  expect((await post("/seed_session", { resources_session_id, episode_id, task_id })).status).toBe(422);
  expect((await post("/close_session", { episode_id })).status).toBe(422);
  expect((await fetch(`${host.http}/close_session`)).status).toBe(405);
  const message = { ...response.output[0], content: [{ type: "output_text", text: "x".repeat(300 * 1024) }] };
  const row = { ...task_data, responses_create_params, response: { ...response, output: [message] } };
  const verified = await post("/verify", row);
  expect([verified.status, verified.body["reward"]]).toEqual([409, undefined]);
});

test("metrics are those of NeMo Gym, without masked samples", async () => {
  const rows = [
    [0, 0, 1, 10],
    [0, 1, 0, 30],
    [1, 0, 0.5, 20],
    [1, 1, 1, 40],
  ].map(([task, rollout, reward, output_tokens]) => ({
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    reward,
    mask_sample: task === 1 && rollout === 1,
    failure_reason: null,
    response: { usage: { output_tokens } },
  }));
  const { body } = await post("/aggregate_metrics", { verify_responses: rows });
  const half = Math.sqrt(0.5);
  const statistics = (name: string, mean: number, max: number, min: number, std: number): [string, unknown][] => [
    ...Object.entries({ mean, max, min, median: mean }).map(([key, value]): [string, unknown] => [
      `${key}/${name}`,
      value,
    ]),
    [`std/${name}`, expect.closeTo(std)],
  ];
  const first = [...statistics("reward", 0.5, 1, 0, half), ...statistics("output_tokens", 20, 30, 10, 20 * half)];
  const second = [...statistics("reward", 0.5, 0.5, 0.5, 0), ...statistics("output_tokens", 20, 20, 20, 0)];
  expect(body["group_level_metrics"]).toEqual([
    { _ng_task_index: 0, num_rollouts: 2, ...Object.fromEntries(first) },
    { _ng_task_index: 1, num_rollouts: 1, ...Object.fromEntries(second) },
  ]);
  const coverage = {
    "coverage/measured_rollouts": 3,
    "coverage/masked_rollouts": 1,
    "coverage/measured_tasks": 2,
    "coverage/fully_masked_tasks": 0,
  };
  expect(body["key_metrics"]).toEqual({ "mean/reward": 0.5, "mean/output_tokens": 20, ...coverage });
  expect(body["agent_metrics"]).toMatchObject({ ...coverage, num_repeats: 2, "max/reward": 1 });
  expect((await post("/aggregate_metrics", { verify_responses: [1] })).status).toBe(422);
  expect((await post("/aggregate_metrics", { verify_responses: [] })).body["key_metrics"]).toEqual({});
});

test("statistics of repeats are those that NeMo Gym 0.7 computed for the same rows", async () => {
  const { verify_responses, ...recorded } = metrics;
  const { body } = await post("/aggregate_metrics", { verify_responses });
  const close = (value: unknown): unknown => {
    if (typeof value === "number") return expect.closeTo(value, 9);
    if (Array.isArray(value)) return value.map(close);
    return Object.fromEntries(Object.entries(value as Json).map(([name, each]) => [name, close(each)]));
  };
  for (const [name, value] of Object.entries(recorded)) expect(body[name]).toEqual(close(value));
});

test.each([
  [1, 12.706204736174694],
  [2, 4.302652729749462],
  [3, 3.1824463052837078],
  [10, 2.228138851986274],
  [29, 2.045229642132703],
  [999, 1.9623414611334493],
  [1000, 1.9623390808264083],
  [50_000, 1.9600114310936798],
])("the quantile of t with %i degrees of freedom is that of scipy", (degrees, quantile) => {
  expect(tQuantile(degrees)).toBeCloseTo(quantile, 7);
});
