/** Tasks that are played by calls of tools, over the real port. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { StopReason, Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { TextTools } from "../../../proto/gen/gradus/v1/task_pb.js";
import { failureOf, openWire, type Wire } from "./wire.ts";

let wire: Wire;
beforeAll(async () => void (wire = await openWire()));
afterAll(() => wire[Symbol.asyncDispose]());

const LEDGER = { environment: "tools/ledger", difficulty: { case: "level", value: "easy" } } as const;

interface Rows {
  readonly ids: readonly string[];
  readonly amount: number;
}

test("a policy that reads only the prompt and the replies solves a ledger, by calls in its text", async () => {
  const { task } = await wire.environments.reset({ spec: LEDGER, seed: 3n });
  expect(task?.tools.map(({ name }) => name)).toEqual(["find", "get", "transfer", "answer"]);
  const { taskId: first = "", groupId = "", prompt = [] } = task ?? {};
  const [, name, city] = /open orders of (.+) of (.+)\?/.exec(prompt.at(-1)?.content ?? "") ?? [];
  let taskId = first;
  const step = async (tool: string, args: object) => {
    const call = JSON.stringify({ name: tool, arguments: args });
    const completion = `<think>I call ${tool}.</think><tool_call>${call}</tool_call>`;
    const { outcome } = await wire.environments.step({ taskId, groupId, completion, textTools: TextTools.HERMES });
    if (outcome?.result.case === "turn") taskId = outcome.result.value.taskId;
    return outcome?.result;
  };
  const look = async (tool: string, args: object): Promise<Rows> => {
    const result = await step(tool, args);
    if (result?.case !== "turn") throw new Error(`no turn: ${result?.case}`);
    expect(taskId.length).toBeLessThan(600);
    return JSON.parse(result.value.messages[0]?.content ?? "") as Rows;
  };
  const customers = await look("find", { table: "customers", where: { name, city } });
  const orders = await look("find", { table: "orders", where: { customer: customers.ids[0], status: "open" } });
  const { amount } = await look("get", { table: "orders", id: orders.ids[0] });
  const wrong = await wire.environments.step({ taskId, groupId, completion: "<think></think><answer>5</answer>" });
  expect(wrong.outcome?.result).toMatchObject({ case: "score", value: { verdict: Verdict.INFEASIBLE, reward: 0 } });
  expect(await step("answer", { value: amount })).toMatchObject({
    case: "score",
    value: { reward: 1, solved: true, stopReason: StopReason.GOAL, calls: 4, baseline: { value: 4 } },
  });
});

test("a ledger is refused with a part of its tools, and without any has all", async () => {
  const reset = (tools: readonly string[]) => wire.environments.reset({ spec: { ...LEDGER, tools: [...tools] } });
  expect(await failureOf(reset(["find"]))).toMatchObject({
    message: expect.stringMatching(
      /spec\.tools.*tasks of tools\/ledger need all of its tools: leave it empty/,
    ) as string,
  });
  const { task } = await reset(["answer", "transfer", "get", "find"]);
  expect(task?.tools).toHaveLength(4);
});

test("countdown may be given the calculator, whose result is no answer", async () => {
  const spec = { environment: "countdown", calls: 4, tools: ["calculator"] };
  const { task } = await wire.environments.reset({ spec, seed: 5n });
  const { taskId = "", groupId = "" } = task ?? {};
  expect(task?.tools.map(({ name }) => name)).toEqual(["calculator"]);
  const { answer = "" } = await wire.environments.solveTask({ taskId });
  const toolCalls = [{ id: "a", name: "calculator", argumentsJson: JSON.stringify({ expression: answer }) }];
  const first = (await wire.environments.step({ taskId, groupId, toolCalls })).outcome?.result;
  if (first?.case !== "turn") throw new Error(`no turn: ${first?.case}`);
  expect(first.value.messages[0]?.content).toMatch(/ = -?\d+$/);
  expect(first.value.turnReward).toBeUndefined();
  const completion = `<think></think><answer>${answer}</answer>`;
  const last = await wire.environments.step({ taskId: first.value.taskId, groupId, completion });
  expect(last.outcome?.result).toMatchObject({ case: "score", value: { reward: 1, calls: 2 } });
});

test("the detail of replies travels with the task", async () => {
  const replyOf = async (replyDetail: string) => {
    const { task } = await wire.environments.reset({
      spec: { environment: "np/knapsack", calls: 4, replyDetail },
      seed: 5n,
    });
    const { taskId = "", groupId = "" } = task ?? {};
    const replies: string[] = [];
    let id = taskId;
    for (const answer of ["[0]", "[0, 0]"]) {
      const completion = `<think></think><answer>${answer}</answer>`;
      const { outcome } = await wire.environments.step({ taskId: id, groupId, completion });
      if (outcome?.result.case !== "turn") throw new Error("no turn");
      replies.push(outcome.result.value.messages[0]?.content ?? "");
      id = outcome.result.value.taskId;
    }
    return replies;
  };
  expect(await replyOf("verdict")).toEqual(["The answer is feasible.", "The answer is wrong."]);
  expect(await replyOf("reason")).toMatchObject([
    "The answer is feasible.",
    expect.stringMatching(/^The answer is wrong: /),
  ]);
  expect((await replyOf(""))[0]).toMatch(/% below the best known/);
  const spec = { environment: "np/knapsack", calls: 4, replyDetail: "x" };
  expect(await failureOf(wire.environments.reset({ spec }))).toMatchObject({ field: "spec.reply_detail" });
});

test.each(["math", "math/arithmetic", "math/linear"])(
  "%s takes two answers, and more calls only with a tool",
  async (environment) => {
    const listed = (await wire.environments.getEnvironment({ id: environment })).environment;
    expect(listed).toMatchObject({ calls: 0, callsMax: 16 });
    expect(listed?.tools.map(({ name }) => name)).toEqual(["calculator", "python"]);
    const two = await wire.environments.reset({ spec: { environment, calls: 2 }, seed: 3n });
    const { taskId = "", groupId = "" } = two.task ?? {};
    const { answer = "" } = await wire.environments.solveTask({ taskId });
    const wrong = "<think></think><answer>123456789</answer>";
    const first = (await wire.environments.step({ taskId, groupId, completion: wrong })).outcome?.result;
    if (first?.case !== "turn") throw new Error(`no turn: ${first?.case}`);
    expect(first.value.messages[0]?.content).toMatch(
      /^The answer (is wrong\.|cannot be read: it is not of the form .*)$/,
    );
    const completion = `<think></think><answer>${answer}</answer>`;
    const last = await wire.environments.step({ taskId: first.value.taskId, groupId, completion });
    expect(last.outcome?.result).toMatchObject({ case: "score", value: { reward: 1, solved: true, calls: 2 } });
    const spec = { environment, calls: 3 };
    expect(await failureOf(wire.environments.reset({ spec }))).toMatchObject({ field: "spec.calls" });
    const { task } = await wire.environments.reset({ spec: { ...spec, tools: ["calculator"] } });
    expect(task?.prompt.at(-1)?.content).toContain("The answer number 2 is the last one.");
  },
);

test("environments say whether equal completions get equal replies", async () => {
  const { environments } = await wire.environments.listEnvironments({});
  const found = new Map(environments.map(({ id, ...each }) => [id, [each.deterministic, each.nondeterministicTools]]));
  expect(Object.fromEntries(found)).toMatchObject({
    "games/mastermind": [true, []],
    "tools/ledger": [true, []],
    "np/tsp": [true, []],
    qa: [true, []],
    // A tool runs in the sandbox, under a clock.
    math: [true, ["python"]],
    countdown: [true, ["python"]],
    // The verifier asks the sandbox, or a judge.
    code: [false, []],
    writing: [false, []],
  });
});

test.each([
  ["calculator", '{"expression": "9007199254740993 * 9007199254740993"}', "= 81129638414606699710187514626049"],
  [
    "calculator",
    '{"expression": 9007199254740993}',
    "has a number that is too large or too precise to be read: 9007199254740993.",
  ],
  ["calculator", '{"expression": "1", "expression": "2"}', "has the key 'expression' twice"],
])("%s with %s replies: %s", async (name, argumentsJson, words) => {
  const spec = { environment: "math", calls: 4, tools: ["calculator"] };
  const { task } = await wire.environments.reset({ spec, seed: 3n });
  const toolCalls = [{ id: "a", name, argumentsJson }];
  const { outcome } = await wire.environments.step({
    taskId: task?.taskId ?? "",
    groupId: task?.groupId ?? "",
    toolCalls,
  });
  if (outcome?.result.case !== "turn") throw new Error("no turn");
  expect(outcome.result.value.messages[0]?.content).toContain(words);
});

test.each([
  ['{"from": "a", "to": "b", "amount": 9007199254740993}', "has a number that is too large or too precise"],
  ['{"from": "a", "to": "b", "amount": 1e400}', "has a number that is too large or too precise"],
  ['{"from": "a", "from": "b", "to": "c", "amount": 1}', "has the key 'from' twice"],
])("a transfer of the ledger by %s changes nothing", async (argumentsJson, words) => {
  const { task } = await wire.environments.reset({ spec: LEDGER, seed: 3n });
  const toolCalls = [{ id: "a", name: "transfer", argumentsJson }];
  const { outcome } = await wire.environments.step({
    taskId: task?.taskId ?? "",
    groupId: task?.groupId ?? "",
    toolCalls,
  });
  if (outcome?.result.case !== "turn") throw new Error("no turn");
  expect(outcome.result.value.messages[0]?.content).toContain(words);
});
