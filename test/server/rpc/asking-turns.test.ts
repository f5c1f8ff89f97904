/** Tasks with turns whose calls ask a resource, behind the services. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { defineEnvironment } from "../../../envs/define.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { createRegistry } from "../../../envs/registry.ts";
import type { VerifyContext } from "../../../envs/resource.ts";
import type { Advanced, AskingTurns } from "../../../envs/turns/turns.ts";
import {
  CompletionSchema,
  StepRequestSchema,
  TryAnswerRequestSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import {
  type MastermindState,
  MastermindStateSchema as schema,
} from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";
import { FeedbackStatus, NoRewardReason, type Outcome, type Turn } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { TaskSpecSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { readSpec } from "../../../server/rpc/read-task-spec.ts";
import { mintTaskId, type RunPlace } from "../../../server/tasks/task-id.ts";
import { generator, inline, type Sum, sums } from "../../support/environments/sums.ts";
import { settled } from "../curriculum/support.ts";
import { callOf, HASH, keyring, place, serve, sum } from "./async-service.ts";

interface Asked {
  readonly context: VerifyContext;
  /** Answers with the state after the call, and the reply. */
  readonly answer: (found?: Failed) => void;
}

/** Returns a game in which a resource compares guesses with the sum. The tool `count` asks nothing. */
function gameOf(ask: (asked: Asked) => void): SyncEnvironment<Sum, number> {
  const replyTo = ({ a, b }: Sum, guess: number, state: MastermindState): Advanced<MastermindState> => {
    const next = create(schema, { guesses: Uint8Array.from([...state.guesses, guess]) });
    if (guess === a + b) return { reply: "right", state: next, over: true, facts: { kind: "feasible" } };
    const reply = guess < a + b ? "higher" : "lower";
    return { reply, state: next, facts: { kind: "infeasible", violation: `it is ${reply}` } };
  };
  const turns: AskingTurns<Sum, typeof schema> = {
    resource: {
      name: "umpire",
      concurrencyMax: 1,
      waitingMax: 8,
      heldBytesMax: 10_000,
      timeLimitMs: 1000,
      port: "sandbox",
    },
    calls: 8,
    callsMax: 8,
    tools: ["guess", "count"].map((name) => ({ name, description: name, parameters: { type: "object" } })),
    actionBytesMax: 64,
    schema,
    stateBytesMax: (_, calls) => calls + 2,
    start: () => create(schema),
    advance(instance, state, action) {
      if (action.kind === "tool" && action.name === "count") return { reply: `${state.guesses.length}`, state };
      const guess = action.kind === "tool" ? Number(action.arguments["value"]) : Number(action.text);
      return {
        ask: (context) =>
          new Promise((resolve) => {
            ask({ context, answer: (found) => resolve(found ?? replyTo(instance, guess, state)) });
          }),
      };
    },
  };
  return defineEnvironment<Sum, number>({
    ...sums,
    generator,
    inline,
    id: "test/game",
    version: 1,
    description: "Guess a sum.",
    verify: ({ a, b }, answer) =>
      answer === a + b ? { kind: "feasible" } : { kind: "infeasible", violation: "another number" },
    turns,
  });
}

function held() {
  const asked: Asked[] = [];
  return { asked, server: serve(gameOf((each) => asked.push(each))) };
}

/** Returns the services over a game whose resource answers at once. */
function prompt() {
  let calls = 0;
  const server = serve(
    gameOf(({ answer }) => {
      calls++;
      answer();
    }),
  );
  return { server, calls: () => calls };
}

type Server = ReturnType<typeof serve>;

function firstId(run?: RunPlace, hash = HASH): { readonly taskId: string; readonly groupId: string } {
  return mintTaskId(keyring, {
    environment: "test/game",
    version: 1,
    level: "",
    split: "train",
    answerFormat: "answer_tag",
    thinking: "stripped",
    rewardParameters: {},
    rewardScheme: "last",
    inline: inline.encode(sum) as Uint8Array,
    key: { origin: { kind: "generated", parameters: { max: 99 }, seed: 0n, attempt: 0 }, hash },
    calls: 8,
    tools: [1, 2],
    ...(run && { run }),
  });
}

const guess = (value: number) => ({ id: `c${value}`, name: "guess", argumentsJson: JSON.stringify({ value }) });
const count = { id: "count", name: "count", argumentsJson: "{}" };

async function step(
  { service }: Server,
  ids: { readonly taskId: string; readonly groupId: string },
  toolCalls: readonly ReturnType<typeof guess>[],
  more: MessageInitShape<typeof StepRequestSchema> = {},
  call = callOf(),
): Promise<Outcome> {
  const request = create(StepRequestSchema, { ...ids, toolCalls: [...toolCalls], ...more });
  const response = await service.step?.(request, call);
  if (response?.outcome === undefined) throw new Error("there is no outcome");
  return response.outcome;
}

