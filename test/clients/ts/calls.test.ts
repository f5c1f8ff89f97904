/** Single calls and watches, against servers that refuse, restart and stall. */
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { status as codes } from "@grpc/grpc-js";
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import {
  createClient,
  ListEnvironmentsResponseSchema,
  GetRunResponseSchema,
  NextBatchResponseSchema,
  ResetResponseSchema,
  WatchRunResponseSchema,
} from "../../../clients/ts/src/index.ts";
import type {
  ClientOptions,
  GradusClient,
  ListEnvironmentsRequest,
  NextBatchRequest,
  WatchRunRequest,
} from "../../../clients/ts/src/index.ts";
import { scriptedServer, status } from "./support/scripted-server.ts";
import type { Script } from "./support/scripted-server.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function against(script: Script, options?: ClientOptions): Promise<GradusClient> {
  const server = await scriptedServer(script);
  const client = createClient(server.address, options);
  cleanups.push(() => (client.close(), server.stop()));
  return client;
}

type Unary<Request = unknown> = (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => void;
const task = create(ResetResponseSchema, { task: { taskId: "t", groupId: "g" } });
const choice = { environment: "countdown", seed: 1 };

describe("a single call", () => {
  test("is sent again after the server's delay, until it succeeds", async () => {
    let attempts = 0;
    const Reset: Unary = (_call, done) => {
      if (++attempts < 3) done(status(codes.RESOURCE_EXHAUSTED, "the queue is full", 1));
      else done(null, task);
    };
    const client = await against({ Reset });
    expect(await client.reset(choice)).toMatchObject({ taskId: "t" });
    expect(attempts).toBe(3);
  });

  test("fails with code, message and delay; with retry off at once", async () => {
    let attempts = 0;
    const Reset: Unary = (_call, done) => {
      attempts++;
      done(status(codes.UNAVAILABLE, "feedback is due", 250));
    };
    const client = await against({ Reset }, { retry: false });
    await expect(client.reset(choice)).rejects.toMatchObject({
      name: "GradusError",
      code: "UNAVAILABLE",
      message: "feedback is due",
      retryDelayMs: 250,
    });
    expect(attempts).toBe(1);
  });

  test("misses its deadline", async () => {
    const client = await against({ Reset: (() => undefined) as Unary });
    await expect(client.reset(choice, { deadlineMs: 50 })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("is cancelled by its signal, on the server too", async () => {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const Reset: Unary = (call) => {
      call.on("cancelled", () => cancelled.resolve());
      controller.abort();
    };
    const client = await against({ Reset });
    await expect(client.reset(choice, { signal: controller.signal })).rejects.toMatchObject({ code: "CANCELLED" });
    await cancelled.promise;
    await expect(client.reset(choice, { signal: controller.signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("is made again where it was cut off on its way, as load balancers do", async () => {
    const cuts = [status(codes.CANCELLED, "Call cancelled"), status(codes.INTERNAL, "Received RST_STREAM with code 0")];
    const Reset: Unary = (_call, done) => {
      const cut = cuts.pop();
      if (cut === undefined) done(null, task);
      else done(cut);
    };
    const client = await against({ Reset });
    expect(await client.reset(choice)).toMatchObject({ taskId: "t" });
  });

  test("that cannot be written says so", async () => {
    const client = await against({});
    await expect(client.getEnvironment("countdown", -1)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("reads a reply of 16 MB", async () => {
    const content = "x".repeat(16 * 2 ** 20);
    const Reset: Unary = (_call, done) =>
      done(null, create(ResetResponseSchema, { task: { prompt: [{ role: "user", content }] } }));
    const client = await against({ Reset });
    expect((await client.reset(choice)).prompt[0]?.content.length).toBe(content.length);
  });

  test("waits for a server that comes back", async () => {
    const server = await scriptedServer({});
    server.stop();
    const client = createClient(server.address);
    cleanups.push(() => client.close());
    const call = client.reset(choice);
    const Reset: Unary = (_call, done) => done(null, task);
    const back = await scriptedServer({ Reset }, server.port);
    cleanups.push(() => back.stop());
    expect(await call).toMatchObject({ taskId: "t" });
  });
});

test("lists are read page by page", async () => {
  const ListEnvironments: Unary<ListEnvironmentsRequest> = ({ request }, done) => {
    const page = Number(request.pageToken || "0");
    const nextPageToken = page < 2 ? String(page + 1) : "";
    done(null, create(ListEnvironmentsResponseSchema, { environments: [{ id: `e${page}` }], nextPageToken }));
  };
  const client = await against({ ListEnvironments });
  expect((await client.listEnvironments()).map(({ id }) => id)).toEqual(["e0", "e1", "e2"]);
});

describe("nextBatch", () => {
  const GetRun: Unary = (_call, done) =>
    done(null, create(GetRunResponseSchema, { run: { runId: "r", state: { firstOpenCursor: 4n } } }));

  test("waits for feedback that is due, with and without a cursor", async () => {
    let attempts = 0;
    const NextBatch: Unary = (_call, done) => {
      if (++attempts % 3 !== 0) done(status(codes.UNAVAILABLE, "feedback of 4 groups is due", 1));
      else done(null, create(NextBatchResponseSchema, { nextCursor: 4n }));
    };
    const run = (await against({ GetRun, NextBatch })).run("r");
    expect((await run.nextBatch({ cursor: 0n })).nextCursor).toBe(4n);
    expect((await run.nextBatch()).nextCursor).toBe(4n);
    expect(attempts).toBe(6);
  });

  test("has the server answer before its time is over, for the answer says what is waited for", async () => {
    const waits: number[] = [];
    const NextBatch: Unary<NextBatchRequest> = ({ request: { wait } }, done) => {
      waits.push(Number(wait?.seconds) * 1000 + (wait?.nanos ?? 0) / 1e6);
      if (waits.length % 2 === 1) done(status(codes.UNAVAILABLE, "feedback of 4 groups is due", 1));
      else done(null, create(NextBatchResponseSchema, { nextCursor: 4n }));
    };
    const run = (await against({ NextBatch })).run("r");
    await run.nextBatch({ cursor: 0n }, { deadlineMs: 9_000 });
    await run.nextBatch({ cursor: 0n });
    await run.nextBatch({ cursor: 0n, waitMs: 70 });
    expect(waits.splice(0, 2).every((wait) => wait > 0 && wait <= 7_200)).toBe(true);
    expect(waits).toEqual([10_000, 10_000, 70, 70]);
  });

  test("keeps its position, and loses no tasks with a reply that is lost", async () => {
    const asked: (bigint | undefined)[] = [];
    const NextBatch: Unary<NextBatchRequest> = ({ request: { cursor } }, done) => {
      asked.push(cursor);
      if (asked.length % 2 === 1) done(status(codes.UNAVAILABLE, "connection dropped"));
      else done(null, create(NextBatchResponseSchema, { nextCursor: (cursor ?? 0n) + 2n }));
    };
    const run = (await against({ GetRun, NextBatch })).run("r");
    for (const next of [6n, 8n]) expect((await run.nextBatch()).nextCursor).toBe(next);
    expect((await run.nextBatch({ cursor: 1n })).nextCursor).toBe(3n);
    expect((await run.nextBatch()).nextCursor).toBe(10n);
    expect(asked).toEqual([4n, 4n, 6n, 6n, 1n, 1n, 8n, 8n]);
  });

  test("stays where it was after a failure", async () => {
    let answers = false;
    const NextBatch: Unary<NextBatchRequest> = ({ request: { cursor } }, done) => {
      if (answers) done(null, create(NextBatchResponseSchema, { nextCursor: (cursor ?? 0n) + 2n }));
      else done(status(codes.FAILED_PRECONDITION, "the run is paused"));
    };
    const run = (await against({ GetRun, NextBatch })).run("r");
    await expect(run.nextBatch()).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    answers = true;
    expect((await run.nextBatch()).nextCursor).toBe(6n);
  });

  test("batches follow the cursors that the server gives, to the end", async () => {
    const asked: (bigint | undefined)[] = [];
    const NextBatch: Unary<NextBatchRequest> = ({ request }, done) => {
      asked.push(request.cursor);
      const cursor = request.cursor ?? 0n;
      const tasks = cursor < 5n ? [{ taskId: `t${cursor}` }] : [];
      done(null, create(NextBatchResponseSchema, { tasks, nextCursor: cursor + 2n, done: cursor >= 5n }));
    };
    const run = (await against({ NextBatch })).run("r");
    const taskIds: string[] = [];
    for await (const batch of run.batches({ cursor: 1n })) taskIds.push(...batch.tasks.map(({ taskId }) => taskId));
    expect(taskIds).toEqual(["t1", "t3"]);
    expect(asked).toEqual([1n, 3n, 5n]);
  });
});

describe("watch", () => {
  type Watch = (call: ServerWritableStream<unknown, object>) => void;

  test("starts again when the server goes away, and ends when the server ends it", async () => {
    let streams = 0;
    const WatchRun: Watch = (call) => {
      call.write(create(WatchRunResponseSchema, { state: { cursor: BigInt(streams) } }));
      if (streams++ < 2) call.emit("error", status(codes.UNAVAILABLE, "draining", 1));
      else call.end();
    };
    const run = (await against({ WatchRun })).run("r");
    const cursors: bigint[] = [];
    for await (const { cursor } of run.watch()) cursors.push(cursor);
    expect(cursors).toEqual([0n, 1n, 2n]);
  });

  test("says how often it wants to be told, each time that it begins", async () => {
    const asked: number[] = [];
    const WatchRun: Watch = (call) => {
      asked.push((call.request as WatchRunRequest).intervalMs);
      call.write(create(WatchRunResponseSchema, { state: {} }));
      if (asked.length < 2) call.emit("error", status(codes.UNAVAILABLE, "draining", 1));
      else call.end();
    };
    const run = (await against({ WatchRun })).run("r");
    for await (const state of run.watch({ intervalMs: 1_000 })) expect(state.cursor).toBe(0n);
    expect(asked).toEqual([1_000, 1_000]);
    expect(await run.watch().next()).toMatchObject({ done: false });
    expect(asked[2]).toBe(0);
  });

  test("fails with a failure that is final, and leaves the server when the reader leaves", async () => {
    const cancelled = Promise.withResolvers<void>();
    const WatchRun: Watch = (call) => {
      call.write(create(WatchRunResponseSchema, { state: { cursor: 1n } }));
      call.on("cancelled", () => cancelled.resolve());
    };
    const client = await against({ WatchRun });
    for await (const { cursor } of client.run("r").watch()) if (cursor === 1n) break;
    await cancelled.promise;

    const refusing = await against({
      WatchRun: ((call) => call.emit("error", status(codes.NOT_FOUND, "no run 'q'"))) as Watch,
    });
    await expect(refusing.run("q").watch().next()).rejects.toMatchObject({ code: "NOT_FOUND", message: "no run 'q'" });
  });
});

test("nothing is opened before the first call; then both HTTP/2 windows are 8 MiB", async () => {
  const sessions: http2.ServerHttp2Session[] = [];
  const server = http2.createServer();
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "5" }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createClient(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  cleanups.push(() => {
    client.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(sessions).toEqual([]);
  await expect(client.reset(choice)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(sessions.map(({ remoteSettings }) => remoteSettings.initialWindowSize)).toEqual([8 * 2 ** 20]);
  // The server may send as much as the connection's window allows; grpc-js raises it after the settings.
  await expect.poll(() => sessions[0]?.state.remoteWindowSize).toBe(8 * 2 ** 20);
});
