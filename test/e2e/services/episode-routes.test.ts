/** A message of several calls through every call of the contract that takes completions. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Code } from "../../../envs/games/mastermind/code.ts";
import type { CompletionSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { FeedbackStatus, type Outcome, StopReason } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";
import { guess, MASTERMIND } from "../../support/mastermind.ts";
import { temporaryFolder } from "../../support/server-process.ts";
import { MIXTURE, runOf } from "./run-of.ts";
import { openWire, type Wire } from "./wire.ts";

const folder = temporaryFolder();
let wire: Wire;
beforeAll(async () => {
  const suiteFile = join(folder.path, "suite.json");
  const parts = [{ environment: "games/mastermind", level: "easy", tasks: 1, split: "eval", tools: ["guess"] }];
  writeFileSync(suiteFile, JSON.stringify({ id: "one", version: 1, parts }));
  wire = await openWire({ suiteFile: [suiteFile] });
});
afterAll(async () => {
  await wire[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

type Written = Pick<MessageInitShape<typeof CompletionSchema>, "text" | "toolCalls" | "textTools" | "end">;

interface Place {
  readonly taskId: string;
  readonly groupId: string;
  readonly evaluationId: string;
}

/** Sends one completion, and returns its outcome. */
type Route = (place: Place, written: Written) => Promise<Outcome | undefined>;

const groupsOf = ({ taskId, groupId }: Place, written: Written) => [
  { taskId, groupId, completions: [{ sampleIndex: 0, ...written }] },
];

async function only<Reply>(replies: AsyncIterable<Reply>): Promise<Reply> {
  for await (const reply of replies) return reply;
  throw new Error("there is no reply");
}

async function* one<Request>(request: Request): AsyncGenerator<Request> {
  yield await Promise.resolve(request);
}

const submissionOf = ({ taskId, evaluationId }: Place, { text = "", ...rest }: Written) => {
  return { taskId, evaluationId, completion: text, ...rest };
};

const stepping: Readonly<Record<string, Route>> = {
  Step: async ({ taskId, groupId }, { text = "", ...rest }) =>
    (await wire.environments.step({ taskId, groupId, completion: text, ...rest })).outcome,
  BatchStep: async (place, written) =>
    (await wire.environments.batchStep({ groups: groupsOf(place, written) })).groups[0]?.outcomes[0],
  StreamSteps: async (place, written) => {
    const request = { requestId: "only", groups: groupsOf(place, written) };
    return (await only(wire.environments.streamSteps(one(request)))).groups[0]?.outcomes[0];
  },
  TryAnswer: async ({ taskId }, { text = "", ...rest }) => {
    const said = text === "" ? {} : { text: { case: "completion", value: text } as const };
    return (await wire.environments.tryAnswer({ taskId, ...said, ...rest })).outcome;
  },
};

const submitting: Readonly<Record<string, Route>> = {
  SubmitCompletions: async (place, written) =>
    (await only(wire.evaluation.submitCompletions(one(submissionOf(place, written))))).outcome,
  BatchSubmitCompletions: async (place, written) =>
    (await wire.evaluation.batchSubmitCompletions({ completions: [submissionOf(place, written)] })).results[0]?.outcome,
};

const byTools = (codes: readonly Code[]): Written => ({
  toolCalls: codes.map((code, i) => guess(code, `call${i}`)),
});
const byText = (codes: readonly Code[]): Written => ({
  text: codes
    .map((code) => `<tool_call>{"name": "guess", "arguments": {"code": [${code.join()}]}}</tool_call>`)
    .join("\n"),
  textTools: TextTools.HERMES,
});

function turnOf(outcome: Outcome | undefined) {
  if (outcome?.result.case !== "turn") throw new Error(`no turn: ${outcome?.result.case ?? ""}`);
  return outcome.result.value;
}

const WRONG: readonly Code[] = [
  [9, 9, 9],
  [1, 1],
  [9, 1, 1],
];

/** Sends calls in one message and one by one, then the right code with calls after it, which the server must ignore. */
async function play(route: Route, place: Place, write: typeof byTools) {
  const { answer } = await wire.environments.solveTask({ taskId: place.taskId });
  const secret = JSON.parse(answer) as Code;
  const together = turnOf(await route(place, write(WRONG)));
  let { taskId } = place;
  const replies: string[] = [];
  for (const code of WRONG) {
    const turn = turnOf(await route({ ...place, taskId }, write([code])));
    replies.push(...turn.messages.map(({ content }) => content));
    ({ taskId } = turn);
  }
  expect(taskId).toBe(together.taskId);
  expect(together.messages.map(({ content }) => content)).toEqual(replies);
  expect(together.callsLeft).toBe(7);
  return route({ ...place, taskId }, write([[9, 9, 9], secret, [9, 9, 9], [1, 2, 3]]));
}

const goal = { case: "score", value: { stopReason: StopReason.GOAL, calls: 5, solved: false } };

describe.each([
  ["calls of tools", byTools],
  ["calls in the text", byText],
])("%s", (_, write) => {
  test("are the same in one message and in several, through each call that steps", async () => {
    const { task } = await wire.environments.reset({ spec: MASTERMIND, seed: 11n });
    const place = { taskId: task?.taskId ?? "", groupId: task?.groupId ?? "", evaluationId: "" };
    const ends: unknown[] = [];
    for (const route of Object.values(stepping)) ends.push((await play(route, place, write))?.result);
    expect(ends[0]).toMatchObject(goal);
    for (const end of ends) expect(end).toEqual(ends[0]);
  });

  test.each(["Step", "BatchStep", "StreamSteps"])("are recorded once by %s", async (name) => {
    const arms = [{ id: "easy", spec: MASTERMIND }];
    const runId = `${name}-${write.name}`;
    const run = await runOf(wire, runId, { arms, policy: MIXTURE, promptsPerUpdate: 1, numGenerations: 2 });
    const [task] = await run.next(0, 1);
    const place = { taskId: task?.taskId ?? "", groupId: task?.groupId ?? "", evaluationId: "" };
    const end = await play(stepping[name] as Route, place, write);
    expect(end?.result).toMatchObject(goal);
    expect(end?.feedback?.status).toBe(FeedbackStatus.RECORDED);
    // A person may try a call after it, and the run is not told.
    expect(turnOf(await stepping["TryAnswer"]!(place, write(WRONG))).callsLeft).toBe(7);
    const { groups } = await wire.curriculum.getGroups({ runId, groupIds: [place.groupId] });
    expect(groups[0]?.samples).toMatchObject([{ sampleIndex: 0 }]);
  });

  test.each(Object.entries(submitting))("are stored once by %s", async (name, route) => {
    const evaluationId = `${name}-${write.name}`;
    await wire.evaluation.createEvaluation({ evaluationId, suite: "one" });
    const { tasks } = await wire.evaluation.listPendingTasks({ evaluationId });
    const place = { taskId: tasks[0]?.task?.taskId ?? "", groupId: "", evaluationId };
    const end = await play(route, place, write);
    expect(end?.result).toMatchObject(goal);
    const { samples } = await wire.evaluation.listSamples({ evaluationId });
    expect(samples.map(({ outcome }) => outcome?.result)).toEqual([end?.result]);
  });
});
