/** Tests of calls from web pages of strangers: by their names for this server (DNS rebinding), and by their origins. */
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame } from "./grpc/raw.ts";
import { checkHealth } from "./grpc/health-client.ts";
import { echo } from "./handlers.ts";

afterEach(stopAll);

const handlers = { step: echo };
const token = "correct-horse-battery-staple";

/** Sends a request exactly as given; returns the status and the text of the answer. */
function send(port: number, head: readonly string[], body = ""): Promise<readonly [status: number, text: string]> {
  return new Promise((resolve, reject) => {
    let received = "";
    const lines = [...head, `content-length: ${body.length}`, "connection: close"];
    const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`));
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.on("close", () => resolve([Number(received.split(" ")[1]), received.split("\r\n\r\n")[1] ?? ""]));
    socket.on("error", reject);
  });
}

const step = (port: number, ...headers: readonly string[]) =>
  send(
    port,
    ["POST /gradus.v1.EnvironmentService/Step HTTP/1.1", "content-type: application/json", ...headers],
    '{"sampleIndex":3}',
  );

/** Returns the status of a call on the gRPC port. */
async function grpcStep(port: number, headers: Readonly<Record<string, string>>): Promise<readonly [string, string]> {
  const session = await connectRaw(port);
  const { stream, ended } = callRaw(session, "Step", { ...headers });
  stream.resume().end(frame(new Uint8Array()));
  const { "grpc-status": status, "grpc-message": message } = await ended;
  session.destroy();
  return [String(status), decodeURI(String(message))];
}

const loopbackHosts = ["localhost", "localhost:8080", "LOCALHOST", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:8080"];
const otherHosts = [
  ...["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"],
  ...["[::2]:80", "0.0.0.0", "localhost:80:80"],
];

/** Targets as gRPC's clients send them: without their scheme, and with it, as some do. */
const loopbackTargets = [
  ...["127.0.0.1:50051,127.0.0.1:50052", "127.0.0.1:1,localhost:2,[::1]:3", "[::1]:50051,[::1]:50052"],
  ...["ipv4:127.0.0.1:1,127.0.0.2:2", "ipv6:[::1]:1,[::1]:2", "dns:localhost:1", "dns:localhost"],
];
const otherTargets = [
  ...[
    "127.0.0.1:1,evil.example:2",
    "evil.example,127.0.0.1",
    "127.0.0.1:1,10.0.0.1:2",
    "127.0.0.1,",
    ",",
    ",localhost",
  ],
  ...["ipv4:127.0.0.1:1,10.0.0.1:2", "dns:evil.example", "dns:8080", "unix:localhost"],
  ...["ipv4:ipv4:127.0.0.1", "localhost,[::2]:80", "ipv4:"],
];

describe("a server that asks for no credentials", () => {
  test.each(loopbackTargets)("is called by a gRPC client whose target is %s", async (target) => {
    const { grpcPort } = await start(handlers);
    expect((await grpcStep(grpcPort, { ":authority": target }))[0]).toBe("0");
  });

  test.each(otherTargets)("is not called by '%s', of which not every address is its own", async (target) => {
    const { httpPort, grpcPort } = await start(handlers);
    expect((await grpcStep(grpcPort, { ":authority": target }))[0]).toBe("7");
    expect([400, 403]).toContain((await step(httpPort, `host: ${target}`))[0]);
  });

  test.each(loopbackHosts)("is called by %s", async (host) => {
    const { httpPort, grpcPort } = await start(handlers);
    expect((await step(httpPort, `host: ${host}`))[0]).toBe(200);
    expect((await grpcStep(grpcPort, { ":authority": host }))[0]).toBe("0");
  });

  test.each(otherHosts)("is not called by %s", async (host) => {
    const { httpPort, grpcPort } = await start(handlers);
    const words = "this server asks for no credentials, so the request's Host must be a loopback name or address";
    const [status, text] = await step(httpPort, `host: ${host}`);
    // Some of these names are not valid hosts.
    expect([400, 403]).toContain(status);
    if (status === 403) expect(text).toContain(words);
    expect(await grpcStep(grpcPort, { ":authority": host })).toEqual(["7", expect.stringContaining(words)]);
  });

  test("is not called by a page that has made its own name lead here, whatever it asks for", async () => {
    const { httpPort } = await start(handlers);
    const page = ["host: evil.example:8080", "origin: http://evil.example:8080"];
    expect((await step(httpPort, ...page))[0]).toBe(403);
    expect((await send(httpPort, ["GET /metrics HTTP/1.1", "host: evil.example"]))[0]).toBe(403);
    expect((await send(httpPort, ["GET /metrics HTTP/1.1", "host: localhost"]))[0]).toBe(200);
  });

  test("is called by its own page, and by none of another port", async () => {
    const { httpPort } = await start(handlers);
    const host = `127.0.0.1:${httpPort}`;
    expect((await step(httpPort, `host: ${host}`, `origin: http://${host}`))[0]).toBe(200);
    expect((await step(httpPort, `host: ${host}`, "origin: http://127.0.0.1:1"))[0]).toBe(403);
    expect((await step(httpPort, `host: ${host}`, `origin: ${host}`))[0]).toBe(403);
  });

  test("is called by a name that a flag adds, or by any", async () => {
    const named = await start(handlers, { allowedHost: ["Gym.example", "[2001:db8::1]"] });
    for (const host of ["gym.example", "gym.example:8080", "[2001:db8::1]:8080", "localhost"]) {
      expect((await step(named.httpPort, `host: ${host}`))[0], host).toBe(200);
      expect((await grpcStep(named.grpcPort, { ":authority": host }))[0], host).toBe("0");
    }
    expect((await step(named.httpPort, "host: evil.example"))[0]).toBe(403);
    const open = await start(handlers, { allowedHost: ["*"] });
    expect((await step(open.httpPort, "host: evil.example"))[0]).toBe(200);
  });

  test("answers health checks by any name: load balancers ask by address", async () => {
    const { httpPort, grpcPort } = await start(handlers);
    expect(await send(httpPort, ["GET /healthz HTTP/1.1", "host: 10.0.0.7:8080"])).toEqual([
      200,
      expect.stringContaining("ok\n"),
    ]);
    expect(await checkHealth(grpcPort)).toBe("SERVING");
  });
});

