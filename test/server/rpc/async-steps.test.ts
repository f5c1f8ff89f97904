/** Environments that ask the outside, behind the services: cancellation, deadlines, and samples of runs. */
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { VerifyContext } from "../../../envs/resource.ts";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import {
  BatchStepRequestSchema,
  type CompletionGroup,
  CompletionSchema,
  StepRequestSchema,
  StreamStepsRequestSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { SubmitCompletionsRequestSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { FeedbackStatus, NoRewardReason, type Outcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ServiceDeps } from "../../../server/rpc/deps.ts";
import { createEvaluationService } from "../../../server/rpc/evaluation/handlers.ts";
import { mintTaskId, type RunPlace } from "../../../server/tasks/task-id.ts";
import { decoderOf } from "../../../server/transport/wire/codec.ts";
import { flaky, hangsUp } from "../../support/environments/flaky.ts";
import { graded } from "../../support/environments/graded.ts";
import { type Ask, asking, judged, RIGHT } from "../../support/environments/slow.ts";
import { inline } from "../../support/environments/sums.ts";
import { settled } from "../curriculum/support.ts";
import { callOf, HASH, keyring, place, serve, sum } from "./async-service.ts";

type Answer = Awaited<ReturnType<Ask>>;

const noWait = () => Promise.resolve();

function groupOf(environment: string, texts: readonly string[], run?: RunPlace): CompletionGroup {
  const bytes = inline.encode(sum);
  if (bytes === undefined) throw new Error("it is too large");
  const { taskId, groupId } = mintTaskId(keyring, {
    environment,
    version: 1,
    level: "",
    split: "train",
    answerFormat: "answer_tag",
    thinking: "required",
    rewardParameters: {},
    rewardScheme: environment === graded.id ? "weighted" : "graded",
    inline: bytes,
    key: {
      origin: { kind: "generated", parameters: { max: 99 }, seed: 0n, attempt: 0 },
      hash: HASH,
    },
    ...(run && { run }),
  });
  const completions = texts.map((text, sampleIndex) =>
    create(CompletionSchema, { sampleIndex, text: `<answer>${text}</answer>` }),
  );
  return { $typeName: "gradus.v1.CompletionGroup", taskId, groupId, completions, numGenerations: 0 };
}

async function step(
  { service }: ReturnType<typeof serve>,
  { taskId, groupId, completions }: CompletionGroup,
  sampleIndex: number,
  call = callOf(),
): Promise<Outcome> {
  const completion = completions[sampleIndex]?.text ?? "";
  const request = create(StepRequestSchema, { taskId, groupId, sampleIndex, completion });
  const response = await service.step?.(request, call);
  if (response?.outcome === undefined) throw new Error("there is no outcome");
  return response.outcome;
}

/** A judge that answers when the test tells it to. */
function held() {
  const asked: { readonly context: VerifyContext; readonly answer: (answer: Answer) => void }[] = [];
  const ask: Ask = (_, __, context) => new Promise((answer) => asked.push({ context, answer }));
  return { asked, server: serve(asking(ask, { concurrencyMax: 8 })) };
}

const recorded = async ({ runs }: ReturnType<typeof serve>) => {
  const found = await runs.get("r");
  if (found.kind !== "ok") throw new Error(found.message);
  return found.value.state.arms[0];
};

test("the deadline and the signal of every call reach the verifier", async () => {
  const { asked, server } = held();
  const { service, clock } = server;
  const groups = [groupOf("test/slow", ["7"])];
  const call = callOf(new AbortController().signal, clock.now() + 77);
  void step(server, groups[0] as CompletionGroup, 0, call);
  void service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, call);
  async function* requests() {
    yield { $typeName: "gradus.v1.StreamStepsRequest" as const, requestId: "1", groups, more: [] };
  }
  void service.streamSteps?.(requests(), call)[Symbol.asyncIterator]().next();
  await settled();
  expect(asked.map(({ context }) => context.deadlineMs - clock.now())).toEqual([77, 77, 77]);

  const submitted: unknown[] = [];
  const submit = async (_: unknown, caller: unknown) => {
    submitted.push(caller);
    return { kind: "not_found", message: "" };
  };
  const evaluation = createEvaluationService({ ...server.deps, evaluations: { submit } } as unknown as ServiceDeps);
  const request = { evaluationId: "e", taskId: "t", sampleIndex: 0, completion: "" };
  async function* submissions() {
    yield create(SubmitCompletionsRequestSchema, request);
  }
  await evaluation.submitCompletions?.(submissions(), call)[Symbol.asyncIterator]().next();
  expect(submitted).toEqual([call]);
});

test("the bytes of long texts are freed when all groups of their message are scored, and no sooner", async () => {
  const { asked, server } = held();
  const { service } = server;
  const longest = "x".repeat(2 ** 20);
  const groups = [groupOf("test/slow", ["7"]), groupOf("test/slow", [longest])];
  const sent = create(BatchStepRequestSchema, { groups });
  const bytes = toBinary(BatchStepRequestSchema, sent).slice();
  const request = await decoderOf(BatchStepRequestSchema)(bytes, noWait);
  const response = service.batchStep?.(request, callOf());
  await settled();
  expect([asked.length, request.groups[1]?.completions[0]?.text.length]).toEqual([1, longest.length + 17]);
  asked[0]?.answer(RIGHT);
  const outcomes = (await response)?.groups.map(({ outcomes: [outcome] }) => outcome?.result.case);
  expect(outcomes).toEqual(["score", "noReward"]);
  expect(bytes.buffer.byteLength).toBe(0);

  // A stream goes on: the server frees each of its messages by itself.
  const streamed = toBinary(
    StreamStepsRequestSchema,
    create(StreamStepsRequestSchema, { requestId: "1", groups }),
  ).slice();
  async function* requests() {
    yield await decoderOf(StreamStepsRequestSchema)(streamed, noWait);
    await new Promise(() => undefined);
  }
  const reply = service.streamSteps?.(requests(), callOf())[Symbol.asyncIterator]().next();
  await settled();
  asked[1]?.answer(RIGHT);
  expect((await reply)?.value).toMatchObject({ requestId: "1" });
  expect(streamed.buffer.byteLength).toBe(0);
});

test("outside of a run, a caller that leaves takes its completion along", async () => {
  const { asked, server } = held();
  const leaving = new AbortController();
  const outcome = step(server, groupOf("test/slow", ["7"]), 0, callOf(leaving.signal));
  await settled();
  leaving.abort();
  expect((await outcome).result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.TIMEOUT } });
  expect(asked[0]?.context.signal.aborted).toBe(true);
});

