/** Tests that a shutdown loses nothing that is in flight. */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { StreamStepsResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { version } from "../../../server/runtime/version.ts";
import { keepaliveTimeMs } from "../../../server/transport/grpc/server.ts";
import { type Handlers, start, stopAll } from "./fixture.ts";
import { checkHealth } from "./grpc/health-client.ts";
import { echo, echoAll, failureOf, idsOf, latch, requestsOf } from "./handlers.ts";
import { until } from "../../support/patience.ts";

afterEach(stopAll);

describe.each(["grpc", "json"] as const)("over %s", (port) => {
  test("calls in progress end well, and new ones are told to go elsewhere", async () => {
    const hold = latch();
    const begun = Array.from({ length: 20 }, latch);
    const server = await start({
      step: async (request) => {
        begun[request.sampleIndex]?.open();
        await hold.opened;
        return echo(request);
      },
    });
    const client = server[port]();
    const calls = begun.map((_, sampleIndex) => client.step({ sampleIndex }));
    await Promise.all(begun.map(({ opened }) => opened));
    const drained = server.drain();
    const refused = await client.step({ sampleIndex: 99 }).catch(failureOf);
    expect(refused).toMatchObject({ code: Code.Unavailable });
    hold.open();
    const answers = await Promise.all(calls);
    expect(answers.map(({ outcome }) => outcome?.sampleIndex)).toEqual(begun.map((_, index) => index));
    await drained;
    await expect(client.step({})).rejects.toBeInstanceOf(ConnectError);
  });
});

test("a large answer to a slow reader is sent whole", async () => {
  const hold = latch();
  const begun = latch();
  const size = 16 * 1024 ** 2;
  const server = await start({
    async *streamSteps() {
      begun.open();
      await hold.opened;
      yield create(StreamStepsResponseSchema, { requestId: "x".repeat(size) });
    },
  });
  const reading = (async () => {
    let received = 0;
    for await (const { requestId } of server.grpc().streamSteps(requestsOf(0))) received += requestId.length;
    return received;
  })();
  await begun.opened;
  const drained = server.drain();
  hold.open();
  expect(await reading).toBe(size);
  await drained;
});

test("a stream's requests that have come are all answered, then it is cut with UNAVAILABLE", async () => {
  const arrived = latch();
  const hold = latch();
  const server = await start({
    async *streamSteps(requests) {
      for await (const { requestId } of requests) {
        if (requestId === "0") arrived.open();
        await hold.opened;
        yield create(StreamStepsResponseSchema, { requestId });
      }
    },
  });
  const ids: string[] = [];
  const never = latch();
  const reading = (async () => {
    // Requests for a stream: fifty at once, and then the stream stays open.
    const requests = requestsOf(51, (index) => (index < 50 ? Promise.resolve() : never.opened));
    for await (const { requestId } of server.grpc().streamSteps(requests)) ids.push(requestId);
  })();
  const failed = reading.catch(failureOf);
  await arrived.opened;
  const drained = server.drain();
  hold.open();
  expect(await failed).toMatchObject({ code: Code.Unavailable });
  expect(ids).toHaveLength(50);
  await drained;
});

test("a stream that goes on is served, and one that its caller ends is ended well", async () => {
  const server = await start({ streamSteps: echoAll });
  const started = latch();
  let draining: Promise<void> | undefined;
  const slowly = async (index: number) => {
    if (index === 1) {
      draining = server.drain();
      started.open();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  expect(await idsOf(server.grpc().streamSteps(requestsOf(20, slowly)))).toHaveLength(20);
  await draining;
});

test("a handler can end a stream of its own when the shutdown begins", async () => {
  const begun = latch();
  const server = await start({
    async *streamSteps(_, { draining }) {
      begun.open();
      await new Promise((resolve) => draining.addEventListener("abort", resolve));
      yield create(StreamStepsResponseSchema, { requestId: "last" });
    },
  });
  const never = latch();
  const ids = idsOf(server.grpc().streamSteps(requestsOf(1, () => never.opened)));
  await begun.opened;
  const drained = server.drain();
  expect(await ids).toEqual(["last"]);
  await drained;
});

test("calls that outlast the drain timeout are aborted and told so", async () => {
  const begun = latch();
  const server = await start(
    {
      step: (_, { signal }) => {
        begun.open();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    },
    { drainTimeoutMs: "100" },
  );
  const call = server.grpc().step({}).catch(failureOf);
  await begun.opened;
  await server.drain();
  expect(await call).toMatchObject({ code: Code.Unavailable });
  expect(server.lines().find(({ abandoned }) => abandoned === 1)).toBeDefined();
});

test("a server that drains is alive and not ready, on each of its ports", async () => {
  const hold = latch();
  const begun = latch();
  const step: Handlers["step"] = async (request) => {
    begun.open();
    await hold.opened;
    return echo(request);
  };
  const server = await start({ step }, { metricsPort: "0" });
  const probe = async (path: string) => {
    const ports = [server.httpPort, server.metricsPort];
    const answers = await Promise.all(ports.map((port) => fetch(`http://127.0.0.1:${port}${path}`)));
    return Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
  };
  const alive = [200, "ok\n"];
  const ready = [200, `ok\ngradus ${version}\n`];
  const draining = [503, "draining\n"];
  expect(await probe("/livez")).toEqual([alive, alive]);
  for (const path of ["/readyz", "/healthz"]) expect(await probe(path)).toEqual([ready, ready]);
  const call = server.grpc().step({});
  await begun.opened;
  const drained = server.drain();
  for (const path of ["/readyz", "/healthz"]) expect(await probe(path)).toEqual([draining, draining]);
  expect(await probe("/livez")).toEqual([alive, alive]);
  const { grpcPort } = server;
  for (const name of ["", "readiness", "gradus.v1.EnvironmentService"])
    expect(await checkHealth(grpcPort, name)).toBe("NOT_SERVING");
  expect(await checkHealth(grpcPort, "liveness")).toBe("SERVING");
  hold.open();
  await Promise.all([call, drained]);
});

test("draining twice is draining once", async () => {
  const server = await start({});
  await Promise.all([server.drain(), server.drain()]);
  await server.drain();
});

test("keepalive pings are further apart than a drain can last", () => {
  for (const drainTimeoutMs of [0, 30_000, 299_999, 3_600_000]) {
    expect(keepaliveTimeMs(drainTimeoutMs)).toBeGreaterThan(drainTimeoutMs + 60_000);
  }
});

test("nothing is left behind that would keep the process alive or the calls counted", async () => {
  const server = await start({ step: async (request) => echo(request) });
  await Promise.all(Array.from({ length: 50 }, (_, sampleIndex) => server.grpc().step({ sampleIndex })));
  await until(() => server.lines().filter(({ msg }) => msg === "call").length === 50);
  await server.drain();
  expect(server.lines().find(({ msg }) => msg === "draining")).toMatchObject({ inflight: 0 });
});
