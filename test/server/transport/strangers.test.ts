/** Tests of the cost of callers without a token, and of callers that send little and make the server hold much. */
import { create, toBinary } from "@bufbuild/protobuf";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { StreamStepsRequestSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type Fixture, start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame, type RawCall } from "./grpc/raw.ts";
import { echo, echoAll } from "./handlers.ts";
import { eventually } from "../../support/patience.ts";

afterEach(stopAll);

const MiB = 1024 ** 2;
const token = "correct-horse-battery-staple";
const handlers = { step: echo, streamSteps: echoAll };
const path = "/gradus.v1.EnvironmentService/Step";

let bomb: Buffer;
let framedBomb: Buffer;
beforeAll(() => {
  bomb = gzipSync(Buffer.alloc(60 * MiB));
  framedBomb = frame(bomb);
  framedBomb.writeUInt8(1);
});

/** Returns how far buffers grew at most during the work, without those that were garbage. */
async function growthWhile(work: () => Promise<unknown>): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("the tests run with --expose-gc (vitest.config.ts)");
  const held = (): number => process.memoryUsage().arrayBuffers;
  gc();
  const before = held();
  let most = before;
  const look = (): void => {
    if (held() <= most) return;
    gc();
    most = Math.max(most, held());
  };
  const timer = setInterval(look, 1);
  await work();
  clearInterval(timer);
  return most - before;
}

/** Returns the status of a call as soon as it is answered, whether or not its request has ended. */
function statusOf({ stream, ended }: RawCall): Promise<Readonly<Record<string, unknown>>> {
  const answered = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    stream.once("response", (head) => "grpc-status" in head && resolve(head));
    stream.once("trailers", resolve);
  });
  stream.resume();
  return Promise.race([answered, ended]);
}

