/** Tests that the memory of calls is bounded, and that every call leaves a log line, even if no handler saw it. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  StepResponseSchema,
  StreamStepsRequestSchema,
  StreamStepsResponseSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import type { Fixture, Handlers } from "../fixture.ts";
import { start, stopAll } from "../fixture.ts";
import { callRaw, connectRaw, frame } from "./raw.ts";
import { eventually } from "../../../support/patience.ts";

const MiB = 1024 ** 2;
const limits = { maxHeldBytes: "8MiB", maxMessageBytes: "4MiB", maxCompletionBytes: "4MiB" };
const step = () => create(StepResponseSchema, { outcome: { sampleIndex: 7 } });

let server: Fixture;
let session: ClientHttp2Session;
let seen: string[];

/** Takes one request, and then no more until the call is over. */
const takesOne: Handlers["streamSteps"] = async function* (requests, { signal }) {
  for await (const { requestId } of requests) {
    seen.push(requestId);
    yield create(StreamStepsResponseSchema, { requestId });
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }
};

beforeEach(async () => {
  seen = [];
  server = await start({ step, streamSteps: takesOne }, limits);
  session = await connectRaw(server.grpcPort, { maxSessionMemory: 1000 });
});
afterEach(async () => {
  session.destroy();
  await stopAll();
});

/** Returns the method and code of each call that has ended. */
const ended = () =>
  server
    .lines()
    .filter(({ msg }) => msg === "call")
    .map(({ method, code }) => `${String(method).split("/")[1]} ${String(code)}`);

/** Returns the answer to a call, without waiting for the client's side to end. */
async function answerTo(write: (stream: ReturnType<typeof callRaw>["stream"]) => void, method: string, headers = {}) {
  const { stream, ended: over } = callRaw(session, method, headers);
  const answered = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
    stream.once("response", (head) => "grpc-status" in head && resolve(head));
    stream.once("trailers", resolve);
  });
  stream.resume();
  write(stream);
  return Promise.race([answered, over]);
}

const half = (stream: ReturnType<typeof callRaw>["stream"]) =>
  void stream.write(frame(Buffer.alloc(4 * MiB)).subarray(0, 3 * MiB));

test("requests that never come whole are refused where there are too many, and others are answered", async () => {
  const refused = await Promise.race(Array.from({ length: 3 }, () => answerTo(half, "Step")));
  expect(refused).toMatchObject({ "grpc-status": "8", "retry-delay-ms": "1000" });
  expect(decodeURI(String(refused["grpc-message"]))).toMatch(/--max-held-bytes/);
  expect(ended()).toEqual(["Step RESOURCE_EXHAUSTED"]);
  const other = await answerTo((stream) => void stream.end(frame(new Uint8Array())), "Step");
  expect(other).toMatchObject({ "grpc-status": "0" });
});

test("an over-long message is refused with the limit, logged and counted", async () => {
  for (const method of ["Step", "StreamSteps"]) {
    const answer = await answerTo((stream) => void stream.write(frame(Buffer.alloc(4 * MiB + 1))), method);
    expect(answer).toMatchObject({ "grpc-status": "8" });
    expect(decodeURI(String(answer["grpc-message"]))).toMatch(/4194305 bytes, more than the 4194304 of --max-message-/);
  }
  await eventually(() => expect(ended()).toEqual(["Step RESOURCE_EXHAUSTED", "StreamSteps RESOURCE_EXHAUSTED"]));
  const metrics = await (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`)).text();
  for (const method of ["Step", "StreamSteps"]) {
    expect(metrics).toMatch(
      new RegExp(`^gradus_calls_total\\{method="[^"]*/${method}",code="RESOURCE_EXHAUSTED"\\} 1$`, "m"),
    );
    expect(metrics).toMatch(new RegExp(`^gradus_calls_in_progress\\{method="[^"]*/${method}"\\} 0$`, "m"));
  }
});

