/** The HTTP port as curl, browsers and broken clients see it. */
import { Code } from "@connectrpc/connect";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { RpcError } from "../../../../server/base/rpc.ts";
import { start, stopAll } from "../fixture.ts";
import { echo, echoAll, failureOf, idsOf, requestsOf } from "../handlers.ts";

afterEach(stopAll);

const step = async (request: Parameters<typeof echo>[0]) => echo(request);
const json = { method: "POST", headers: { "content-type": "application/json" } };

/** Sends bytes, and returns the answer once the connection has closed. */
function talk(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

test("curl can call with JSON and nothing else", async () => {
  const { httpPort } = await start({ step });
  const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`;
  const response = await fetch(url, { ...json, body: '{"sampleIndex": 4, "completion": "<answer>1</answer>"}' });
  expect([response.status, await response.json()]).toEqual([200, { outcome: { sampleIndex: 4 } }]);
});

test("a call that was answered is not also called off as if its caller had left", async () => {
  const { httpPort } = await start({ step });
  const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`;
  const original = Object.getOwnPropertyDescriptor(AbortController.prototype, "abort") as {
    readonly value: () => void;
  };
  let aborts = 0;
  function abort(this: AbortController, ...reason: []): void {
    aborts++;
    original.value.apply(this, reason);
  }
  Object.defineProperty(AbortController.prototype, "abort", { ...original, value: abort });
  try {
    for (let i = 0; i < 10; i++) await (await fetch(url, { ...json, body: "{}" })).json();
  } finally {
    Object.defineProperty(AbortController.prototype, "abort", original);
  }
  // Connect itself ends each such call once.
  expect(aborts).toBeGreaterThan(0);
  expect(aborts).toBeLessThanOrEqual(10);
});

test("a caller that leaves before the answer ends the work for it", async () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { httpPort } = await start({
    step: async (request, { signal }) => {
      signal.addEventListener("abort", () => ended.resolve());
      begun.resolve();
      await ended.promise;
      return echo(request);
    },
  });
  const socket = connect(httpPort, "127.0.0.1");
  const head =
    "POST /gradus.v1.EnvironmentService/Step HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  socket.write(`${head}content-length: 2\r\n\r\n{}`);
  await begun.promise;
  socket.destroy();
  await ended.promise;
});

test("JSON that is none is the caller's fault", async () => {
  const { httpPort } = await start({ step });
  const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`;
  const response = await fetch(url, { ...json, body: '{"sampleIndex": "many"}' });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: "invalid_argument" });
});

test("gRPC-Web serves the same handlers", async () => {
  const server = await start({ step });
  expect((await server.web().step({ sampleIndex: 6 })).outcome?.sampleIndex).toBe(6);
});

test.each(["json", "web"] as const)(
  "a stream in both directions is refused over %s by a status that says what to do",
  async (port) => {
    const server = await start({ streamSteps: echoAll });
    const refused = await idsOf(server[port]().streamSteps(requestsOf(2))).catch(failureOf);
    expect(refused).toMatchObject({
      code: Code.Unimplemented,
      rawMessage: "StreamSteps streams in both directions, which HTTP/1.1 cannot: use the gRPC port, or BatchStep",
    });
  },
);

test("an unknown path is a 404 that says what there is", async () => {
  const { httpPort } = await start({});
  const response = await fetch(`http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Stepp`);
  expect(response.status).toBe(404);
  const text = await response.text();
  expect(text).toContain("nothing is served at /gradus.v1.EnvironmentService/Stepp");
  expect(text).toContain("POST /gradus.v1.EnvironmentService/Step\n");
});

test("a method that is called by another verb says which it takes, before the body is there", async () => {
  const { httpPort } = await start({ step });
  const head = "PUT /gradus.v1.EnvironmentService/Step HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
  const type = "content-type: application/json\r\ncontent-length: 1000\r\n\r\n";
  const answer = await talk(httpPort, `${head}${type}{`);
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toContain("allow: POST\r\n");
  expect(answer).toContain("/gradus.v1.EnvironmentService/Step takes POST, not PUT");
});

test.each([
  ["EnvironmentService/Step", "text/plain", "takes content-type application/json or application/proto, not text/plain"],
  ["EnvironmentService/Step", undefined, "and none came"],
  [
    "EnvironmentService/Step",
    "application/connect+json",
    "application/json or application/proto, not application/connect",
  ],
])("%s of type %s is a 415 that says what it takes", async (path, type, words) => {
  const { httpPort } = await start({ step });
  const head = `POST /gradus.v1.${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n`;
  const answer = await talk(httpPort, `${head}${type === undefined ? "" : `content-type: ${type}\r\n`}\r\n{}`);
  expect(answer).toMatch(/^HTTP\/1\.1 415 /);
  expect(answer).toContain(words);
});

test("an empty body says that {} is what to send", async () => {
  const { httpPort } = await start({ step });
  const response = await fetch(`http://localhost:${httpPort}/gradus.v1.EnvironmentService/Step`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect([response.status, await response.json()]).toEqual([
    400,
    { code: "invalid_argument", message: "the body is empty: a StepRequest without fields is sent as {}" },
  ]);
});