interface Post {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a part of a POST, and returns the answer. */
function post(port: number, headers: OutgoingHttpHeaders, bytes: Uint8Array): Promise<Post> {
  const sent = httpRequest({ port, method: "POST", path, headers });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  sent.write(bytes);
  return new Promise((resolve) => {
    sent.on("response", (response) => {
      void text(response).then((body) => {
        sent.destroy();
        resolve({ status: response.statusCode, headers: response.headers, body });
      });
    });
  });
}

describe("without the token", () => {
  test("a call on the gRPC port is refused by its headers, before any of its request has come", async () => {
    const server = await start(handlers, { token });
    const session = await connectRaw(server.grpcPort);
    for (const method of ["Step", "StreamSteps"]) {
      expect(await statusOf(callRaw(session, method))).toMatchObject({ "grpc-status": "16" });
    }
    session.destroy();
    const lines = server.lines().filter(({ msg }) => msg === "call");
    expect(lines.map(({ code, bytesIn }) => [code, bytesIn])).toEqual(Array(2).fill(["UNAUTHENTICATED", 0]));
    const metrics = await fetch(`http://127.0.0.1:${server.httpPort}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await metrics.text()).toMatch(/^gradus_calls_total\{method="[^"]*\/Step",code="UNAUTHENTICATED"\} 1$/m);
  });

  test("40 calls of 60 MB of compressed zeros cost nothing on the gRPC port", async () => {
    const server = await start(handlers, { token });
    const session = await connectRaw(server.grpcPort);
    const growth = await growthWhile(async () => {
      const calls = Array.from({ length: 40 }, () => callRaw(session, "Step", { "grpc-encoding": "gzip" }));
      for (const { stream } of calls) stream.end(framedBomb);
      const statuses = await Promise.all(calls.map(statusOf));
      expect(new Set(statuses.map((status) => status["grpc-status"]))).toEqual(new Set(["16"]));
    });
    expect(growth).toBeLessThan(40 * MiB);
    session.destroy();
  });

  test("nor on the HTTP port, which answers before the body has come", async () => {
    const server = await start(handlers, { token });
    const headers = {
      "content-type": "application/proto",
      "content-encoding": "gzip",
      "content-length": 2 * bomb.length,
    };
    const growth = await growthWhile(async () => {
      const posts = await Promise.all(Array.from({ length: 40 }, () => post(server.httpPort, headers, bomb)));
      expect(new Set(posts.map(({ status }) => status))).toEqual(new Set([401]));
    });
    expect(growth).toBeLessThan(40 * MiB);
  });

  test("health, which is open to all, takes requests of a name's size only", async () => {
    const server = await start(handlers, { token });
    const session = await connectRaw(server.grpcPort);
    const health = (body: Buffer) => {
      const headers = { ":path": "/grpc.health.v1.Health/Check", "grpc-encoding": "gzip" };
      const call = callRaw(session, "Step", headers);
      call.stream.end(body);
      return statusOf(call);
    };
    const growth = await growthWhile(async () => {
      const statuses = await Promise.all(Array.from({ length: 40 }, () => health(framedBomb)));
      expect(new Set(statuses.map((status) => status["grpc-status"]))).toEqual(new Set(["8"]));
    });
    expect(growth).toBeLessThan(40 * MiB);
    const small = frame(gzipSync(Buffer.alloc(MiB)));
    small.writeUInt8(1);
    expect(small.length).toBeLessThan(4096);
    expect(await health(small)).toMatchObject({ "grpc-status": "8" });
    session.destroy();
  });
});

describe("those who may call", () => {
  test("are stopped at the limit of a message while it is decompressed, on both ports", async () => {
    const server = await start(handlers, { maxMessageBytes: "1MiB" });
    const session = await connectRaw(server.grpcPort);
    const expected = /at least \d+ bytes, decompressed, more than the 1048576 of --max-message-bytes/;
    const growth = await growthWhile(async () => {
      const call = callRaw(session, "Step", { "grpc-encoding": "gzip" });
      call.stream.end(framedBomb);
      const status = await statusOf(call);
      expect([status["grpc-status"], decodeURI(String(status["grpc-message"]))]).toEqual([
        "8",
        expect.stringMatching(expected),
      ]);
      const headers = { "content-type": "application/proto", "content-encoding": "gzip" };
      const answer = await post(server.httpPort, { ...headers, "content-length": bomb.length }, bomb);
      expect([answer.status, answer.body]).toEqual([429, expect.stringMatching(expected)]);
    });
    expect(growth).toBeLessThan(16 * MiB);
    session.destroy();
  });

  test("count with what is decompressed against what all may hold, as it is made", async () => {
    const server = await start(handlers, { maxMessageBytes: "32MiB", maxHeldBytes: "32MiB" });
    // Each message alone is within the limit.
    const small = gzipSync(Buffer.alloc(30 * MiB));
    const headers = { "content-type": "application/proto", "content-encoding": "gzip", "content-length": small.length };
    const growth = await growthWhile(async () => {
      const posts = await Promise.all(Array.from({ length: 12 }, () => post(server.httpPort, headers, small)));
      expect(posts.filter(({ body }) => body.includes("--max-held-bytes")).length).toBeGreaterThan(5);
    });
    // Buffers that hold the messages may be four times as large as their bytes (ByteGatherer).
    expect(growth).toBeLessThan(12 * 30 * MiB * 0.75);
  });

  test("are decompressed two messages at a time, so that many connections hold no more than two do", async () => {
    const server = await start(handlers, { maxMessageBytes: "32MiB", maxHeldBytes: "1GiB" });
    const small = gzipSync(Buffer.alloc(30 * MiB));
    const framed = frame(small);
    framed.writeUInt8(1);
    const growth = await growthWhile(async () => {
      const sessions = await Promise.all(Array.from({ length: 16 }, () => connectRaw(server.grpcPort)));
      const calls = sessions.map((session) => callRaw(session, "Step", { "grpc-encoding": "gzip" }));
      for (const { stream } of calls) stream.end(framed);
      await Promise.all(calls.map(statusOf));
      for (const session of sessions) session.destroy();
    });
    // Two buffers of up to four times a message, and garbage that is not collected yet.
    expect(growth).toBeLessThan(9 * 30 * MiB);
  });

  test("are given room as their bytes come, whatever they say will come", async () => {
    // No call may time out, however slow the machine is.
    const server = await start(handlers, { requestTimeoutMs: "600000" });
    const sockets = Array.from({ length: 300 }, () => connect(server.httpPort, "127.0.0.1"));
    for (const socket of sockets) socket.on("error", () => undefined);
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${60 * MiB}\r\n\r\n{`;
    const growth = await growthWhile(async () => {
      await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(head, resolve))));
      await eventually(async () => expect(await inProgress(server)).toBe(300));
    });
    expect(growth).toBeLessThan(40 * MiB);
    for (const socket of sockets) socket.destroy();
  });
});