function turnOf({ result }: Outcome): Turn {
  if (result.case !== "turn") throw new Error(`it is no turn: ${JSON.stringify(result.value)}`);
  return result.value;
}

test("calls are asked one after another, each with the time limit of the resource", async () => {
  const { asked, server } = held();
  const ids = firstId();
  const going = step(server, ids, [guess(1), count, guess(9)]);
  await settled();
  expect(asked.map(({ context }) => context.deadlineMs - server.clock.now())).toEqual([1000]);
  await server.clock.advance(900);
  asked[0]?.answer();
  await settled();
  expect(asked.map(({ context }) => context.deadlineMs - server.clock.now())).toEqual([100, 1000]);
  asked[1]?.answer();
  const turn = turnOf(await going);
  expect(turn.messages.map(({ content, toolCallId }) => [toolCallId, content])).toEqual([
    ["c1", "higher"],
    ["count", "1"],
    ["c9", "lower"],
  ]);
  expect(turn.callsLeft).toBe(5);
});

test("how calls are split over messages does not matter", async () => {
  const { server } = prompt();
  const ids = firstId();
  const together = turnOf(await step(server, ids, [guess(1), guess(2), count, guess(3)]));
  let taskId = ids.taskId;
  for (const call of [guess(1), guess(2), count, guess(3)])
    taskId = turnOf(await step(server, { ...ids, taskId }, [call])).taskId;
  expect(taskId).toBe(together.taskId);
  const over = await step(server, { ...ids, taskId }, [guess(7)]);
  expect(over.result).toMatchObject({ case: "score", value: { reward: 1, solved: true, calls: 5 } });
});

test("calls that ask nothing are answered while others wait for the resource", async () => {
  const { asked, server } = held();
  const waiting = step(server, firstId(), [guess(1)]);
  await settled();
  const { messages } = turnOf(await step(server, firstId(), [count]));
  expect([messages[0]?.content, asked.length]).toEqual(["0", 1]);
  asked[0]?.answer();
  await waiting;
});

test("a failure gives no reward, and the same id may be asked again", async () => {
  const { asked, server } = held();
  await server.run();
  const ids = firstId(place);
  const first = step(server, ids, [guess(1), guess(2)]);
  await settled();
  asked[0]?.answer();
  await settled();
  asked[1]?.answer(unavailable("umpire", "it sleeps", { retryDelayMs: 60_000 }));
  const { result, feedback } = await first;
  expect(result).toMatchObject({
    case: "noReward",
    value: { reason: NoRewardReason.RESOURCE_UNAVAILABLE, resource: "umpire" },
  });
  expect(result.case === "noReward" && result.value.retryDelayMs).toBe(60_000);
  expect(feedback?.status).toBe(FeedbackStatus.NOT_RECORDED);
  await server.clock.advance(60_000);
  const again = step(server, ids, [guess(1), guess(2)]);
  for (const i of [2, 3]) {
    await settled();
    asked[i]?.answer();
  }
  expect(turnOf(await again).messages.map(({ content }) => content)).toEqual(["higher", "higher"]);
});

test("a call that exceeds its time limit gives no reward", async () => {
  const { asked, server } = held();
  const going = step(server, firstId(), [guess(1)]);
  await settled();
  await server.clock.advance(1001);
  expect((await going).result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.TIMEOUT } });
  expect(asked[0]?.context.signal.aborted).toBe(true);
});

test("in a run equal requests are asked once, also if the first caller left, and only the close is recorded", async () => {
  const { asked, server } = held();
  await server.run();
  const ids = firstId(place);
  const leaving = new AbortController();
  const left = step(server, ids, [guess(1)], {}, callOf(leaving.signal));
  await settled();
  leaving.abort();
  expect((await left).result.case).toBe("noReward");
  // Another call with the same text, which is empty, is another completion.
  const [same, other] = [step(server, ids, [guess(1)]), step(server, ids, [guess(2)])];
  await settled();
  asked[0]?.answer();
  await settled();
  expect(asked.length).toBe(2);
  asked[1]?.answer();
  const [one, branch] = [turnOf(await same), turnOf(await other)];
  expect(one.taskId).not.toBe(branch.taskId);
  const closing = [0, 1].map(() => step(server, { ...ids, taskId: one.taskId }, [guess(7)]));
  const conflicting = step(server, { ...ids, taskId: branch.taskId }, [guess(7)]);
  await settled();
  asked[2]?.answer();
  const closed = await Promise.all(closing);
  await settled();
  asked[3]?.answer();
  for (const { result } of closed) expect(result).toMatchObject({ case: "score", value: { reward: 1, calls: 2 } });
  expect(closed.map(({ feedback }) => feedback?.status)).toEqual([FeedbackStatus.RECORDED, FeedbackStatus.DUPLICATE]);
  expect((await conflicting).feedback?.status).toBe(FeedbackStatus.CONFLICTING_COMPLETION);
  expect(asked.length).toBe(4);
});