test("/metrics counts calls on both ports", async () => {
  const server = await start({
    step: async (request) => {
      if (request.sampleIndex === 1) throw new RpcError("NOT_FOUND", "no");
      return echo(request);
    },
  });
  for (const client of [server.grpc(), server.json()]) {
    await client.step({ sampleIndex: 0 });
    await client.step({ sampleIndex: 1 }).catch(failureOf);
  }
  const response = await fetch(`http://127.0.0.1:${server.httpPort}/metrics`);
  expect(response.headers.get("content-type")).toContain("text/plain");
  const text = await response.text();
  const labels = (code: string) => `{method="gradus.v1.EnvironmentService/Step",code="${code}"}`;
  expect(text).toContain(`gradus_calls_total${labels("OK")} 2\n`);
  expect(text).toContain(`gradus_calls_total${labels("NOT_FOUND")} 2\n`);
  expect(text).toContain("nodejs_eventloop_lag_seconds");
});

describe("hostile requests", () => {
  test.each([
    ["without a host", "POST /gradus.v1.EnvironmentService/Step HTTP/1.0\r\ncontent-type: application/json\r\n\r\n{}"],
    ["with a host that is none", "POST /gradus.v1.EnvironmentService/Step HTTP/1.0\r\nhost: a b[\r\n\r\n"],
    ["with a path that is none", "POST //[::/healthz HTTP/1.0\r\nhost: x\r\n\r\n"],
    ["that are not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"],
    ["with a length that lies", "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n"],
  ])("%s do no harm", async (_, bytes) => {
    const server = await start({ step });
    expect(await talk(server.httpPort, bytes)).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    expect((await server.json().step({ sampleIndex: 1 })).outcome?.sampleIndex).toBe(1);
  });
});

describe("CORS", () => {
  const origin = "https://gym.example";
  const preflight = (port: number) =>
    fetch(`http://127.0.0.1:${port}/gradus.v1.EnvironmentService/Step`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
    });

  test("a page of a configured origin may call and read the answer", async () => {
    const { httpPort } = await start({ step }, { corsOrigin: [origin] });
    const { status, headers } = await preflight(httpPort);
    expect([status, headers.get("access-control-allow-origin")]).toEqual([204, origin]);
    expect(headers.get("access-control-allow-headers")?.toLowerCase()).toContain("connect-protocol-version");
    expect(headers.get("access-control-allow-headers")).toContain("authorization");
    const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/Step`;
    const response = await fetch(url, { ...json, headers: { ...json.headers, origin }, body: "{}" });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("grpc-status");
    expect(response.headers.get("vary")).toBe("origin");
  });

  test("any origin may with *", async () => {
    const { httpPort } = await start({ step }, { corsOrigin: ["*"] });
    expect((await preflight(httpPort)).headers.get("access-control-allow-origin")).toBe("*");
  });

  test.each([[[]], [["https://other.example"]]])("a page of another origin may not: %j", async (origins) => {
    const { httpPort } = await start({ step }, { corsOrigin: origins });
    expect((await preflight(httpPort)).headers.get("access-control-allow-origin")).toBeNull();
  });
});
