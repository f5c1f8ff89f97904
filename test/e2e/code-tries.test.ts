/** Tries at programs and the tool `python`, through a server and its real sandbox. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FeedbackStatus, NoRewardReason, StopReason } from "../../proto/gen/gradus/v1/outcome_pb.js";
import { Source, type Task } from "../../proto/gen/gradus/v1/task_pb.js";
import { MIXTURE, runOf } from "./services/run-of.ts";
import { failureOf, openWire, type Wire } from "./services/wire.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { writeRows } from "../support/rows-file.ts";

/** Tests of a program that prints twice the number that it reads. The last three are hidden. */
const HIDDEN = [
  { input: "-7\n", output: "-14\n" },
  { input: "271828\n", output: "543656\n" },
  { input: "0\n", output: "0\n" },
];
const ROWS = {
  published: {
    prompt: "Print twice the number.",
    public_test_cases: JSON.stringify([
      { input: "21\n", output: "42\n" },
      { input: "8\n", output: "16\n" },
    ]),
    private_test_cases: JSON.stringify(HIDDEN),
    level: "easy",
  },
  hidden: { prompt: "Print the number doubled.", tests: HIDDEN, level: "hard" },
};

const folder = temporaryFolder();
let wire: Wire;
beforeAll(async () => {
  const path = join(folder.path, "rows.jsonl");
  writeRows(path, Object.values(ROWS));
  wire = await openWire({ pool: [`rows=${path}@train`], sandbox: "embedded" });
});
afterAll(async () => {
  await wire[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function taskOf(level: "easy" | "hard", more: object = {}): Promise<Task> {
  const spec = {
    environment: "code",
    difficulty: { case: "level", value: level } as const,
    source: Source.REAL,
    pool: "rows",
    calls: 4,
    ...more,
  };
  const { task } = await wire.environments.reset({ spec, seed: 1n });
  if (task === undefined) throw new Error("no task");
  return task;
}

const written = (program: string): string => `<think></think><answer>\`\`\`python\n${program}\n\`\`\`</answer>`;
const read = "n = int(input())\n";

async function stepOf(task: Task, taskId: string, request: object) {
  const { outcome } = await wire.environments.step({ taskId, groupId: task.groupId, ...request });
  return outcome?.result;
}

/** Sends a completion, and returns the reply and the next id. */
async function turnOf(task: Task, taskId: string, request: object) {
  const result = await stepOf(task, taskId, request);
  if (result?.case !== "turn") throw new Error(`no turn: ${JSON.stringify(result?.value, undefined, 1)}`);
  const { taskId: next, messages, callsLeft, turnReward } = result.value;
  return { reply: messages.map(({ content }) => content).join("\n"), next, callsLeft, turnReward };
}

describe("tries at a program", () => {
  test("show the first failing public test, or else how many pass", async () => {
    const task = await taskOf("easy");
    const first = await turnOf(task, task.taskId, { completion: written(`${read}print(2 * n if n > 9 else n)`) });
    expect(first.reply).toMatch(/^The program fails the public test 2 of 5: .*"8\\n".*expected "16\\n"\.$/);
    const second = await turnOf(task, first.next, { completion: written(`${read}print(2 * n if n > 0 else n)`) });
    expect(second.reply).toBe("The program passes 4 of 5 tests.");
    expect([second.turnReward, second.callsLeft]).toEqual([0, 2]);
    const third = await turnOf(task, second.next, { completion: "<answer>nothing like a program" });
    expect(third.callsLeft).toBe(1);
    const end = await stepOf(task, third.next, { completion: written(`${read}print(2 * n)`) });
    expect(end).toMatchObject({
      case: "score",
      value: { reward: 1, solved: true, calls: 4, stopReason: StopReason.GOAL },
    });
  });

  test.each([
    ["that is wrong", `${read}print(3)`],
    ["that prints what it reads", "import sys\nprint(sys.stdin.read())"],
    ["that raises what it reads", "import sys\nraise ValueError(sys.stdin.read())"],
    ["that is no Python", "print("],
  ])("never show a hidden test, to a program %s", async (_, program) => {
    const task = await taskOf("hard");
    const { reply } = await turnOf(task, task.taskId, { completion: written(program) });
    expect(reply).toMatch(/^The program passes \d of 3 tests\.$/);
  });

  test("say less with the detail 'verdict', and take one try by default", async () => {
    const task = await taskOf("easy", { replyDetail: "verdict" });
    const { reply } = await turnOf(task, task.taskId, { completion: written("print(1)") });
    expect(reply).toBe("The answer is wrong.");
    const single = await taskOf("easy", { calls: 0 });
    expect(single.callsMax).toBe(0);
    const result = await stepOf(single, single.taskId, { completion: written("print(1)") });
    expect(result?.case).toBe("score");
  });
});

describe("the tool python", () => {
  const spec = { environment: "countdown", difficulty: { case: "level", value: "T0" } as const, calls: 8 };
  const call = (code: unknown, name = "python") => ({
    toolCalls: [{ id: "a", name, argumentsJson: JSON.stringify({ code }) }],
  });
  const begin = async (more: object = { tools: ["calculator", "python"] }): Promise<Task> => {
    const { task } = await wire.environments.reset({ spec: { ...spec, ...more }, seed: 2n });
    if (task === undefined) throw new Error("no task");
    return task;
  };

  test.each([
    ["prints", "print(6 * 7)", /^42$/],
    ["prints nothing", "x = 1", /^The program printed nothing\.$/],
    ["raises", "1 / 0", /^The program failed: .*ZeroDivisionError/],
    ["is no Python", "print(", /^The program failed: .*SyntaxError/],
    ["never ends", "while True: pass", /^The program was stopped: /],
    [
      "opens a socket",
      "import socket; socket.create_connection(('127.0.0.1', 1))",
      /^The program (failed|ended early)/,
    ],
    ["prints too much", "print('y' * 200000)", /^y+\n… \(the rest is left out\)$/],
    ["prints control characters", "print('\\x1b[31mred\\0')", /^[^\x1b\0]*red/],
    ["is no text", 5, /^The argument 'code' must be a text\.$/],
  ])("replies to a program that %s, and the call counts", async (_, code, reply) => {
    const task = await begin();
    const found = await turnOf(task, task.taskId, call(code));
    expect(found.reply).toMatch(reply);
    expect([found.callsLeft, found.turnReward]).toEqual([7, undefined]);
    expect(Buffer.byteLength(found.reply)).toBeLessThan(4200);
  });

  test("keeps nothing between calls, mixes with other calls, and leaves the answer to the verifier", async () => {
    const task = await begin();
    const { answer = "" } = await wire.environments.solveTask({ taskId: task.taskId });
    const toolCalls = [...call("x = 5\nprint(x)").toolCalls, ...call("print(x)").toolCalls];
    const both = await turnOf(task, task.taskId, { toolCalls });
    expect(both.reply).toMatch(/^5\nThe program failed: .*NameError/);
    const printed = await turnOf(task, both.next, call(`print("<answer>${answer}</answer>")`));
    expect(printed.turnReward).toBeUndefined();
    const completion = `<think></think><answer>${answer}</answer>`;
    expect(await stepOf(task, printed.next, { completion })).toMatchObject({ value: { reward: 1, calls: 4 } });
  });

  test("ends an episode in a run that records only its end, whoever asks twice", async () => {
    const arms = [{ id: "a", spec: { ...spec, tools: ["python"] } }];
    const run = await runOf(wire, "py", { arms, policy: MIXTURE, promptsPerUpdate: 1, numGenerations: 1 });
    const [task] = (await run.next(0)) as [Task];
    const first = await stepOf(task, task.taskId, call("print(1)"));
    if (first?.case !== "turn") throw new Error("no turn");
    const { answer = "" } = await wire.environments.solveTask({ taskId: task.taskId });
    const completion = `<think></think><answer>${answer}</answer>`;
    const statuses = [];
    for (let i = 0; i < 2; i++) {
      const { outcome } = await wire.environments.step({
        taskId: first.value.taskId,
        groupId: task.groupId,
        completion,
      });
      statuses.push(outcome?.feedback?.status);
    }
    expect(statuses).toEqual([FeedbackStatus.RECORDED, FeedbackStatus.DUPLICATE]);
  });

  test("needs a sandbox, and tasks without it need none", async () => {
    await using plain = await openWire({ keyFile: join(wire.dataDir, "task-keys") });
    const refused = await failureOf(plain.environments.reset({ spec: { ...spec, tools: ["python"] } }));
    expect(refused).toMatchObject({ message: expect.stringMatching(/sandbox/) as string });
    expect((await plain.environments.reset({ spec: { ...spec, tools: ["calculator"] } })).task?.callsMax).toBe(8);
    // A server without a sandbox gives no reward for a call that it cannot make: it is no fault of the policy.
    const task = await begin();
    const { outcome } = await plain.environments.step({
      taskId: task.taskId,
      groupId: task.groupId,
      ...call("print(1)"),
    });
    expect(outcome?.result).toMatchObject({
      case: "noReward",
      value: { reason: NoRewardReason.RESOURCE_UNAVAILABLE, resource: "sandbox" },
    });
  });
});

test.each(["qa", "qa/letter", "writing"])("%s refuses several calls", async (environment) => {
  const refused = await failureOf(wire.environments.reset({ spec: { environment, calls: 2 } }));
  expect(refused).toMatchObject({ message: expect.stringMatching(/calls.*take one completion|judge/) as string });
});
