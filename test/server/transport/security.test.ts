/** Who may call: the token, TLS and mutual TLS, on both ports. */
import { Code } from "@connectrpc/connect";
import type { SecureContextOptions } from "node:tls";
import { readFileSync } from "node:fs";
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
        // A token that is wrong is told apart from none.
        rawMessage: /^Bearer +\S/.test(brought)
          ? "this server has no token like the one that was sent: check it, or ask the server's operator for one"
          : "this server wants its token: send 'authorization: Bearer <token>'",
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