async function inProgress({ httpPort }: Fixture): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
  return Number(/^gradus_calls_in_progress\{method="[^"]*\/Step"\} (\d+)$/m.exec(metrics)?.[1]);
}

describe("a request that does not come whole", () => {
  const slow = { requestTimeoutMs: "200" };
  const words = "the request did not arrive completely within 200 ms (--request-timeout-ms)";

  test.each<readonly [string, string, Buffer]>([
    ["with nothing after its headers", "Step", Buffer.alloc(0)],
    ["with a part of its message", "Step", frame(Buffer.alloc(100)).subarray(0, 50)],
    ["whose message is not followed by its end", "Step", frame(Buffer.alloc(0))],
    ["with a part of a message of a stream", "StreamSteps", frame(Buffer.alloc(100)).subarray(0, 3)],
  ])("is ended after a time: %s", async (_, method, bytes) => {
    const server = await start(handlers, slow);
    const session = await connectRaw(server.grpcPort);
    const call = callRaw(session, method);
    if (bytes.length > 0) call.stream.write(bytes);
    const status = await statusOf(call);
    expect([status["grpc-status"], decodeURI(String(status["grpc-message"]))]).toEqual([
      "4",
      expect.stringContaining(words),
    ]);
    session.destroy();
  });

  test("may idle between the messages of a stream", async () => {
    const server = await start(handlers, slow);
    const session = await connectRaw(server.grpcPort);
    const { stream, ended } = callRaw(session, "StreamSteps");
    const message = frame(toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { requestId: "a" })));
    let answered = 0;
    stream.on("data", (data: Buffer) => (answered += data.length));
    for (let i = 0; i < 3; i++) {
      stream.write(message);
      await sleep(500);
    }
    stream.end();
    expect(await ended).toMatchObject({ "grpc-status": "0" });
    expect(answered).toBe(3 * message.length);
    session.destroy();
  });

  test("may wait for its handler longer than it may take to come", async () => {
    const large = "b".repeat(3 * MiB);
    let handled = 0;
    const server = await start(
      {
        async *streamSteps(requests) {
          for await (const request of requests) {
            // A part of a message waits behind the first one, and the end of all messages behind the last one.
            if (handled++ !== 1) await sleep(3000);
            yield* echoAll(
              (async function* () {
                yield request;
              })(),
            );
          }
        },
      },
      // Time enough for a message to arrive on a busy machine.
      { requestTimeoutMs: "2000" },
    );
    const session = await connectRaw(server.grpcPort);
    const { stream, ended } = callRaw(session, "StreamSteps");
    stream.resume();
    for (let i = 0; i < 3; i++) {
      stream.write(frame(toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { requestId: large }))));
    }
    stream.end();
    expect(await ended).toMatchObject({ "grpc-status": "0" });
    session.destroy();
  });

  test("is ended on the HTTP port too", async () => {
    const server = await start(handlers, slow);
    const headers = { "content-type": "application/json", "content-length": 100 };
    expect((await post(server.httpPort, headers, Buffer.from("{"))).status).toBe(408);
  });
});
