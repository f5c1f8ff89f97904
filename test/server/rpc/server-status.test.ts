/** GetServerStatus and `gradus status` on a real server, with an environment that throws. */
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient as createWebClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { createClient, type GradusClient } from "../../../clients/ts/src/index.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { serve, type Server } from "../../../server/main.ts";
import { readConfig } from "../../../server/runtime/config.ts";
import { openLog } from "../../../server/runtime/logging.ts";
import { gradus } from "../../cli/gradus.ts";
import { eventually } from "../../support/patience.ts";
import { LIGHT, temporaryFolder } from "../../support/server-process.ts";

const folder = temporaryFolder();
const roles = ["viewer", "trainer", "operator"] as const;
let server: Server;
let address: string;
let clients: Readonly<Record<(typeof roles)[number], GradusClient>>;

beforeAll(async () => {
  const path = (name: string) => join(folder.path, name);
  writeFileSync(
    path("tokens.yaml"),
    roles.map((role) => `- {name: ${role}, role: ${role}, token: token-of-a-${role}}\n`).join(""),
    {
      mode: 0o600,
    },
  );
  writeFileSync(
    path("broken.ts"),
    `import { defineEnvironment, defineGenerator } from ${JSON.stringify(join(import.meta.dirname, "../../../envs/define.ts"))};
    import { defineParameters } from ${JSON.stringify(join(import.meta.dirname, "../../../envs/parameters.ts"))};
    const generator = defineGenerator({
      parameters: defineParameters({}),
      levels: [{ name: "only", description: "One.", parameters: {} }],
      generate: (_, rng) => ({ number: rng.int(0, 1e6) }),
    });
    export default [defineEnvironment({
      id: "mine/broken", version: 1, description: "It cannot be shown.", generator,
      render: () => { throw new Error("the prompt \\u202e is lost"); },
      parse: (text) => ({ kind: "answer", answer: text }), verify: () => ({ kind: "feasible" }),
    })];`,
  );
  const read = readConfig(
    {
      ...LIGHT,
      port: "0",
      httpPort: "0",
      logLevel: "error",
      logFormat: "json",
      dataDir: path("data"),
      tokensFile: path("tokens.yaml"),
      environmentFile: [path("broken.ts")],
    },
    {},
  );
  if (read.kind === "invalid") throw new Error(read.message);
  server = await serve(read.config, openLog(read.config, openSync(path("log"), "a")));
  address = `127.0.0.1:${server.grpcPort}`;
  const clientOf = (role: string) => createClient(address, { token: `token-of-a-${role}`, retry: false });
  clients = { viewer: clientOf("viewer"), trainer: clientOf("trainer"), operator: clientOf("operator") };
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.close();
  await server?.stop();
  folder[Symbol.dispose]();
});

/** Fails by a bug, and returns the request id that the caller is told. */
async function failByABug(): Promise<string> {
  const words = await clients.trainer.reset({ environment: "mine/broken" }).then(
    () => "no error",
    (error: unknown) => (error as Error).message,
  );
  const [, requestId = ""] = /internal error \(request id (.*)\)/.exec(words) ?? [];
  expect(requestId, words).not.toBe("");
  return requestId;
}

