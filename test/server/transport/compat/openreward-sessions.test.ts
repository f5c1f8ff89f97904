/** Tests of the stored state of OpenReward's sessions: calls that are taken back, and calls on several servers. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EnvironmentSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { OutcomeSchema } from "../../../../proto/gen/gradus/v1/outcome_pb.js";
import { TaskSchema } from "../../../../proto/gen/gradus/v1/task_pb.js";
import { memorySessionStore } from "../../../../server/stores/memory.ts";
import type { Context, Handlers } from "../../../../server/transport/compat/episode.ts";
import { choiceIn } from "../../../../server/transport/compat/openreward/message.ts";
import { createSessions } from "../../../../server/transport/compat/openreward/sessions.ts";

const context = { caller: "mine", peer: "127.0.0.1:1", signal: new AbortController().signal } as Context;
const call = { name: "go", inputJson: "{}", answer: undefined, number: undefined };

/** Handlers of a game whose task ids are the numbers of calls. `played` is called before a step is answered. */
function handlersOf(played: () => Promise<void> = async () => undefined): Handlers {
  const task = create(TaskSchema, {
    taskId: "0",
    groupId: "g",
    callsMax: 9,
    prompt: [{ role: "user", content: "Go." }],
  });
  return {
    reset: async () => ({ $typeName: "gradus.v1.ResetResponse", task }),
    getEnvironment: async () => ({
      $typeName: "gradus.v1.GetEnvironmentResponse",
      environment: create(EnvironmentSchema, { calls: 9 }),
    }),
    step: async ({ taskId }: { readonly taskId: string }) => {
      await played();
      const turn = { taskId: `${Number(taskId) + 1}`, messages: [{ role: "tool", content: taskId }] };
      const outcome = create(OutcomeSchema, { result: { case: "turn", value: turn } });
      return { $typeName: "gradus.v1.StepResponse", outcome };
    },
  } as unknown as Handlers;
}

async function opened(handlers = handlersOf(), store = memorySessionStore()) {
  const sessions = createSessions(store, handlers);
  const choice = () => choiceIn({ task_spec: { seed: 1 } }, { environment: "a/game", level: undefined });
  await sessions.create("a", choice(), context);
  const numbers: number[] = [];
  const play = (number?: number) => sessions.play("a", { ...call, number }, context, (each) => numbers.push(each));
  const calls = async (): Promise<number> => (await sessions.find("a", context)).state.calls;
  return { sessions, store, numbers, play, calls };
}

test("a call is taken back if its client did not get the result, unless another call came after it", async () => {
  const { play, calls, numbers } = await opened();
  const first = await play();
  expect(await calls()).toBe(1);
  first.undo();
  expect(await calls()).toBe(0);
  const again = await play();
  await play();
  again.undo();
  expect([await calls(), numbers]).toEqual([2, [0, 0, 1]]);
});

test("of calls on two servers at once, one is asked to try again", async () => {
  const store = memorySessionStore();
  let waiting = 2;
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const handlers = handlersOf(() => {
    if (--waiting === 0) resolve();
    return both;
  });
  const servers = [await opened(handlers, store), await opened(handlers, store)];
  const results = await Promise.allSettled(servers.map(({ play }) => play()));
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const failed = results.find((each) => each.status === "rejected");
  expect(failed?.reason).toMatchObject({ code: "UNAVAILABLE", retryDelayMs: 100 });
  expect(await servers[0]?.calls()).toBe(1);
});

test("a call whose client has left changes nothing", async () => {
  const { sessions, calls } = await opened();
  const left = { ...context, signal: AbortSignal.abort() };
  await expect(sessions.play("a", call, left, () => undefined)).rejects.toThrow("left");
  expect(await calls()).toBe(0);
});

test("another caller has no part in a session", async () => {
  const { sessions } = await opened();
  const other = { ...context, caller: "other" };
  await expect(sessions.find("a", other)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await sessions.remove("a", other);
  await expect(sessions.find("a", context)).resolves.toMatchObject({ id: "a" });
});
