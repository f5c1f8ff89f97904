/** Traces from a trainer's call over scoring to a judge, a sandbox, workers and the store. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { serve } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { openTraces } from "../../server/runtime/traces.ts";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { type Behaviour, startChatServer } from "../support/chat-server.ts";
import { type Collector, type CollectedSpan, startCollector } from "../support/collector.ts";
import { openServer } from "../support/in-process.ts";
import { fair } from "../support/judge.ts";
import { eventually } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { sharedDatabase } from "../support/shared-postgres.ts";

afterEach(() => vi.unstubAllEnvs());

const PARENT = "00f067aa0ba902b7";
const traceIdOf = (last: number): string => `4bf92f3577b34da6a3ce929d0e0e47${last.toString(16).padStart(2, "0")}`;
const headersOf = (last: number, flags = "01") => ({ traceparent: `00-${traceIdOf(last)}-${PARENT}-${flags}` });

/** The spans of a trace, each below the one that it is a part of: "call > score > judge". */
function pathsOf(spans: readonly CollectedSpan[], traceId: string): readonly string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const pathOf = ({ name, parentId }: CollectedSpan): string => {
    if (parentId === PARENT) return name;
    const parent = own.find(({ spanId }) => spanId === parentId);
    if (parent === undefined) throw new Error(`${name} has no parent`);
    return `${pathOf(parent)} > ${name}`;
  };
  return own.map(pathOf).sort();
}

/** Waits for a span of a trace by its path, and gives all of the trace. */
function traceWith(collector: Collector, last: number, path: string): Promise<readonly string[]> {
  return eventually(() => {
    const paths = pathsOf(collector.spans(), traceIdOf(last));
    expect(paths).toContain(path);
    return paths;
  });
}

function trace(url: string, variables: Readonly<Record<string, string>> = {}): void {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "20", ...variables };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
}

const rows = [
  {
    prompt: "Write a function blend(a, b) that returns a * 7919 + b.",
    tests: ["assert blend(2, 3) == 15841", "assert blend(0, 0) == 0", "assert blend(1, 1) == 7920"],
    level: "easy",
  },
];

function clientsOf(address: string) {
  const transport = createGrpcTransport({ baseUrl: `http://${address}` });
  return {
    environments: createClient(EnvironmentService, transport),
    curriculum: createClient(CurriculumService, transport),
  };
}

