/** Streams of steps against servers that reply out of order, late, twice, or not at all. */
import { status as codes } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { createClient } from "../../../clients/ts/src/index.ts";
import type { GradusClient, StepResult, StreamStepsRequest } from "../../../clients/ts/src/index.ts";
import { refusal, replyTo, scriptedServer, status } from "./support/scripted-server.ts";
import type { StepsCall } from "./support/scripted-server.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function streaming(StreamSteps: (call: StepsCall) => void): Promise<GradusClient> {
  const server = await scriptedServer({ StreamSteps: StreamSteps as never });
  const client = createClient(server.address);
  cleanups.push(() => (client.close(), server.stop()));
  return client;
}

const groups = (count: number): { task: { taskId: string; groupId: string }; completions: string[] }[] =>
  Array.from({ length: count }, (_, i) => ({ task: { taskId: "t", groupId: `g${i}` }, completions: ["x"] }));

async function collect(results: AsyncIterable<StepResult>): Promise<StepResult[]> {
  const all: StepResult[] = [];
  for await (const result of results) all.push(result);
  return all.sort((a, b) => a.index - b.index);
}

/** Each result belongs to its group. */
function expectScored(results: readonly StepResult[], count: number): void {
  expect(results.map((result) => (result.kind === "scored" ? result.outcome.groupId : result.error))).toEqual(
    groups(count).map(({ task }) => task.groupId),
  );
  expect(results.map(({ group }) => group.task.groupId)).toEqual(groups(count).map(({ task }) => task.groupId));
}

test("replies in reverse order find their groups", async () => {
  const client = await streaming((call) => {
    let held: StreamStepsRequest[] = [];
    call.on("data", (request: StreamStepsRequest) => {
      held.push(request);
      if (held.length < 8) return;
      for (const each of held.reverse()) call.write(replyTo(each));
      held = [];
    });
    call.on("end", () => call.end());
  });
  expectScored(await collect(client.streamSteps(groups(64), { window: 8 })), 64);
});

test("a reply that comes twice, or to nobody, is passed over", async () => {
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => {
      call.write(refusal("nobody", { code: codes.INTERNAL, message: "stray" }));
      call.write(replyTo(request));
      call.write(replyTo(request));
    });
    call.on("end", () => call.end());
  });
  expectScored(await collect(client.streamSteps(groups(20), { window: 3 })), 20);
});

test("a request without a reply misses its own deadline, and the others do not", async () => {
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => {
      if (request.groups[0]?.groupId !== "g2") call.write(replyTo(request));
    });
    call.on("end", () => call.end());
  });
  const results = await collect(client.streamSteps(groups(5), { window: 2, deadlineMs: 2000 }));
  expect(results.map(({ kind }) => kind)).toEqual(["scored", "scored", "failed", "scored", "scored"]);
  expect(results[2]).toMatchObject({ error: { code: "DEADLINE_EXCEEDED" } });
});

test("a refusal is the error of its group alone; one with a delay is sent again", async () => {
  let refusals = 0;
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => {
      const { requestId } = request;
      const groupId = request.groups[0]?.groupId;
      if (groupId === "g1") call.write(refusal(requestId, { code: codes.INVALID_ARGUMENT, message: "groups: no" }));
      else if (groupId === "g2" && refusals++ < 2)
        call.write(refusal(requestId, { code: codes.RESOURCE_EXHAUSTED, message: "full", retryDelayMs: 1 }));
      else call.write(replyTo(request));
    });
    call.on("end", () => call.end());
  });
  const results = await collect(client.streamSteps(groups(4)));
  expect(results.map(({ kind }) => kind)).toEqual(["scored", "failed", "scored", "scored"]);
  expect(results[1]).toMatchObject({ error: { code: "INVALID_ARGUMENT", message: "groups: no" } });
  expect(refusals).toBeGreaterThanOrEqual(2);
});

test.each([
  ["breaks off", (call: StepsCall) => call.emit("error", status(codes.UNAVAILABLE, "restarting", 1))],
  ["ends early", (call: StepsCall) => call.end()],
])("what had no reply when the stream %s is sent again on another", async (_, breakOff) => {
  let streams = 0;
  const client = await streaming((call) => {
    const limit = streams++ < 3 ? 5 : Infinity;
    let replies = 0;
    call.on("data", (request: StreamStepsRequest) => {
      if (replies < limit) call.write(replyTo(request));
      if (++replies === limit) breakOff(call);
    });
    call.on("end", () => call.end());
  });
  expectScored(await collect(client.streamSteps(groups(40), { window: 4 })), 40);
  expect(streams).toBe(4);
});

test("a stream that fails for good fails each group, and the stream of groups goes on", async () => {
  const client = await streaming((call) => {
    call.emit("error", status(codes.UNAUTHENTICATED, "this server wants its token"));
  });
  const results = await collect(client.streamSteps(groups(3), { window: 1 }));
  expect(results.map((result) => result.kind === "failed" && result.error.code)).toEqual([
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
  ]);
});

test("a group that cannot be sent is its own error", async () => {
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => call.write(replyTo(request)));
    call.on("end", () => call.end());
  });
  const [good] = groups(1);
  if (good === undefined) throw new Error("no group");
  const bad = { ...good, completions: [{ sampleIndex: -1, text: "" }] };
  expect((await collect(client.streamSteps([bad, good]))).map(({ kind }) => kind)).toEqual(["failed", "scored"]);
});

test("leaving the loop and aborting cancel the call on the server", async () => {
  let cancelled = 0;
  const over = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => {
      if (request.groups[0]?.groupId === "g0") call.write(replyTo(request));
    });
    call.on("cancelled", () => over[cancelled++]?.resolve());
  });
  for await (const { index } of client.streamSteps(groups(100))) if (index === 0) break;
  await over[0]?.promise;

  const controller = new AbortController();
  const reading = (async () => {
    const results = client.streamSteps(groups(100), { signal: controller.signal });
    for await (const { index } of results) if (index === 0) controller.abort();
  })();
  await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
  await over[1]?.promise;
  expect(cancelled).toBe(2);
});

test("the server sees no more requests than the window", async () => {
  let [open, mostOpen] = [0, 0];
  const client = await streaming((call) => {
    call.on("data", (request: StreamStepsRequest) => {
      mostOpen = Math.max(mostOpen, ++open);
      setImmediate(() => {
        open--;
        call.write(replyTo(request));
      });
    });
    call.on("end", () => call.end());
  });
  await collect(client.streamSteps(groups(200), { window: 5 }));
  expect(mostOpen).toBeLessThanOrEqual(5);
});
