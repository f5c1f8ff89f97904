/** Tests of who may call: the token, TLS and mutual TLS, on both ports. */
import { Code } from "@connectrpc/connect";
import type { SecureContextOptions } from "node:tls";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { start, stopAll, withHeader } from "./fixture.ts";
import type { Handlers } from "./fixture.ts";
import { checkHealth } from "./grpc/health-client.ts";
import { echo, echoAll, failureOf, idsOf, requestsOf } from "./handlers.ts";

afterEach(stopAll);

const token = "correct-horse-battery-staple";
const handlers: Handlers = { step: async (message) => echo(message), streamSteps: echoAll };
const authorized = (brought: string) => ({ interceptors: [withHeader("authorization", brought)] });

describe.each(["grpc", "json", "web"] as const)("the token over %s", (port) => {
  test.each([`Bearer ${token}`, `bearer ${token}`])("'%s' lets a call in", async (brought) => {
    const server = await start(handlers, { token });
    expect((await server[port](authorized(brought)).step({ sampleIndex: 3 })).outcome?.sampleIndex).toBe(3);
  });

  test.each(["", token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, "Bearer", "Bearer  ", `Basic ${token}`])(
    "'%s' does not",
    async (brought) => {
      const server = await start(handlers, { token });
      const client = server[port](brought === "" ? {} : authorized(brought));
      expect(await client.step({}).catch(failureOf)).toMatchObject({
        code: Code.Unauthenticated,
        // The server distinguishes a wrong token from a missing one.
        rawMessage: /^Bearer +\S/.test(brought)
          ? "this server has no token like the one that was sent: check it, or ask the server's operator for one"
          : "this server requires a token: send the header 'authorization: Bearer <token>'",
      });
    },
  );
});

test("streams want the token too", async () => {
  const server = await start(handlers, { token });
  const refused = idsOf(server.grpc().streamSteps(requestsOf(3)));
  await expect(refused).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(await idsOf(server.grpc(authorized(`Bearer ${token}`)).streamSteps(requestsOf(3)))).toHaveLength(3);
});

test("health is open to all, metrics are not but on a port of their own", async () => {
  const server = await start(handlers, { token, metricsPort: "0" });
  expect(await checkHealth(server.grpcPort)).toBe("SERVING");
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.httpPort}${path}`, { headers }).then(({ status }) => status);
  expect(await get("/healthz")).toBe(200);
  expect(await get("/metrics")).toBe(401);
  expect(await get("/metrics", { authorization: `Bearer ${token}` })).toBe(200);
  const own = (path: string) => fetch(`http://127.0.0.1:${server.metricsPort}${path}`).then(({ status }) => status);
  expect(await own("/metrics")).toBe(200);
  expect(await own("/gradus.v1.EnvironmentService/Step")).toBe(404);
});

const folder = join(import.meta.dirname, "tls");
const pem = (name: string) => readFileSync(join(folder, name), "utf8");
const server = { tlsCert: join(folder, "server.crt"), tlsKey: join(folder, "server.key") };
const mutual = { ...server, tlsClientCa: join(folder, "ca.crt") };
const known: SecureContextOptions = { ca: pem("ca.crt") };
const client: SecureContextOptions = { ...known, cert: pem("client.crt"), key: pem("client.key") };
const stranger: SecureContextOptions = { ...known, cert: pem("stranger.crt"), key: pem("stranger.key") };

describe.each(["grpc", "json"] as const)("TLS over %s", (port) => {
  const step = async (flags: Readonly<Record<string, string>>, tls: SecureContextOptions) =>
    (await (await start(handlers, flags))[port]({ tls }).step({ sampleIndex: 8 }, { timeoutMs: 5000 })).outcome
      ?.sampleIndex;

  test("a client that knows the CA gets its answer", async () => {
    expect(await step(server, known)).toBe(8);
  });

  test("a client that does not know the CA refuses the server", async () => {
    await expect(step(server, {})).rejects.toThrow(/certificate/);
  });

  test("mutual TLS lets in whom its CA signed, and nobody else", async () => {
    expect(await step(mutual, client)).toBe(8);
    await expect(step(mutual, stranger)).rejects.toThrow();
    await expect(step(mutual, known)).rejects.toThrow();
  });
});

