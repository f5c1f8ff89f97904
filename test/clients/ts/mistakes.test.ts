/** Wrong addresses and options, against real little servers: each error says which mistake it is and the remedy. */
import { create } from "@bufbuild/protobuf";
import type { handleUnaryCall } from "@grpc/grpc-js";
import { createServer } from "node:http";
import { createServer as createHttp2Server, createSecureServer } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ClientOptions,
  createClient,
  GradusError,
  ListEnvironmentsResponseSchema,
} from "../../../clients/ts/src/index.ts";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";
import { scriptedServer } from "./support/scripted-server.ts";

const folder = join(import.meta.dirname, "../../server/transport/tls");
const pem = (name: string): string => readFileSync(join(folder, name), "utf8");
const certificate = { cert: pem("server.crt"), key: pem("server.key") };

/** Ports by the program that listens there. */
const ports = new Map<string, number>();
const servers: Server[] = [];
let gradus: TestServer;
let secure: TestServer;
let mutual: TestServer;

async function listen(name: string, server: Server): Promise<void> {
  // The test ignores these servers' errors about the calls; web servers themselves answer bytes that are no HTTP/1.1.
  for (const event of ["sessionError", "tlsClientError", "connection"])
    server.on(event, (one: { on?: (event: string, listener: () => void) => void }) =>
      one.on?.("error", () => undefined),
    );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  ports.set(name, address.port);
  servers.push(server);
}

const portOf = (address: string): number => Number(address.split(":").at(-1));

beforeAll(async () => {
  gradus = await openServer();
  const files = { tlsCert: join(folder, "server.crt"), tlsKey: join(folder, "server.key") };
  secure = await openServer(files);
  mutual = await openServer({ ...files, tlsClientCa: join(folder, "ca.crt") });
  ports.set("gradus grpc", portOf(gradus.address)).set("gradus http", portOf(gradus.http));
  ports.set("gradus grpc tls", portOf(secure.address)).set("gradus http tls", portOf(secure.http));
  ports.set("gradus grpc mutual", portOf(mutual.address));
  await listen(
    "web",
    createServer((_request, response) => response.writeHead(404).end("not here")),
  );
  await listen(
    "web tls",
    createHttpsServer(certificate, (_request, response) => response.writeHead(404).end()),
  );
  await listen(
    "http2",
    createHttp2Server((_request, response) => response.writeHead(404).end()),
  );
  await listen(
    "http2 tls",
    createSecureServer(certificate, (_request, response) => response.writeHead(404).end()),
  );
  await listen(
    "mail",
    createTcpServer((socket) => socket.write("220 mail.example ESMTP\r\n")),
  );
  await listen(
    "closing",
    createTcpServer((socket) => socket.destroy()),
  );
  await listen(
    "silent",
    createTcpServer(() => undefined),
  );
});
afterAll(async () => {
  for (const server of servers) {
    if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
    server.close();
    server.unref();
  }
  await gradus[Symbol.asyncDispose]();
  await secure[Symbol.asyncDispose]();
  await mutual[Symbol.asyncDispose]();
});

async function failureOf(call: Promise<unknown>): Promise<GradusError> {
  const error: unknown = await call.then(
    () => new Error("the call went through"),
    (caught: unknown) => caught,
  );
  if (error instanceof GradusError) return error;
  throw error;
}

const tlsOptions = { none: undefined, system: true, ours: { ca: pem("ca.crt") } } as const;

async function overGrpc(at: string, tls: keyof typeof tlsOptions, options: ClientOptions = {}): Promise<GradusError> {
  const client = createClient(`localhost:${ports.get(at)}`, { deadlineMs: 20_000, tls: tlsOptions[tls], ...options });
  try {
    return await failureOf(client.listEnvironments());
  } finally {
    client.close();
  }
}