test("a call is one trace, over scoring to the judge, the sandbox, workers and the store's commit", async () => {
  await using collector = await startCollector();
  using folder = temporaryFolder();
  await using judge = await startChatServer((request) => ({ ...fair(request), delayMs: 50 }) as Behaviour);
  trace(collector.url, { OTEL_SERVICE_NAME: "gym", OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test" });
  const path = join(folder.path, "rows.jsonl");
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  await using server = await openServer({
    judgeUrl: judge.url,
    judgeModel: "m",
    judgeConcurrency: "1",
    pool: [`rows=${path}@train`],
    sandbox: "embedded",
  });
  const { environments, curriculum } = clientsOf(server.address);
  const call = "gradus.v1.EnvironmentService/Step";

  const spec = { environment: "code", source: 2, pool: "rows", difficulty: { case: "level", value: "easy" } } as const;
  const { task: program } = await environments.reset({ spec, seed: 1n });
  const answer = "<think></think><answer>def blend(a, b):\n    return a * 7919 + b\n</answer>";
  const { outcome } = await environments.step(
    { taskId: program!.taskId, groupId: program!.groupId, completion: answer },
    { headers: headersOf(1) },
  );
  expect(outcome?.result.case).toBe("score");
  expect(await traceWith(collector, 1, `${call} > score > sandbox > sandbox attempt`)).toEqual([
    call,
    `${call} > score`,
    `${call} > score > sandbox`,
    `${call} > score > sandbox > sandbox attempt`,
  ]);

  // A text of a run, by the HTTP port's client and the gRPC port's.
  const arms = [{ id: "judged", spec: { environment: "writing", source: 2 } }];
  const policy = { kind: { case: "mixture", value: {} } } as const;
  await curriculum.createRun({ runId: "run", config: { arms, policy, numGenerations: 2, promptsPerUpdate: 1 } });
  const { tasks } = await curriculum.nextBatch({ runId: "run", cursor: 0n, count: 1 }, { headers: headersOf(2) });
  const http = createClient(EnvironmentService, createConnectTransport({ baseUrl: server.http, httpVersion: "1.1" }));
  const textOf = (i: number) =>
    `<think></think><answer>${"A text of more than twelve letters. ".repeat(i + 2)}</answer>`;
  const { taskId, groupId } = tasks[0]!;
  // The calls arrive together, and the judge takes one at a time. The end of one request begins the next.
  const stepping = [environments, http].map((client, i) =>
    client.step({ taskId, groupId, sampleIndex: i, completion: textOf(i) }, { headers: headersOf(3 + i) }),
  );
  await Promise.all(stepping);
  for (const i of stepping.keys()) {
    const judged = `${call} > score > judge > judge attempt`;
    const recorded = `${call} > score > record feedback > store append`;
    const paths = await traceWith(collector, 3 + i, recorded);
    expect(paths).toEqual(expect.arrayContaining([call, `${call} > score`, `${call} > score > judge`, judged]));
    // The judge's own spans would be below the attempt.
    const attempt = collector
      .spans()
      .find(({ traceId, name }) => traceId === traceIdOf(3 + i) && name === "judge attempt");
    expect(judge.requests.map(({ traceparent }) => traceparent)).toContain(
      `00-${traceIdOf(3 + i)}-${attempt?.spanId}-01`,
    );
  }
  await traceWith(collector, 2, "gradus.v1.CurriculumService/NextBatch > store append");

  // A stream.
  const steps = async function* () {
    const completions = [{ sampleIndex: 0, text: textOf(5) }];
    const alone = await environments.reset({ spec: { environment: "writing", source: 2 }, seed: 3n });
    yield { requestId: "r", groups: [{ taskId: alone.task!.taskId, groupId: "g", completions }] };
  };
  for await (const { groups } of environments.streamSteps(steps(), { headers: headersOf(5) }))
    expect(groups).toHaveLength(1);
  await traceWith(collector, 5, "gradus.v1.EnvironmentService/StreamSteps > score > judge > judge attempt");

  // A task that is made.
  await environments.reset({ spec: { environment: "countdown" }, seed: 5n }, { headers: headersOf(9) });
  await traceWith(collector, 9, "gradus.v1.EnvironmentService/Reset > worker");
  const of = (last: number) =>
    collector.spans().find(({ traceId, parentId }) => traceId === traceIdOf(last) && parentId === PARENT);
  expect(of(9)).toMatchObject({
    service: "gym",
    instance: expect.stringMatching(/^\S+\/\d+\/[0-9a-f]{8} \d+\.\d+\.\d+/) as string,
    attributes: { "rpc.response.status_code": "OK", "rpc.method": "gradus.v1.EnvironmentService/Reset" },
  });

  // A call that names no trace begins one; one whose trace is not sampled leaves none.
  await environments.listEnvironments({});
  await environments.listEnvironments({}, { headers: headersOf(10, "00") });
  const list = await eventually(() => {
    const found = collector.spans().filter(({ name }) => name.endsWith("/ListEnvironments"));
    expect(found).toHaveLength(1);
    return found;
  });
  expect(list[0]?.parentId).toBe("");
});

test("over PostgreSQL a commit is a part of the call that waits for it", async () => {
  await using collector = await startCollector();
  trace(collector.url);
  await using server = await openServer({ store: await sharedDatabase() });
  const { environments, curriculum } = clientsOf(server.address);
  const arms = [{ id: "a", spec: { environment: "countdown", difficulty: { case: "level", value: "T0" } as const } }];
  const policy = { kind: { case: "mixture", value: {} } } as const;
  const config = { arms, policy, numGenerations: 1, promptsPerUpdate: 1 };
  await curriculum.createRun({ runId: "run", config }, { headers: headersOf(1) });
  const { tasks } = await curriculum.nextBatch({ runId: "run", cursor: 0n, count: 1 }, { headers: headersOf(2) });
  const { taskId, groupId } = tasks[0]!;
  await environments.step({ taskId, groupId, completion: "1 + 1" }, { headers: headersOf(3) });
  await traceWith(collector, 2, "gradus.v1.CurriculumService/NextBatch > store append");
  await traceWith(collector, 3, "gradus.v1.EnvironmentService/Step > record feedback > store append");
});

test("a collector that is away costs one warning and no call, and comes back unasked", async () => {
  const away = await startCollector();
  const { url } = away;
  await away[Symbol.asyncDispose]();
  trace(url, { OTEL_EXPORTER_OTLP_TIMEOUT: "200", OTEL_BSP_MAX_QUEUE_SIZE: "64", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "8" });
  using folder = temporaryFolder();
  const lines: string[] = [];
  const log = {
    log: pino({ level: "info", base: null }, { write: (line: string) => void lines.push(line) }),
    dropped: () => 0,
    lastErrors: () => [],
    flush: () => undefined,
  };
  const read = readConfig({ port: "0", httpPort: "0", dataDir: folder.path }, {});
  if (read.kind === "invalid") throw new Error(read.message);
  const server = await serve(read.config, log);
  const { environments } = clientsOf(`127.0.0.1:${server.grpcPort}`);
  const warnings = () => lines.filter((line) => line.includes("traces cannot be sent"));
  for (let call = 0; call < 300; call++) await environments.listEnvironments({});
  await eventually(() => expect(warnings()).toHaveLength(1));
  for (let call = 0; call < 300; call++) await environments.listEnvironments({});
  expect(warnings()).toHaveLength(1);
  await using back = await startCollector(Number(new URL(url).port));
  await eventually(async () => {
    await environments.listEnvironments({});
    expect(back.spans()).not.toEqual([]);
  });
  await back[Symbol.asyncDispose]();
  // The server soon gives up spans that it has not sent by now.
  await server.stop();
  expect(lines.some((line) => line.includes('"traceId"'))).toBe(true);
});

test("without an endpoint, and where the variables say so, nothing of it is loaded", async () => {
  const silent = pino({ level: "silent" });
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  expect(await openTraces({}, silent, "a")).toBeUndefined();
  expect(await openTraces({ ...endpoint, OTEL_SDK_DISABLED: "true" }, silent, "a")).toBeUndefined();
  expect(await openTraces({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, silent, "a")).toBeUndefined();
  using folder = temporaryFolder();
  // Lists the OpenTelemetry modules that a server without traces loads; its metrics load only the API, which does
  // nothing.
  const script = `
    const { registerHooks } = await import("node:module");
    registerHooks({ load(url, context, next) { if (/opentelemetry.(?!api.)/.test(url)) console.log(url); return next(url, context); } });
    const { serve } = await import("./server/main.ts");
    const { readConfig } = await import("./server/runtime/config.ts");
    const { config } = readConfig({ port: "0", httpPort: "0", dataDir: ${JSON.stringify(folder.path)}, logLevel: "silent" }, {});
    await (await serve(config)).stop();
    console.log("stopped");`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  expect(stdout).toBe("stopped\n");
});
