/** Bidirectional streams on the gRPC port. */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { StreamStepsResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { RpcError } from "../../../server/base/rpc.ts";
import { start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame } from "./grpc/raw.ts";
import { echoAll, idsOf, latch, requestsOf } from "./handlers.ts";
import { until } from "../../support/patience.ts";

afterEach(stopAll);

test("each request gets its answer, and the end is OK", async () => {
  const server = await start({ streamSteps: echoAll });
  const ids = await idsOf(server.grpc().streamSteps(requestsOf(2000)));
  expect(ids).toEqual(Array.from({ length: 2000 }, (_, index) => String(index)));
});

test("answers come while requests are still to be sent", async () => {
  const server = await start({ streamSteps: echoAll });
  const answered = Array.from({ length: 5 }, latch);
  const afterAnswer = (index: number) => answered[index - 1]?.opened ?? Promise.resolve();
  let count = 0;
  for await (const { requestId } of server.grpc().streamSteps(requestsOf(5, afterAnswer))) {
    expect(requestId).toBe(String(count));
    answered[count++]?.open();
  }
  expect(count).toBe(5);
});

test("a handler may answer and end before the requests do", async () => {
  const server = await start({
    async *streamSteps(requests) {
      for await (const { requestId } of requests) {
        yield create(StreamStepsResponseSchema, { requestId });
        return;
      }
    },
  });
  const never = latch();
  const ids = await idsOf(
    server.grpc().streamSteps(requestsOf(2, (index) => (index === 0 ? Promise.resolve() : never.opened))),
  );
  expect(ids).toEqual(["0"]);
});

test("a failure ends the stream after the answers that came before it", async () => {
  const server = await start({
    async *streamSteps(requests) {
      for await (const { requestId } of requests) {
        if (requestId === "3") throw new RpcError("FAILED_PRECONDITION", "three");
        yield create(StreamStepsResponseSchema, { requestId });
      }
    },
  });
  const ids: string[] = [];
  const reading = (async () => {
    for await (const { requestId } of server.grpc().streamSteps(requestsOf(10))) ids.push(requestId);
  })();
  await expect(reading).rejects.toMatchObject({ code: Code.FailedPrecondition, rawMessage: "three" });
  expect(ids).toEqual(["0", "1", "2"]);
});

test("a caller that goes away aborts the handler's signal", async () => {
  const begun = latch();
  const aborted = latch();
  const server = await start({
    async *streamSteps(_, { signal }) {
      begun.open();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted.open();
    },
  });
  const abort = new AbortController();
  const never = latch();
  const reading = idsOf(
    server.grpc().streamSteps(
      requestsOf(1, () => never.opened),
      { signal: abort.signal },
    ),
  );
  await begun.opened;
  abort.abort();
  await expect(reading).rejects.toBeInstanceOf(ConnectError);
  await aborted.opened;
  await until(() => server.lines().some(({ code }) => code === "CANCELLED"));
});

describe("backpressure", () => {
  const big = "x".repeat(64 * 1024);

  test("a reader that does not read stops the handler", async () => {
    let produced = 0;
    const server = await start({
      async *streamSteps() {
        for (; produced < 500; produced += 1) yield create(StreamStepsResponseSchema, { requestId: big });
      },
    });
    const session = await connectRaw(server.grpcPort, { settings: { initialWindowSize: 65_535 } });
    const { stream, ended } = callRaw(session, "StreamSteps");
    stream.end();
    stream.pause();
    // Waits until the count stands still: without flow control it would run to the end.
    await until(async () => {
      const before = produced;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return produced > 0 && produced === before;
    });
    expect(produced).toBeLessThan(100);
    stream.resume();
    expect(await ended).toMatchObject({ "grpc-status": "0" });
    expect(produced).toBe(500);
    session.destroy();
  });

  test("a handler that does not read stops the sender", async () => {
    const hold = latch();
    const server = await start({
      async *streamSteps(requests) {
        await hold.opened;
        yield* echoAll(requests);
      },
    });
    const session = await connectRaw(server.grpcPort);
    const { stream, ended } = callRaw(session, "StreamSteps");
    const message = frame(Buffer.from([0x0a, 0x80, 0x80, 0x04, ...Buffer.from(big)]));
    let sent = 0;
    const sending = (async () => {
      for (; sent < 400; sent += 1) await new Promise((resolve) => stream.write(message, resolve));
      stream.end();
    })();
    await until(async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return sent > 0 && sent === before;
    });
    // The sum of the window, Node's read-ahead and the client's own buffers.
    expect(sent).toBeLessThan(200);
    hold.open();
    let answered = 0;
    stream.on("data", (chunk: Buffer) => (answered += chunk.length));
    await sending;
    expect(await ended).toMatchObject({ "grpc-status": "0" });
    expect(answered).toBe(400 * message.length);
    session.destroy();
  });
});
