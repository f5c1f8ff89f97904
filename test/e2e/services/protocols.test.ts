/**
 * Tests that calls give equal replies in every protocol of the HTTP port, and the error of services that nothing
 * answers yet.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { mixed } from "./answers.ts";
import { configOf, runOf } from "./run-of.ts";
import { type Wire, failureOf, openWire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire();
});
afterAll(() => wire[Symbol.asyncDispose]());

/** Posts a request as JSON, as curl would. */
async function post(path: string, request: unknown) {
  const response = await fetch(`${wire.http}/gradus.v1.${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
}

describe("Connect with JSON", () => {
  test("makes a task and scores answers as gRPC does", async () => {
    const spec = { environment: "countdown", level: "T1" };
    const { body } = await post("EnvironmentService/Reset", { spec, seed: "18446744073709551615" });
    const difficulty = { case: "level", value: "T1" } as const;
    const { task } = await wire.environments.reset({
      spec: { environment: "countdown", difficulty },
      seed: 2n ** 64n - 1n,
    });
    if (task === undefined) throw new Error("no task");
    const { taskId, groupId } = body["task"] as { readonly taskId: string; readonly groupId: string };
    expect([taskId, groupId]).toEqual([task.taskId, task.groupId]);
    const completions = mixed(task).map((text, sampleIndex) => ({ sampleIndex, text }));
    const { status, body: scored } = await post("EnvironmentService/BatchStep", {
      groups: [{ taskId, groupId, completions }],
    });
    expect(status).toBe(200);
    const [group] = scored["groups"] as readonly {
      readonly statistics: unknown;
      readonly outcomes: readonly { readonly score: unknown }[];
    }[];
    expect(group?.statistics).toMatchObject({ count: 4, mean: expect.closeTo(0.3, 12) as number });
    expect(group?.outcomes.map(({ score }) => score)).toMatchObject([
      { reward: 1, verdict: "VERDICT_FEASIBLE", solved: true },
      { reward: 0.1 },
      { verdict: "VERDICT_MALFORMED" },
      { reward: 0.1 },
    ]);
  });

  test("drives a run", async () => {
    const config = {
      arms: [{ id: "easy", spec: { environment: "countdown" } }],
      policy: { bandit: {} },
      numGenerations: 2,
      promptsPerUpdate: 2,
      timeToLive: "3600s",
    };
    const created = await post("CurriculumService/CreateRun", { runId: "curl", config });
    expect(created.body).toMatchObject({ created: true, run: { runId: "curl", config } });
    const batch = await post("CurriculumService/NextBatch", { runId: "curl" });
    expect((batch.body["tasks"] as unknown[]).length).toBe(2);
    expect((await post("CurriculumService/Pause", { runId: "curl" })).body).toEqual({ appliesFromCursor: "2" });
  });

  test.each([
    ["EnvironmentService/Reset", { spec: { environment: "np/tps" } }, 404, "not_found", "did you mean 'np/tsp'?"],
    [
      "EnvironmentService/Reset",
      { spec: { environment: 7 } },
      400,
      "invalid_argument",
      "gradus.v1.TaskSpec.environment",
    ],
    ["EnvironmentService/BatchStep", {}, 400, "invalid_argument", "groups: must have at least 1 entry; got 0"],
    ["CurriculumService/GetRun", { runId: "nobody" }, 404, "not_found", "there is no run"],
    ["CurriculumService/Advance", { runId: "nobody" }, 404, "not_found", "there is no run"],
    ["EvaluationService/GetReport", { evaluationId: "nobody" }, 404, "not_found", "nobody"],
  ])("%s of %o is refused", async (path, request, status, code, message) => {
    const refused = await post(path, request);
    expect(refused).toMatchObject({ status, body: { code } });
    expect(refused.body["message"]).toContain(message);
  });

  test.each([
    [
      "a field",
      { spec: { environment: "countdown", splitt: "SPLIT_EVAL" } },
      'message gradus.v1.TaskSpec from JSON: key "splitt"',
    ],
    ["a value", { spec: { environment: "countdown", split: "eval" } }, 'enum gradus.v1.Split from JSON: "eval"'],
  ])("refuses %s that it does not know rather than pass over it", async (_, request, named) => {
    const { status, body } = await post("EnvironmentService/Reset", request);
    expect([status, body["code"]]).toEqual([400, "invalid_argument"]);
    expect(body["message"]).toContain(named);
  });

  test("says in the header when to try again", async () => {
    await (await runOf(wire, "due")).next(0);
    const response = await fetch(`${wire.http}/gradus.v1.CurriculumService/NextBatch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"runId":"due","cursor":"2","wait":"0s"}',
    });
    expect([response.status, response.headers.get("retry-delay-ms")]).toEqual([503, "1000"]);
  });
});

test("WatchRun over JSON: the command that its refusal names streams the run's states", async () => {
  await runOf(wire, "one");
  const path = `${wire.http}/gradus.v1.CurriculumService/WatchRun`;
  const refused = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  const command = (await refused.text())
    .trim()
    .split("\n")
    .slice(-2)
    .join("\n")
    .replace("localhost:8080", new URL(wire.http).host);
  expect([refused.status, command]).toEqual([415, expect.stringContaining("--data-binary @-")]);
  const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  child.kill();
  expect(first.subarray(5).toString()).toContain('{"state":{"runId":"one"');
});

describe("gRPC-Web", () => {
  const transport = () => createGrpcWebTransport({ baseUrl: wire.http });

  test("gives what gRPC gives", async () => {
    const environments = createClient(EnvironmentService, transport());
    expect(await environments.listEnvironments({})).toEqual(await wire.environments.listEnvironments({}));
    const request = { spec: { environment: "np/tsp" }, seed: 9n };
    expect(await environments.reset(request)).toEqual(await wire.environments.reset(request));
    const curriculum = createClient(CurriculumService, transport());
    const { run } = await curriculum.createRun({ runId: "web", config: configOf() });
    expect((await wire.curriculum.getRun({ runId: "web" })).run).toEqual(run);
  });

  test("refuses as gRPC refuses", async () => {
    const environments = createClient(EnvironmentService, transport());
    const request = { spec: { environment: "np/tsp", version: 9 } };
    const overGrpc = await failureOf(wire.environments.reset(request));
    expect(await failureOf(environments.reset(request))).toEqual(overGrpc);
  });

  test("streams states to a browser", async () => {
    await runOf(wire, "browser");
    const curriculum = createClient(CurriculumService, transport());
    for await (const { state } of curriculum.watchRun({ runId: "browser" })) {
      expect(state).toEqual((await wire.curriculum.getRun({ runId: "browser" })).run?.state);
      break;
    }
  });
});

test("suites are listed, FORGE-BENCH with its 1,000 tasks among them", async () => {
  const { suites } = await wire.evaluation.listSuites({});
  expect(suites).toContainEqual(expect.objectContaining({ id: "forge-bench", tasks: 1000 }));
});