test("a sample of a run goes on when its caller leaves, and is recorded once", async () => {
  const { asked, server } = held();
  await server.run();
  const group = groupOf("test/slow", ["7"], place);
  const leaving = new AbortController();
  const first = step(server, group, 0, callOf(leaving.signal, server.clock.now() + 10));
  await settled();
  leaving.abort();
  expect((await first).result.case).toBe("noReward");
  expect(asked[0]?.context.signal.aborted).toBe(false);
  // The trainer sends the sample twice more while it is being judged: it is not judged again.
  const again = [step(server, group, 0), step(server, group, 0)];
  await settled();
  expect([asked.length, server.asyncScorer.inFlight()]).toEqual([1, 1]);
  asked[0]?.answer(RIGHT);
  const outcomes = await Promise.all(again);
  for (const { result } of outcomes) expect(result).toMatchObject({ case: "score", value: { reward: 1 } });
  // Only the first call that still waits learns that the sample is recorded.
  const statuses = outcomes.map(({ feedback }) => feedback?.status);
  expect(statuses).toEqual([FeedbackStatus.RECORDED, FeedbackStatus.DUPLICATE]);
  // The trainer sends it once more after the end.
  const late = await step(server, group, 0);
  expect(late.result).toMatchObject({ case: "score", value: { reward: 1 } });
  expect(late.feedback?.status).toBe(FeedbackStatus.DUPLICATE);
  expect([asked.length, server.asyncScorer.inFlight()]).toEqual([1, 0]);
});