test("an operator sees latencies, errors by kind, and the last errors with their request ids", async () => {
  const requestId = await failByABug();
  await expect(clients.trainer.getEnvironment("none")).rejects.toMatchObject({ code: "NOT_FOUND" });
  for (let i = 0; i < 5; i++) await clients.trainer.getEnvironment("countdown");
  const status = await eventually(async () => {
    const found = await clients.operator.getServerStatus();
    expect(found.methods.find(({ method }) => method.endsWith("/GetEnvironment"))).toMatchObject({ count: 6n });
    return found;
  });
  expect(status.problem).toBe("");
  for (const { p50Ms, p99Ms, count } of status.methods.filter((each) => each.count > 0n)) {
    expect(p50Ms, String(count)).toBeGreaterThan(0);
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  }
  const errors = status.errors.map(({ method, code, count, recent }) => [method, code, count, recent]);
  expect(errors).toEqual(
    expect.arrayContaining([
      ["gradus.v1.EnvironmentService/Reset", "INTERNAL", 1n, 1n],
      ["gradus.v1.EnvironmentService/GetEnvironment", "NOT_FOUND", 1n, 1n],
    ]),
  );
  expect(status.lastErrors).toMatchObject([
    {
      method: "gradus.v1.EnvironmentService/Reset",
      requestId,
      message: "internal error: the prompt \\u{202e} is lost",
    },
  ]);
  expect(Number(status.lastErrors[0]?.time?.seconds)).toBeGreaterThan(1.7e9);
  expect(Number(status.memoryBytes)).toBeGreaterThan(1e7);
  expect(status.eventLoopUtilization).toBeGreaterThan(0);
});

/** Reads the first message of a stream, and leaves it. */
async function firstOf(open: (options: { readonly signal: AbortSignal }) => AsyncIterable<unknown>): Promise<void> {
  const caller = new AbortController();
  let messages = 0;
  const read = async (): Promise<void> => {
    for await (const message of open({ signal: caller.signal })) {
      if (message !== undefined) messages++;
      caller.abort();
    }
  };
  await read().catch(() => undefined);
  expect(messages).toBe(1);
}

test("a stream whose caller leaves is no error, over either port", async () => {
  const headers = { authorization: "Bearer token-of-a-operator" };
  const run = clients.operator.run("watched");
  const arms = [{ id: "a", environment: "countdown" }];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 1, promptsPerUpdate: 1 });
  await firstOf((options) => run.watch(options));
  const http = `http://127.0.0.1:${server.httpPort}`;
  const web = createWebClient(CurriculumService, createConnectTransport({ baseUrl: http, httpVersion: "1.1" }));
  await firstOf((options) => web.watchRun({ runId: "watched" }, { headers, ...options }));
  await eventually(async () => {
    const metrics = await (await fetch(`${http}/metrics`, { headers })).text();
    expect(metrics).toMatch(/^gradus_calls_total\{method="[^"]*\/WatchRun",code="CANCELLED"\} 2$/m);
  });
  const { errors } = await clients.operator.getServerStatus();
  expect(errors.filter(({ method }) => method.endsWith("/WatchRun"))).toEqual([]);
});

test.each(["viewer", "trainer"] as const)("a %s sees the figures, and no message of an error", async (role) => {
  await failByABug();
  const { methods, lastErrors, errors } = await clients[role].getServerStatus();
  expect(lastErrors).toEqual([]);
  expect(methods.length).toBeGreaterThan(0);
  expect(errors.some(({ code }) => code === "INTERNAL")).toBe(true);
});

test("the command prints the same, as text and as JSON", async () => {
  const requestId = await failByABug();
  const status = (...args: readonly string[]) =>
    gradus({ cwd: folder.path }, "status", "--server", address, "--token", "token-of-a-operator", ...args);
  const { code, out, err } = await status();
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(
    /^ready +yes\nwindow +\d+ s\nevent loop busy +[\d.]+%\ncores used +[\d.e-]+ of \d+\nmemory +\d+ MiB of/,
  );
  expect(out).toMatch(/^gradus\.v1\.EnvironmentService\/Reset +INTERNAL +\d+ +\d+$/m);
  expect(out).toContain(`gradus.v1.EnvironmentService/Reset  ${requestId}`);
  const { out: json } = await status("--json");
  expect(JSON.parse(json)).toMatchObject({
    problem: "",
    lastErrors: expect.arrayContaining([expect.objectContaining({ requestId })]) as object[],
  });
});

test("a server that is not there is named", async () => {
  const { code, err } = await gradus({ cwd: folder.path }, "status", "--server", "127.0.0.1:1");
  expect(code).not.toBe(0);
  expect(err).toContain("127.0.0.1:1");
});
