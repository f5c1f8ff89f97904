/**
 * Tests of the HTTP/2 settings for which grpc-js has no option, as a client sees them. They fail if an upgrade loses
 * the settings.
 */
import { Server } from "@grpc/grpc-js";
import { create } from "@bufbuild/protobuf";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { StepResponseSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import {
  checkInternals,
  connectionWindowBytes,
  streamWindowBytes,
  unsettledStreamsMax,
} from "../../../../server/transport/grpc/internals.ts";
import { start, stopAll } from "../fixture.ts";
import { cancelledFrames, connectFrames, frameTypes, preface, stepFrames } from "./frames.ts";
import { callRaw, connectRaw, frame } from "./raw.ts";
import { eventually } from "../../../support/patience.ts";

afterEach(stopAll);

/** A handler whose calls end when the test says so. */
function held() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const step = async () => {
    await released;
    return create(StepResponseSchema, { outcome: { sampleIndex: 7 } });
  };
  return { step, release };
}

describe("windows", () => {
  test("a stream and a connection may send megabytes before they wait", async () => {
    const server = await start({});
    const session = await connectRaw(server.grpcPort);
    expect(session.remoteSettings.initialWindowSize).toBe(streamWindowBytes);
    // The connection's window comes as a WINDOW_UPDATE after the settings; a ping is answered after it.
    await new Promise((resolve) => session.ping(resolve));
    expect(session.state.remoteWindowSize).toBe(connectionWindowBytes);
    session.destroy();
  });

  test("a version of grpc-js that keeps its options elsewhere is refused, and the version named that is right", () => {
    expect(() => checkInternals(new Server())).not.toThrow();
    const installed = createRequire(import.meta.url)("@grpc/grpc-js/package.json") as { readonly version: string };
    expect(() => checkInternals({} as never)).toThrow(
      `was written for @grpc/grpc-js ${installed.version}, and Server.commonServerOptions is not what it was there`,
    );
  });
});

test("a connection has the configured number of streams", async () => {
  const server = await start({}, { maxConcurrentStreams: "17" });
  const session = await connectRaw(server.grpcPort);
  expect(session.remoteSettings.maxConcurrentStreams).toBe(17);
  session.destroy();
});

test("1,500 calls cancelled at once do not harm another call on the connection", async () => {
  const { step, release } = held();
  const server = await start({ step }, { maxConcurrentStreams: "2000", logLevel: "warn" });
  const session = await connectRaw(server.grpcPort);
  const unrelated = callRaw(session, "Step");
  unrelated.stream.resume().end(frame(new Uint8Array()));
  const doomed = Array.from({ length: 1500 }, () => callRaw(session, "Step"));
  for (const { stream } of doomed) stream.end(frame(new Uint8Array()));
  await new Promise((resolve) => session.ping(resolve));
  for (const { stream } of doomed) stream.close(8);
  await Promise.all(doomed.map(({ ended }) => ended.catch(() => undefined)));
  release();
  expect(await unrelated.ended).toMatchObject({ "grpc-status": "0" });
  session.destroy();
});

test("calls that are begun and cancelled faster than they can be closed do not close the connection", async () => {
  const { step, release } = held();
  const server = await start({ step }, { maxConcurrentStreams: "10", logLevel: "warn" });
  const { socket, received } = await connectFrames(server.grpcPort);
  socket.write(stepFrames(1));
  socket.write(Buffer.concat(Array.from({ length: 1000 }, (_, i) => cancelledFrames(2 * i + 3))));
  await sleep(300);
  release();
  const answered = { type: frameTypes.headers, stream: 1 };
  await eventually(() => expect(received).toContainEqual(answered));
  expect(received.map(({ type }) => type)).not.toContain(frameTypes.goaway);
  socket.destroy();
});

test("1,500 calls that are cancelled as they come do not close the connection, and 20,000 do, at little cost", async () => {
  const server = await start({ step: () => create(StepResponseSchema, { outcome: { sampleIndex: 7 } }) });
  const calls = () => server.lines().filter(({ msg }) => msg === "call").length;
  const trainer = await connectFrames(server.grpcPort);
  const cancelled = (count: number, from = 0) =>
    Buffer.concat(Array.from({ length: count }, (_, i) => cancelledFrames(2 * (from + i) + 1)));
  trainer.socket.write(cancelled(1500));
  await sleep(300);
  trainer.socket.write(stepFrames(3001));
  await eventually(() => expect(trainer.received).toContainEqual({ type: frameTypes.headers, stream: 3001 }));
  expect(trainer.received.map(({ type }) => type)).not.toContain(frameTypes.goaway);

  const stranger = await connectFrames(server.grpcPort);
  stranger.socket.on("error", () => undefined);
  const closed = new Promise((resolve) => stranger.socket.once("close", resolve));
  const before = calls();
  stranger.socket.write(cancelled(20_000));
  await closed;
  expect(stranger.received.map(({ type }) => type)).toContain(frameTypes.goaway);
  // A stream that was reset before its turn never became a call.
  expect(calls() - before).toBeLessThan(400);
  trainer.socket.destroy();
});

test("an address that resets streams over one connection after the other has none for a while, and others go on", async () => {
  const server = await start({ step: () => create(StepResponseSchema, { outcome: { sampleIndex: 7 } }) });
  const trainer = await connectFrames(server.grpcPort);
  const cancelled = Buffer.concat(Array.from({ length: 2000 }, (_, i) => cancelledFrames(2 * i + 1)));
  let accepted = 0;
  let isRefused = false;
  for (let i = 0; i < 60 && !isRefused; i++) {
    const before = accepted;
    const socket = connect({ port: server.grpcPort, host: "127.0.0.1", localAddress: "127.0.0.2" });
    socket.on("error", () => undefined);
    socket.once("data", () => accepted++);
    socket.write(Buffer.concat([preface, cancelled]));
    // A refused connection may end with an error, at which events.once rejects.
    await new Promise((resolve) => socket.once("close", resolve));
    isRefused = accepted === before;
  }
  expect(accepted).toBeGreaterThan(0);
  expect(isRefused).toBe(true);
  expect(server.lines().filter(({ msg }) => String(msg).includes("resets too many HTTP/2 streams"))).toEqual([
    expect.objectContaining({ address: "127.0.0.2" }),
  ]);
  trainer.socket.write(stepFrames(1));
  await eventually(() => expect(trainer.received).toContainEqual({ type: frameTypes.headers, stream: 1 }));
  trainer.socket.destroy();
});

test("a connection that never acknowledges the settings has some streams, and is then closed", async () => {
  const server = await start({ step: () => create(StepResponseSchema, { outcome: { sampleIndex: 7 } }) });
  const { socket, received } = await connectFrames(server.grpcPort, { settles: false });
  socket.on("error", () => undefined);
  const cancelled = (count: number, from: number) =>
    Buffer.concat(Array.from({ length: count }, (_, i) => cancelledFrames(2 * (from + i) + 1)));
  socket.write(Buffer.concat([cancelled(unsettledStreamsMax - 1, 0), stepFrames(2 * unsettledStreamsMax - 1)]));
  const answered = { type: frameTypes.headers, stream: 2 * unsettledStreamsMax - 1 };
  await eventually(() => expect(received).toContainEqual(answered));
  expect(received.map(({ type }) => type)).not.toContain(frameTypes.goaway);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(stepFrames(2 * unsettledStreamsMax + 1));
  await closed;
  expect(received.map(({ type }) => type)).toContain(frameTypes.goaway);
});
