/** Calls carry the trace that their caller has going on. */
import { type Context, context, type ContextManager, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Metadata } from "@grpc/grpc-js";
import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { createClient } from "../../../clients/ts/src/index.ts";
import { ListEnvironmentsResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { scriptedServer } from "./support/scripted-server.ts";

const spanContext = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 };
const going = trace.setSpanContext(ROOT_CONTEXT, spanContext);

/** A context manager as in an application that uses OpenTelemetry. */
const store = new AsyncLocalStorage<Context>();
const manager = {
  active: () => store.getStore() ?? ROOT_CONTEXT,
  with: (of: Context, work: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]) =>
    store.run(of, () => work.call(self, ...args)),
  bind: (_: Context, target: unknown) => target,
  enable: () => manager,
  disable: () => manager,
} as unknown as ContextManager;

beforeAll(() => {
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  context.disable();
  propagation.disable();
});

/** Returns the traceparent header of each call that some work makes. */
async function tracesOf(options: Parameters<typeof createClient>[1]): Promise<readonly (string | undefined)[]> {
  const heard: (string | undefined)[] = [];
  const hear = ({ metadata }: { readonly metadata: Metadata }): void => {
    heard.push(metadata.get("traceparent")[0]?.toString());
  };
  const server = await scriptedServer({
    ListEnvironments: (call: never, respond: (error: null, reply: object) => void) => {
      hear(call);
      respond(null, create(ListEnvironmentsResponseSchema));
    },
    WatchRun: (call: never) => {
      hear(call);
      (call as { end(): void }).end();
    },
    StreamSteps: (call: never) => {
      hear(call);
      (call as { end(): void }).end();
    },
  } as never);
  const client = createClient(server.address, { retry: false, ...options });
  await client.listEnvironments();
  await context.with(going, async () => {
    await client.listEnvironments();
    for await (const state of client.run("r").watch()) throw new Error(`a state: ${state.version}`);
    const group = { task: { taskId: "t", groupId: "g", runId: "" }, completions: ["a"] };
    for await (const { kind } of client.streamSteps([group])) expect(kind).not.toBe("scored");
  });
  client.close();
  server.stop();
  return heard;
}

test("each call of a trace says so, on streams too, and others say nothing", async () => {
  const header = `00-${spanContext.traceId}-${spanContext.spanId}-01`;
  expect(await tracesOf({ token: "correct-horse-battery-staple" })).toEqual([undefined, header, header, header]);
});

test("a client that is told not to says nothing", async () => {
  expect(await tracesOf({ tracing: false })).toEqual([undefined, undefined, undefined, undefined]);
});