test("a caller that leaves before its request is whole leaves a line", async () => {
  half(callRaw(session, "Step", { "x-request-id": "left-early" }).stream);
  await new Promise((resolve) => session.ping(resolve));
  session.destroy();
  await eventually(() => expect(ended()).toEqual(["Step CANCELLED"]));
  expect(server.lines().find(({ msg }) => msg === "call")).toMatchObject({ requestId: "left-early" });
});

test("requests that end within a message are not taken for all that were sent", async () => {
  const answer = await answerTo((stream) => {
    half(stream);
    stream.end();
  }, "StreamSteps");
  expect(answer).toMatchObject({ "grpc-status": "3" });
  expect(decodeURI(String(answer["grpc-message"]))).toMatch(/ended within a message, after 3145728 bytes/);
});

test("calls without a message are told so, however many wait for their turns when they end", async () => {
  const server = await start({}, { maxConcurrentStreams: "1000" });
  const session = await connectRaw(server.grpcPort);
  const calls = Array.from({ length: 600 }, () => callRaw(session, "Step"));
  for (const { stream } of calls) stream.resume().end();
  const statuses = await Promise.all(calls.map(async ({ ended }) => (await ended)["grpc-status"]));
  expect(new Set(statuses)).toEqual(new Set(["3"]));
  session.destroy();
});

test("what cannot be decompressed is logged as it was answered", async () => {
  const broken = frame(Buffer.from("no gzip"));
  broken.writeUInt8(1);
  for (const method of ["Step", "StreamSteps"]) {
    const answer = await answerTo((stream) => void stream.write(broken), method, { "grpc-encoding": "gzip" });
    expect(answer).toMatchObject({ "grpc-status": "3", "grpc-message": "a%20message%20is%20not%20valid%20gzip" });
    session.destroy();
    session = await connectRaw(server.grpcPort);
  }
  await eventually(() => expect(ended()).toEqual(["Step INVALID_ARGUMENT", "StreamSteps INVALID_ARGUMENT"]));
});

test("few bytes that decompress to many are held to the limit", async () => {
  const groups = [{ taskId: "none", completions: [{ text: "a".repeat(3.5 * MiB) }] }];
  const bomb = frame(gzipSync(toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { groups }))));
  bomb.writeUInt8(1);
  const bombs = Buffer.concat(Array.from({ length: 12 }, () => bomb));
  expect(bombs.length).toBeLessThan(64 * 1024);
  const answer = await answerTo((stream) => void stream.write(bombs), "StreamSteps", { "grpc-encoding": "gzip" });
  expect(answer).toMatchObject({ "grpc-status": "8" });
  await eventually(() => expect(ended()).toEqual(["StreamSteps RESOURCE_EXHAUSTED"]));
  expect(seen).toEqual([""]);
});

test("callers that do not read their answers are reset", async () => {
  const echoed = toBinary(
    StreamStepsRequestSchema,
    create(StreamStepsRequestSchema, { requestId: "a".repeat(3 * MiB) }),
  );
  const calls = Array.from({ length: 3 }, () => callRaw(session, "StreamSteps"));
  for (const { stream } of calls) stream.write(frame(echoed));
  await expect(Promise.race(calls.map(({ ended: over }) => over))).rejects.toThrow(/ENHANCE_YOUR_CALM/);
  await eventually(() => expect(ended()).toEqual(["StreamSteps RESOURCE_EXHAUSTED"]));
});

test("large requests are not read far ahead of a handler that is busy", async () => {
  const groups = [{ taskId: "none", completions: [{ text: "a".repeat(1.5 * MiB) }] }];
  const requests = ["1", "2", "3", "4", "5"].map((requestId) =>
    frame(toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { requestId, groups }))),
  );
  const { stream } = callRaw(session, "StreamSteps");
  for (const request of requests) stream.resume().write(request);
  await eventually(() => expect(seen).toEqual(["1"]));
  await sleep(300);
  // The handler took one message and one is read ahead; of the others, only a stream's window has arrived.
  expect(stream.writableLength).toBeGreaterThan(0);
  expect(ended()).toEqual([]);
});
