/** `gradus eval compare`, against a server that keeps three evaluations. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PendingTask, Task } from "../../clients/ts/src/public.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { solve } from "../support/scripted-policy.ts";
import { type Ended, gradus } from "./gradus.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory" });
  // The first model solves tasks 0 and 2, the second tasks 0 and 1. Neither solves task 3, and the second lacks task 4.
  await evaluate("one", [0, 2], 5);
  await evaluate("two", [0, 1], 4);
  await server.client.evaluation("other").create({ suite: "math", model: "m" });
});
afterAll(() => server[Symbol.asyncDispose]());

async function evaluate(id: string, solved: readonly number[], count: number): Promise<void> {
  const evaluation = server.client.evaluation(id);
  await evaluation.create({ suite: "countdown", model: `model ${id}` });
  const tasks: PendingTask[] = [];
  for await (const task of evaluation.pending()) if (tasks.push(task) === count) break;
  const completions = tasks.flatMap(({ task }, at) => {
    if (task === undefined) return [];
    const answer = solved.includes(at) ? solution(task) : "1";
    return [{ task, completion: `<think></think><answer>${answer}</answer>` }];
  });
  const submitted = await evaluation.submit(completions);
  expect(submitted.map(({ outcome }) => outcome?.kind === "scored" && outcome.solved)).toEqual(
    tasks.map((_, at) => solved.includes(at)),
  );
}

function solution({ hints }: Task): string {
  const { numbers = "", target } = hints?.metadata ?? {};
  return solve(numbers.split(" ").map(Number), Number(target));
}

const compare = (...args: readonly string[]): Promise<Ended> =>
  gradus({ cwd: import.meta.dirname }, "eval", "compare", ...args, "--server", server.address);

async function json(...args: readonly string[]) {
  const { code, out, err } = await compare(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as {
    readonly counts: object;
    readonly tasks: readonly { readonly solvers: string; readonly gap?: number; readonly first: object }[];
  };
}

const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

describe("eval compare", () => {
  test("counts the tasks that one model, both or neither solve, and lists those where they differ most first", async () => {
    const { counts, tasks } = await json("one", "two");
    expect(counts).toEqual({ first: 1, second: 1, both: 1, neither: 1, unknown: 1 });
    expect(
      tasks
        .map(({ solvers }) => solvers)
        .slice(0, 2)
        .sort(),
    ).toEqual(["first", "second"]);
    expect(tasks.find(({ solvers }) => solvers === "first")).toMatchObject({
      gap: -0.9,
      first: { samples: 1, rewarded: 1, solved: 1 },
      second: { solved: 0 },
    });
    const { code, out } = await compare("one", "two", "--top", "2");
    expect(code).toBe(0);
    expect(out).toMatch(/^part +tasks +only one +only two +both +neither +no reward\n/);
    expect(out).toMatch(/ 5 +1 +1 +1 +1 +1$/m);
    expect(out).toMatch(/\n3 more: --top 5 lists all\n$/);
  });

  test("lists only the tasks that are asked for, in the order that is asked for", async () => {
    expect((await json("one", "two", "--only", "second")).tasks).toMatchObject([
      { solvers: "second", second: { solved: 1 } },
    ]);
    expect((await json("one", "two", "--order", "first")).tasks[0]).toMatchObject({ solvers: "first" });
    expect((await json("two", "one", "--order", "first")).tasks[0]).toMatchObject({ solvers: "first" });
    expect((await json("one", "two", "--order", "second")).tasks[0]).toMatchObject({ solvers: "second" });
  });

  test("refuses evaluations of different suites, unknown ones and unknown choices", async () => {
    expect(await compare("one", "other")).toMatchObject({
      code: 2,
      err: matching(/one is of countdown version \d+, and other of math version \d+: compare evaluations/),
    });
    expect(await compare("one", "nonesuch")).toMatchObject({ code: 3, err: matching(/nonesuch/) });
    expect(await compare("one", "two", "--only", "all")).toMatchObject({
      code: 2,
      err: matching(/--only/),
    });
    expect(await compare("one", "two", "--top", "few")).toMatchObject({
      code: 2,
      err: matching(/--top/),
    });
  });
});
