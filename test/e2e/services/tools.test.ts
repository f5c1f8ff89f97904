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