test("/healthz is served over TLS as well", async () => {
  const { httpPort } = await start(handlers, server);
  const status = await new Promise((resolve, reject) => {
    const agent = new Agent({ ...known });
    request(`https://127.0.0.1:${httpPort}/healthz`, { agent }, ({ statusCode }) => resolve(statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(200);
});

describe("HTTP/2 over TLS", () => {
  /** Opens an HTTP/2 session, and returns calls by it: a JSON body gives the status and the text. */
  async function session(flags: Readonly<Record<string, string>>, own: Handlers = handlers) {
    const { httpPort } = await start(own, flags);
    const opened = connect(`https://127.0.0.1:${httpPort}`, known);
    const call = (path: string, body?: string, headers: Readonly<Record<string, string>> = {}) =>
      new Promise<readonly [status: number | undefined, text: string]>((resolve, reject) => {
        const asked = body === undefined ? {} : { ":method": "POST", "content-type": "application/json" };
        const stream = opened.request({ ":path": path, ...asked, ...headers });
        let [status, text]: [number | undefined, string] = [undefined, ""];
        stream.on("response", (response) => {
          status = response[":status"];
        });
        stream.on("data", (piece: Buffer) => (text += piece.toString()));
        stream.on("end", () => resolve([status, text])).on("error", reject);
        stream.end(body);
      });
    return { opened, call };
  }

  test("many calls share one connection, and are answered by the token that they bring", async () => {
    const { opened, call } = await session({ ...server, token });
    const path = "/gradus.v1.EnvironmentService/Step";
    const authorization = `Bearer ${token}`;
    const calls = Array.from({ length: 40 }, (_, at) => call(path, `{"sampleIndex":${at + 1}}`, { authorization }));
    for (const [at, [status, text]] of (await Promise.all(calls)).entries()) {
      expect(status).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ outcome: { sampleIndex: at + 1 } });
    }
    expect(opened.alpnProtocol).toBe("h2");
    expect((await call("/readyz"))[0]).toBe(200);
    const [status, text] = await call(path, "{}");
    expect([status, JSON.parse(text)]).toMatchObject([401, { code: "unauthenticated" }]);
    expect((await call("/nowhere"))[0]).toBe(404);
    // /metrics still answers after all these calls.
    expect((await call("/metrics", undefined, { authorization }))[0]).toBe(200);
    opened.close();
  });

  test("the name that a browser calls by is looked at as in HTTP/1.1", async () => {
    const { opened, call } = await session(server);
    const path = "/gradus.v1.EnvironmentService/Step";
    expect((await call(path, "{}"))[0]).toBe(200);
    const [status, text] = await call(path, "{}", { ":authority": "gradus.attacker.example" });
    expect([status, JSON.parse(text)]).toMatchObject([403, { code: "permission_denied" }]);
    expect(text).toContain("gradus.attacker.example");
    opened.close();
  });

  test("a request that does not come whole is ended in time", async () => {
    const { opened } = await session({ ...server, requestTimeoutMs: "200" });
    const headers = { ":method": "POST", "content-type": "application/json" };
    const stream = opened.request({ ":path": "/gradus.v1.EnvironmentService/Step", ...headers });
    stream.write("{");
    let text = "";
    await new Promise((resolve, reject) => {
      stream.on("data", (piece: Buffer) => (text += piece.toString()));
      stream.on("end", resolve).on("error", reject);
    });
    expect(text).toContain("did not arrive completely within 200 ms");
    opened.destroy();
  });

  test("a session that is idle does not hold up the server's end, nor one that is cut a call", async () => {
    const { httpPort } = await start(handlers, server);
    const opened = connect(`https://127.0.0.1:${httpPort}`, known);
    await new Promise((resolve) => opened.once("connect", resolve));
    const asked = opened.request({ ":path": "/gradus.v1.EnvironmentService/Step", ":method": "POST" });
    asked.on("error", () => undefined);
    asked.write("{");
    await new Promise((resolve) => setTimeout(resolve, 50));
    opened.destroy();
    const idle = connect(`https://127.0.0.1:${httpPort}`, known);
    await new Promise((resolve) => idle.once("connect", resolve));
    const closed = new Promise((resolve) => idle.once("close", resolve));
    await Promise.all([stopAll(), closed]);
  });
});
