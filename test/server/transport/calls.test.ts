/** Tests of the facts that a handler gets about its call, and of the state that remains after the call. */
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import type { CallContext } from "../../../server/base/rpc.ts";
import { start, stopAll, withHeader } from "./fixture.ts";
import { echo, failureOf, latch } from "./handlers.ts";
import { until } from "../../support/patience.ts";

afterEach(stopAll);

describe.each(["grpc", "json"] as const)("over %s", (port) => {
  test("the context says who calls, until when, and under which id", async () => {
    let seen: CallContext | undefined;
    let peer = "";
    const server = await start({
      step: async (request, context) => {
        seen = context;
        ({ peer } = context);
        context.log.info("hello");
        return echo(request);
      },
    });
    const client = server[port]({ interceptors: [withHeader("x-request-id", "rank-3/17")] });
    const before = Date.now();
    await client.step({ sampleIndex: 5 }, { timeoutMs: 60_000 });
    expect(seen?.requestId).toBe("rank-3/17");
    expect(peer).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(seen?.deadlineMs).toBeGreaterThan(before + 50_000);
    expect(seen?.signal.aborted).toBe(false);
    expect(server.lines().find(({ msg }) => msg === "hello")).toMatchObject({ requestId: "rank-3/17" });
  });

  test("a call leaves one line with its method, code, time and bytes", async () => {
    const server = await start({ step: async (request) => echo(request) });
    await server[port]().step({ completion: "y".repeat(1000) });
    const calls = () => server.lines().filter(({ msg }) => msg === "call");
    await until(() => calls().length > 0);
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toMatchObject({ method: "gradus.v1.EnvironmentService/Step", code: "OK" });
    expect(typeof calls()[0]?.["ms"]).toBe("number");
    expect(typeof calls()[0]?.["requestId"]).toBe("string");
    expect(calls()[0]?.["bytesIn"]).toBeGreaterThan(1000);
    expect(calls()[0]?.["bytesOut"]).toBeGreaterThan(0);
  });

  test("an id that a log could not bear is replaced", async () => {
    const server = await start({ step: async (request) => echo(request) });
    await server[port]({ interceptors: [withHeader("x-request-id", "a".repeat(500))] }).step({});
    await until(() => server.lines().some(({ msg }) => msg === "call"));
    expect(JSON.stringify(server.lines())).not.toContain("aaaa");
  });

  test("a deadline aborts the handler and is logged as such", async () => {
    const aborted = latch();
    const server = await start({
      step: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.open();
            reject(signal.reason as Error);
          });
        }),
    });
    const outcome = await server[port]().step({}, { timeoutMs: 100 }).catch(failureOf);
    expect(outcome).toMatchObject({ code: Code.DeadlineExceeded });
    await aborted.opened;
    await until(() => server.lines().some(({ msg, code }) => msg === "call" && code !== "OK"));
    // A client tells the server its deadline in whole milliseconds and hangs up by itself, perhaps a little before.
    const line = server.lines().find(({ msg }) => msg === "call");
    expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(line?.["code"]);
    expect(server.lines().some(({ msg }) => msg === "internal error")).toBe(false);
  });

  test("calls in progress beyond the limit are refused, and those below it are not", async () => {
    const hold = latch();
    const server = await start(
      {
        step: async (request) => {
          await hold.opened;
          return echo(request);
        },
      },
      { maxInflightCalls: "2" },
    );
    const client = server[port]();
    const held = [client.step({ sampleIndex: 1 }), client.step({ sampleIndex: 2 })];
    await until(async () => {
      const third = await client.step({ sampleIndex: 3 }, { timeoutMs: 300 }).catch(failureOf);
      return third instanceof ConnectError && third.code === Code.ResourceExhausted;
    });
    const refused = await client.step({}).catch(failureOf);
    expect(refused).toMatchObject({
      rawMessage: "the server already has 2 calls in progress, its limit (--max-inflight-calls)",
    });
    expect((refused as ConnectError).metadata.get("retry-delay-ms")).toBe("250");
    hold.open();
    expect((await Promise.all(held)).map(({ outcome }) => outcome?.sampleIndex)).toEqual([1, 2]);
    expect((await client.step({ sampleIndex: 4 })).outcome?.sampleIndex).toBe(4);
  });

  test("a message above the limit is refused by a status that names the limit; one at 4 MiB and more is not", async () => {
    const server = await start({ step: async (request) => echo(request) }, { maxMessageBytes: "6MiB" });
    const megabytes = (count: number) => ({ sampleIndex: 9, completion: "z".repeat(count * 1024 ** 2) });
    expect((await server[port]().step(megabytes(5))).outcome?.sampleIndex).toBe(9);
    const refused = await server[port]().step(megabytes(7)).catch(failureOf);
    expect(refused).toMatchObject({ code: Code.ResourceExhausted });
    expect((refused as ConnectError).rawMessage).toContain("6291456");
    expect((await server[port]().step({ sampleIndex: 2 })).outcome?.sampleIndex).toBe(2);
  });
});
