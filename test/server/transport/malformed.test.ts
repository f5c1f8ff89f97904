/** Tests of malformed requests: they are the caller's fault, and the error says so in the form of the call. */
import { Code } from "@connectrpc/connect";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type Fixture, start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame } from "./grpc/raw.ts";
import { echo, echoAll } from "./handlers.ts";

afterEach(stopAll);

const handlers = { step: echo, streamSteps: echoAll };

interface Status {
  readonly code: number;
  readonly message: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

async function overGrpc({ grpcPort }: Fixture, { method = "Step", headers = {}, body }: Sent): Promise<Status> {
  const session = await connectRaw(grpcPort);
  const { stream, ended } = callRaw(session, method, { ...headers });
  stream.resume().end(body);
  const { "grpc-status": status, "grpc-message": message } = await ended;
  session.destroy();
  return { code: Number(status), message: decodeURI(String(message)) };
}

/** Calls by gRPC-Web, whose status stands in the answer's body. */
async function overWeb({ httpPort }: Fixture, { method = "Step", headers = {}, body }: Sent): Promise<Status> {
  const url = `http://127.0.0.1:${httpPort}/gradus.v1.EnvironmentService/${method}`;
  const init = { method: "POST", headers: { "content-type": "application/grpc-web+proto", ...headers } };
  const response = await fetch(url, { ...init, body: Uint8Array.from(body) });
  const trailers = (await response.text()) + [...response.headers].map((pair) => pair.join(": ")).join("\r\n");
  const [, code] = /grpc-status: (\d+)/.exec(trailers) ?? [];
  const [, message = ""] = /grpc-message: ([^\r\n]*)/.exec(trailers) ?? [];
  return { code: Number(code), message: decodeURIComponent(message) };
}

const ports = [
  ["gRPC", overGrpc],
  ["gRPC-Web", overWeb],
] as const;
const noMessage = Uint8Array.of(0xff, 0xff, 0xff);
const flagged = (flag: number, contents: Uint8Array) => {
  const framed = frame(contents);
  framed.writeUInt8(flag);
  return framed;
};
const path = "gradus.v1.EnvironmentService/Step";

describe.each(ports)("over %s", (_, call) => {
  test.each<readonly [string, Sent, string]>([
    ["no protobuf", { body: frame(noMessage) }, "the request's 3 bytes are not a gradus.v1.StepRequest message"],
    [
      "an unknown compression flag",
      { body: flagged(4, noMessage) },
      "begins with the compression flag 4, which must be 0 or 1",
    ],
    ["compressed, and not how", { body: flagged(1, gzipSync("")) }, "a message is compressed, but no header of the"],
    [
      "compressed, and not as it says",
      { body: flagged(1, noMessage), headers: { "grpc-encoding": "gzip" } },
      "a message is not valid gzip",
    ],
    ["no message", { body: Buffer.alloc(0) }, `${path} takes one request message, and none came`],
    ["two messages", { body: Buffer.alloc(10) }, `${path} takes one request message, and more than one came`],
    ["half a message", { body: frame(noMessage).subarray(0, 7) }, "ended within a message, after 7 bytes of it"],
    ["half a header", { body: Buffer.alloc(3) }, "ended within a message, after 3 bytes of it"],
    ["a time-out that is none", { body: frame(Buffer.alloc(0)), headers: { "grpc-timeout": "10" } }, "timeout"],
  ])("%s", async (_name, sent, words) => {
    const { code, message } = await call(await start(handlers), sent);
    expect([code, message]).toEqual([Code.InvalidArgument, expect.stringContaining(words)]);
    expect(message).not.toMatch(/stream/i);
  });

  test("a request that had expired when it came", async () => {
    const sent = { body: frame(Buffer.alloc(0)), headers: { "grpc-timeout": "0m" } };
    const { code, message } = await call(await start(handlers), sent);
    expect([code, message]).toEqual([
      Code.DeadlineExceeded,
      expect.stringContaining("the deadline had already passed when the"),
    ]);
  });
});

test.each(["", "S", "10", "-5S", "10 S", "1.5S", "123456789S", "5s", "10Sx", "x10S"])(
  "over gRPC '%s' is no grpc-timeout",
  async (timeout) => {
    const sent = { body: frame(Buffer.alloc(0)), headers: { "grpc-timeout": timeout } };
    const words = `grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n; got '${timeout}'`;
    expect(await overGrpc(await start(handlers), sent)).toEqual({ code: Code.InvalidArgument, message: words });
  },
);

test.each(["99999999H", "27000H", "2147484S", "99999999n", "500000u"])(
  "over gRPC a time-out of %s does not pass at once",
  async (timeout) => {
    const sent = { body: frame(Buffer.alloc(0)), headers: { "grpc-timeout": timeout } };
    expect((await overGrpc(await start(handlers), sent)).code).toBe(0);
  },
);

test("over gRPC a compression that is not known is refused by its name", async () => {
  const sent = { body: flagged(1, noMessage), headers: { "grpc-encoding": "br" } };
  const message = "the request's messages are compressed with 'br', and this server reads gzip and deflate";
  expect(await overGrpc(await start(handlers), sent)).toEqual({ code: Code.Unimplemented, message });
});

test("over gRPC deflate is read", async () => {
  const { deflateSync } = await import("node:zlib");
  // sample_index is field 3: 7.
  const body = flagged(1, deflateSync(Uint8Array.of(0x18, 7)));
  expect((await overGrpc(await start(handlers), { body, headers: { "grpc-encoding": "deflate" } })).code).toBe(0);
});

describe("over Connect", () => {
  const connect = async (type: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}) => {
    const server = await start(handlers);
    const url = `http://127.0.0.1:${server.httpPort}/${path}`;
    const init = { method: "POST", headers: { "content-type": `application/${type}`, ...headers } };
    const answer = (await (await fetch(url, { ...init, body: Uint8Array.from(body) })).json()) as object;
    return { ...answer, logged: server.lines().find(({ msg }) => msg === "call")?.["code"] };
  };
  const code = "invalid_argument";
  const logged = "INVALID_ARGUMENT";

  test("binary that is none", async () => {
    const message = expect.stringContaining("the request's 3 bytes are not a gradus.v1.StepRequest message") as string;
    expect(await connect("proto", noMessage)).toEqual({ code, message, logged });
  });

  test("JSON that is none", async () => {
    const message = expect.stringContaining("cannot decode message gradus.v1.StepRequest from JSON") as string;
    for (const body of ["{", "[]", '{"nothing": 1}']) {
      expect(await connect("json", Buffer.from(body)), body).toEqual({ code, message, logged });
    }
    const empty = "the body is empty: a StepRequest without fields is sent as {}";
    expect(await connect("json", Buffer.alloc(0))).toEqual({ code, message: empty, logged });
  });

  test.each(["x", "-1", "1.5", "99999999999"])("a time-out of '%s'", async (timeout) => {
    const answer = await connect("proto", Buffer.alloc(0), { "connect-timeout-ms": timeout });
    expect(answer).toMatchObject({ code, logged });
  });

  test("a request that had expired when it came", async () => {
    const answer = await connect("proto", Buffer.alloc(0), { "connect-timeout-ms": "0" });
    expect(answer).toMatchObject({ code: "deadline_exceeded", logged: "DEADLINE_EXCEEDED" });
  });
});