test("a server that asks for a token may have any name", async () => {
  const { httpPort, grpcPort } = await start(handlers, { token });
  expect((await step(httpPort, "host: gym.example", `authorization: Bearer ${token}`))[0]).toBe(200);
  const headers = { ":authority": "gym.example", authorization: `Bearer ${token}` };
  expect((await grpcStep(grpcPort, headers))[0]).toBe("0");
});

describe.each([{}, { token }])("with %j, an origin", (flags) => {
  const credentials = "token" in flags ? [`authorization: Bearer ${token}`] : [];
  const origins = ["https://evil.example", "http://localhost:3000", "null", ""];

  test.each(origins)("that is not listed is refused: '%s'", async (origin) => {
    const { httpPort, grpcPort } = await start(handlers, { ...flags, corsOrigin: ["https://gym.example"] });
    const [status, text] = await step(httpPort, "host: localhost", `origin: ${origin}`, ...credentials);
    expect([status, text]).toEqual([403, expect.stringContaining(`web pages of the origin '${origin}' may not call`)]);
    const headers = { origin, authorization: `Bearer ${token}` };
    expect((await grpcStep(grpcPort, headers))[0]).toBe("7");
  });

  test("that is listed may call", async () => {
    const { httpPort } = await start(handlers, { ...flags, corsOrigin: ["https://gym.example"] });
    expect((await step(httpPort, "host: localhost", "origin: https://gym.example", ...credentials))[0]).toBe(200);
  });
});