test.each(["unary calls", "batches", "one batch", "streams", "a batch, a stream and a call"])(
  "a group that is sent several times at the same time is told RECORDED once: %s",
  async (how) => {
    const { asked, server } = held();
    await server.run();
    const { service } = server;
    const group = groupOf("test/slow", ["7", "8", "7", "9"], place);
    const first = ({ outcomes }: { readonly outcomes: readonly Outcome[] }) => outcomes;
    const unary = () => Promise.all(group.completions.map((_, i) => step(server, group, i)));
    const batch = async (times = 1) => {
      const groups = Array.from({ length: times }, () => group);
      const found = await service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, callOf());
      return (found?.groups ?? []).flatMap((one) => first(one as never));
    };
    const stream = async () => {
      async function* requests() {
        yield { $typeName: "gradus.v1.StreamStepsRequest" as const, requestId: "1", groups: [group], more: [] };
      }
      const found = await service.streamSteps?.(requests(), callOf())[Symbol.asyncIterator]().next();
      return ((found?.value as { groups: never[] }).groups ?? []).flatMap(first);
    };
    const ways = {
      "unary calls": [unary, unary],
      batches: [batch, batch],
      "one batch": [() => batch(2)],
      streams: [stream, stream],
      "a batch, a stream and a call": [batch, stream, unary],
    };
    const sent = ways[how as keyof typeof ways].map((send) => send());
    await settled();
    for (const { answer } of asked) answer(RIGHT);
    const outcomes = (await Promise.all(sent)).flat();
    const of = (status: FeedbackStatus) => outcomes.filter(({ feedback }) => feedback?.status === status).length;
    expect([of(FeedbackStatus.RECORDED), of(FeedbackStatus.DUPLICATE)]).toEqual([4, outcomes.length - 4]);
    expect(asked.length).toBe(4);
  },
);

test("a result is recorded though nobody waits for it any more", async () => {
  const { asked, server } = held();
  await server.run();
  const group = groupOf("test/slow", ["7", "7", "8", "9"], place);
  const leaving = new AbortController();
  const groups = [group];
  void server.service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, callOf(leaving.signal));
  await settled();
  leaving.abort();
  for (const { answer } of asked) answer(RIGHT);
  await settled();
  expect(await recorded(server)).toMatchObject({ groups: 1 });
});

test("another completion of a sample is scored, and does not count", async () => {
  const { asked, server } = held();
  await server.run();
  const outcomes = [
    step(server, groupOf("test/slow", ["7"], place), 0),
    step(server, groupOf("test/slow", ["8"], place), 0),
  ];
  await settled();
  for (const { answer } of asked) answer(RIGHT);
  const statuses = (await Promise.all(outcomes)).map(({ feedback }) => feedback?.status);
  expect(statuses).toEqual([FeedbackStatus.RECORDED, FeedbackStatus.CONFLICTING_COMPLETION]);
});

test("a failure leaves the sample open: no reward, a reason, not recorded, and tried anew when asked again", async () => {
  const { asked, server } = held();
  await server.run();
  const group = groupOf("test/slow", ["7"], place);
  const failed = step(server, group, 0);
  await settled();
  asked[0]?.answer(unavailable("dictionary", "it is shut", { retryDelayMs: 60_000 }));
  expect(await failed).toMatchObject({
    result: {
      case: "noReward",
      value: { reason: NoRewardReason.RESOURCE_UNAVAILABLE, resource: "dictionary", retryDelayMs: 60_000 },
    },
    feedback: { status: FeedbackStatus.NOT_RECORDED, detail: "the completion has no reward yet: send it again" },
  });
  const again = step(server, group, 0);
  await settled();
  asked[1]?.answer(RIGHT);
  expect((await again).feedback?.status).toBe(FeedbackStatus.RECORDED);
});