describe("a gRPC client says which mistake it is, without trying again until its deadline", () => {
  test.each([
    ["gradus http", "none", "http_port", "is the HTTP port of a Gradus server: give the server's gRPC port, 50051"],
    ["gradus http", "system", "http_port", "or use @gradus/client/web with 'http://localhost:"],
    ["gradus http tls", "none", "http_port", "or use @gradus/client/web with 'https://localhost:"],
    ["gradus grpc tls", "none", "needs_tls", "speaks TLS: give the option tls, true or { ca }"],
    ["gradus grpc", "system", "no_tls", "speaks no TLS: leave the option tls out"],
    ["gradus grpc tls", "system", "certificate", "the server's certificate is not accepted ("],
    ["web", "none", "not_gradus", "answers HTTP/1.1, as web servers do, and is no Gradus server's gRPC port"],
    ["web tls", "ours", "not_gradus", "answers HTTP/1.1, as web servers do"],
    ["http2", "none", "not_gradus", "speaks gRPC without gradus.v1 (it says: Received HTTP status code 404)"],
    ["http2 tls", "ours", "not_gradus", "speaks gRPC without gradus.v1"],
    ["mail", "none", "not_gradus", "speaks neither HTTP/2 nor TLS"],
    ["mail", "system", "not_gradus", "speaks neither HTTP/2 nor TLS"],
    ["gradus http tls", "system", "http_port", "is the HTTP port of a Gradus server"],
  ] as const)("%s, TLS %s: %s", async (at, tls, mistake, words) => {
    const error = await overGrpc(at, tls);
    expect(error.mistake).toBe(mistake);
    expect(error.message).toContain(`localhost:${ports.get(at)}`);
    expect(error.message).toContain(words);
  });

  test.each([
    ["none", {}, "the server asks for a client's certificate ("],
    [
      "a stranger's",
      { cert: pem("stranger.crt"), key: pem("stranger.key") },
      "the server refuses this client's certificate",
    ],
  ])("a server that wants certificates is told of when the client shows %s", async (_name, shown, words) => {
    const tls = { ca: pem("ca.crt"), ...shown };
    const error = await overGrpc("gradus grpc mutual", "ours", { tls });
    expect(error.message).toContain(words);
    expect(error.mistake).toBe("certificate");
  });

  test.each(["closing", "silent"])(
    "a port that is %s may be a proxy's, which is no mistake for certain",
    async (at) => {
      const { message, mistake } = await overGrpc(at, "none", { deadlineMs: 2_000, retry: false });
      expect(message).toContain("takes connections and says nothing: it is no Gradus server's gRPC port, or a proxy");
      expect(mistake).toBeUndefined();
    },
  );

  test("streams and watches say it too", async () => {
    const client = createClient(`localhost:${ports.get("gradus http")}`);
    const group = { task: { taskId: "t", groupId: "g" }, completions: ["a"] };
    for await (const result of client.streamSteps([group]))
      expect(result).toMatchObject({ kind: "failed", error: { code: "UNAVAILABLE", mistake: "http_port" } });
    await expect(client.run("r").watch().next()).rejects.toMatchObject({ mistake: "http_port" });
    client.close();
  });

  test("another gRPC server is told from a Gradus server that lacks a call", async () => {
    const other = await scriptedServer({});
    const client = createClient(other.address, { retry: false });
    expect(await failureOf(client.run("r").get())).toMatchObject({ code: "UNIMPLEMENTED", mistake: "not_gradus" });
    client.close();
    other.stop();
    const environments: handleUnaryCall<unknown, object> = (_call, reply) =>
      reply(null, create(ListEnvironmentsResponseSchema));
    const older = await scriptedServer({ ListEnvironments: environments });
    const asking = createClient(older.address, { retry: false });
    expect(await failureOf(asking.run("r").get())).toMatchObject({ code: "UNIMPLEMENTED", mistake: undefined });
    asking.close();
    older.stop();
  });

  test("a server that is not there, or has no such name, is no mistake of the options", async () => {
    const away = await scriptedServer({});
    away.stop();
    for (const [address, reason] of [
      [away.address, "connect ECONNREFUSED"],
      ["nowhere.invalid:1", "its name cannot be resolved"],
    ] as const) {
      const client = createClient(address, { retry: false });
      const error = await failureOf(client.listEnvironments());
      expect(error).toMatchObject({ code: "UNAVAILABLE", mistake: undefined });
      expect(error.message).toContain(`no server answers at ${address}: ${reason}`);
      client.close();
    }
  });
});

describe("an address that is none is refused before any call", () => {
  test.each([
    ["http://localhost:50051", "it has a scheme: write 'localhost:50051'"],
    ["https://gradus.example:443", "it has a scheme: write 'gradus.example:443', and ask for TLS by its own option"],
    ["grpc://localhost:1/x?y", "it has a scheme and a path: write 'localhost:1'"],
    ["localhost:50051/", "it has a path: write 'localhost:50051'"],
    ["localhost", "it has no port: write 'localhost:50051', or the port that the server was given"],
    ["http://localhost", "it has no port: write 'localhost:50051'"],
    ["localhost:0", "it is not one host and one port from 1 to 65535"],
    ["localhost:65536", "it is not one host and one port from 1 to 65535"],
    ["::1:50051", "it is not one host and one port"],
    [":50051", "it is not one host and one port"],
    ["", "it is not one host and one port"],
  ])("%s", (address, remedy) => {
    const words = `address: want host:port of the server's gRPC port, e.g. localhost:50051; got '${address}': ${remedy}`;
    expect(() => createClient(address)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }) as Error);
    expect(() => createClient(address)).toThrow(words);
  });

  test.each([
    "localhost:1",
    "127.0.0.1:1",
    "[::1]:1",
    "dns:///a:1",
    "dns:a:1",
    "unix:/tmp/a",
    "dns:1",
    "ipv4:1.2.3.4:5",
  ])("%s is one", (address) => createClient(address).close());

  test.each([
    ["localhost:8080", "got 'localhost:8080': write 'http://localhost:8080'"],
    ["ftp://localhost", "got 'ftp://localhost'"],
    ["/gradus", "got '/gradus'"],
  ])("and a base URL: %s", (url, words) => {
    expect(() => createWebClient(url)).toThrow(
      `want the URL of the server's HTTP port, e.g. http://localhost:8080; ${words}`,
    );
  });
});

describe("a Connect client says which mistake it is", () => {
  test.each([
    [
      "http",
      "gradus grpc",
      "grpc_port",
      "speaks no HTTP/1.1, as gRPC ports do not: give the URL of the server's HTTP port",
    ],
    ["https", "gradus grpc tls", "grpc_port", "speaks no HTTP/1.1"],
    ["https", "gradus http", "no_tls", "speaks no TLS: write http:// in place of https://"],
    ["http", "gradus http tls", undefined, "it speaks TLS (then write https://)"],
    ["https", "gradus http tls", "certificate", "has a certificate that is not accepted: "],
    ["http", "web", "not_gradus", "answers, but not as a Gradus server does (HTTP 404)"],
    ["http", "closing", undefined, "no server answers at http://localhost:"],
  ] as const)("%s://%s: %s", async (scheme, at, mistake, words) => {
    const client = createWebClient(`${scheme}://localhost:${ports.get(at)}`, { retry: false });
    const error = await failureOf(client.listEnvironments());
    expect(error.message).toContain(words);
    expect(error.mistake).toBe(mistake);
  });
});