test("an id of another sample is refused, and nothing is recorded", async () => {
  const { server } = prompt();
  await server.run();
  const ids = firstId(place);
  const first = await step(server, ids, [guess(1)]);
  const { taskId } = turnOf(first);
  // A turn is no sample without a reward, which would have to be sent again.
  expect(first.feedback).toBeUndefined();
  const stolen = await step(server, { ...ids, taskId }, [guess(7)], { sampleIndex: 1 });
  expect(stolen.result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.INVALID_TASK_ID } });
  expect(stolen.feedback).toMatchObject({
    status: FeedbackStatus.NOT_RECORDED,
    detail: "the task_id of the completion is invalid",
  });
});

test("a key is another sample than the index with the same text", async () => {
  const { server, calls } = prompt();
  await server.run();
  const ids = firstId(place);
  const { taskId } = turnOf(await step(server, ids, [guess(1)], { sampleIndex: 1 }));
  const closed = await step(server, { ...ids, taskId }, [guess(7)], { sampleIndex: 1 });
  expect(closed.feedback).toMatchObject({ status: FeedbackStatus.RECORDED });
  // The result of the sample 1 is still known, but it is not that of a sample with the key "1".
  const stolen = await step(server, { ...ids, taskId }, [guess(7)], { sampleIndex: 1, sampleKey: "1" });
  expect(stolen.result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.INVALID_TASK_ID } });
  expect(stolen.feedback?.status).toBe(FeedbackStatus.NOT_RECORDED);
  expect(calls()).toBe(2);
});

test("in a batch each completion has an id of its own, which must be of the same task", async () => {
  const { server } = prompt();
  const ids = firstId();
  const { taskId } = turnOf(await step(server, ids, [guess(1)]));
  const other = firstId(undefined, "fedcba9876543210");
  const completions = [taskId, "", other.taskId].map((own, sampleIndex) =>
    create(CompletionSchema, { sampleIndex, taskId: own, toolCalls: [count] }),
  );
  const group = { $typeName: "gradus.v1.CompletionGroup" as const, ...ids, completions, numGenerations: 0 };
  const found = await server.service.batchStep?.(
    { $typeName: "gradus.v1.BatchStepRequest", groups: [group] },
    callOf(),
  );
  const told = (found?.groups?.[0]?.outcomes ?? []).map(({ result }) =>
    result?.case === "turn" ? result.value.messages?.[0]?.content : result?.case,
  );
  expect(told).toEqual(["1", "0", "noReward"]);
});

test("in a batch without a task_id, a forged id of one completion does not affect the others", async () => {
  const { server } = prompt();
  await server.run();
  const ids = firstId(place);
  const { taskId } = turnOf(await step(server, ids, [guess(1)], { sampleIndex: 1 }));
  const completions = ["forged", taskId].map((own, sampleIndex) =>
    create(CompletionSchema, { sampleIndex, taskId: own, end: true }),
  );
  const group = {
    $typeName: "gradus.v1.CompletionGroup" as const,
    taskId: "",
    groupId: ids.groupId,
    completions,
    numGenerations: 0,
  };
  const found = await server.service.batchStep?.(
    { $typeName: "gradus.v1.BatchStepRequest", groups: [group] },
    callOf(),
  );
  const told = found?.groups?.[0]?.outcomes?.map(({ result, feedback }) => [result?.case, feedback?.status]);
  expect(told).toEqual([
    ["noReward", FeedbackStatus.NOT_RECORDED],
    ["score", FeedbackStatus.RECORDED],
  ]);
});

test("a person tries a call by hand", async () => {
  const { server } = prompt();
  const request = create(TryAnswerRequestSchema, { taskId: firstId().taskId, toolCalls: [guess(7)] });
  const tried = await server.service.tryAnswer?.(request, callOf());
  expect(tried?.outcome?.result).toMatchObject({ case: "score", value: { reward: 1 } });
});

test("tasks with turns need the resource's port, and others do not", () => {
  const registry = createRegistry([gameOf(() => undefined)]);
  const deps = { registry, pools: new Map(), teacher: undefined, missingPorts: { sandbox: "there is no sandbox" } };
  const spec = create(TaskSpecSchema, { environment: "test/game", difficulty: { case: "level", value: "only" } });
  expect(() => readSpec(spec, deps, "spec")).toThrow("spec.environment: there is no sandbox");
  expect(readSpec(spec, { ...deps, missingPorts: {} }, "spec")).toMatchObject({ calls: 8 });
});