test("a failure that no trying again helps is final, and the group does not wait for it", async () => {
  const final: Failed = {
    kind: "failed",
    reason: "resource_unavailable",
    resource: "judge",
    detail: "it refuses",
    retryable: false,
  };
  const server = serve(asking(async (_, answer) => (answer === 9 ? final : RIGHT), { concurrencyMax: 8 }));
  await server.run();
  const groups = [groupOf("test/slow", ["7", "7", "8", "9"], place)];
  const response = await server.service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, callOf());
  const outcome = response?.groups[0]?.outcomes[3];
  expect(outcome?.result).toMatchObject({ case: "noReward", value: { retryDelayMs: 0, detail: "it refuses" } });
  expect(outcome?.feedback?.status).toBe(FeedbackStatus.RECORDED);
  expect(response?.groups[0]?.statistics).toMatchObject({ count: 3, mean: 1 });
  expect(await recorded(server)).toMatchObject({ groups: 1 });
});

test("what cannot be read is scored without asking anybody", async () => {
  const { asked, server } = held();
  await server.run();
  const outcome = await step(server, groupOf("test/slow", ["seven"], place), 0);
  expect(outcome).toMatchObject({
    result: { case: "score", value: { reward: 0, violation: "not a number" } },
    feedback: { status: FeedbackStatus.RECORDED },
  });
  expect(asked).toHaveLength(0);
});

test("beyond the resource's limits a completion is refused as overloaded, with a delay", async () => {
  const server = serve(asking(() => new Promise(() => undefined), { concurrencyMax: 1, waitingMax: 1 }));
  const groups = [groupOf("test/slow", ["1", "2"])];
  void server.service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, callOf());
  await settled();
  const { result } = await step(server, groupOf("test/slow", ["3"]), 0);
  expect(result).toMatchObject({ case: "noReward", value: { reason: NoRewardReason.OVERLOADED } });
  expect(result.case === "noReward" && result.value.retryDelayMs).toBeGreaterThan(0);
});

test("a stream goes on while more of its requests wait for a resource than its window holds", async () => {
  const { asked, server } = held();
  async function* requests() {
    for (let i = 0; i < 4; i++)
      yield {
        ...({ $typeName: "gradus.v1.StreamStepsRequest", requestId: `slow ${i}` } as const),
        groups: [groupOf("test/slow", [`${i}`])],
        more: [],
      };
    const groups = [groupOf("test/graded", ["7"])];
    yield { $typeName: "gradus.v1.StreamStepsRequest" as const, requestId: "quick", groups, more: [] };
  }
  const responses = server.service.streamSteps?.(requests(), callOf())[Symbol.asyncIterator]();
  expect((await responses?.next())?.value).toMatchObject({ requestId: "quick" });
  expect(asked).toHaveLength(4);
  for (const { answer } of asked) answer(RIGHT);
  for (let i = 0; i < 4; i++) expect((await responses?.next())?.done).toBe(false);
  expect((await responses?.next())?.done).toBe(true);
});

test("a synchronous environment answers without a promise", () => {
  const { service } = held().server;
  const { taskId, groupId, completions } = groupOf("test/graded", ["7"]);
  const completion = completions[0]?.text ?? "";
  const request = create(StepRequestSchema, { taskId, groupId, sampleIndex: 0, completion });
  const response = service.step?.(request, callOf());
  expect(response).not.toBeInstanceOf(Promise);
  expect(response).toMatchObject({ outcome: { result: { case: "score", value: { reward: 1.5 } } } });
});

test("a judge that hangs up now and then is asked again, and every sample has its reward or its reason", async () => {
  const [seed, share] = [1, 0.5];
  const server = serve(flaky(seed, share));
  const texts = Array.from({ length: 16 }, (_, i) => `${i}`);
  const groups = [groupOf("test/flaky", texts)];
  const response = server.service.batchStep?.({ $typeName: "gradus.v1.BatchStepRequest", groups }, callOf());
  await server.clock.advance(10_000);
  const outcomes = (await response)?.groups[0]?.outcomes ?? [];
  const lost = texts.map((_, i) => [1, 2, 3].every((attempt) => hangsUp(seed, share, sum, i, attempt)));
  const expected = texts.map((_, i) => (lost[i] === true ? "noReward" : "score"));
  expect(outcomes.map(({ result }) => result.case)).toEqual(expected);
  expect(new Set(expected).size).toBe(2);
  for (const [i, { result }] of outcomes.entries())
    if (result.case === "score") expect(result.value.solved).toBe(judged(sum, i).kind === "feasible");
  expect(expected[7]).toBe("score");
});
