/**
 * Tests the verdicts on a sandbox's replies. A stand-in gives the replies that no real sandbox can be made to give.
 */
import { describe, expect, test } from "vitest";
import type { CodeInstance } from "../../../envs/code/instance.ts";
import { readRow } from "../../../envs/code/rows.ts";
import { checkReferences, verify } from "../../../envs/code/verify.ts";
import { VIOLATION_BYTES_MAX } from "../../../envs/score.ts";
import type { PortContext } from "../../../envs/resource.ts";
import type { Failed } from "../../../envs/facts.ts";
import type { SandboxJob, SandboxReply, SandboxResult } from "../../../envs/ports.ts";

const DOWN: Failed = {
  kind: "failed",
  reason: "resource_unavailable",
  resource: "sandbox",
  detail: "it is on fire",
  retryable: true,
};

function asking(reply: (job: SandboxJob) => SandboxReply | Failed): PortContext {
  const sandbox = { ask: async (job: SandboxJob) => reply(job) };
  return { ports: { sandbox }, signal: new AbortController().signal, deadlineMs: Infinity };
}

const always = (...results: readonly SandboxResult[]): PortContext => asking(() => ({ kind: "ran", results }));

function instanceOf(row: object): CodeInstance {
  const read = readRow({ prompt: "P", ...row });
  if (read.kind !== "answer") throw new Error(read.reason);
  return read.answer;
}

/** Returns the test that a sandbox makes of "assert f(1) == 2" and similar asserts. */
const equalTo = (arg: number, value: number) => ({
  name: "f",
  args: [arg],
  views: [],
  expected: { kind: "equal", value },
});
const calls = instanceOf({ tests_read: { tests: [equalTo(1, 2), equalTo(2, 3)], unread: [] } });
const returned = (int: number): SandboxResult => ({ kind: "returned", value: { int: `${int}` } });

test("what is expected never goes to the sandbox", async () => {
  const jobs: SandboxJob[] = [];
  const context = asking((job) => {
    jobs.push(job);
    return { kind: "ran", results: [returned(2), returned(3)] };
  });
  const secret = instanceOf({
    tests_read: { tests: [equalTo(1, 424242), equalTo(2, 434343)], unread: [] },
    solution: "SOLUTION",
  });
  await verify(secret, "program", context);
  expect(jobs).toHaveLength(1);
  expect(JSON.stringify(jobs)).not.toMatch(/424242|434343|SOLUTION/);
});

test("a failure of the sandbox is a failure, whatever the program, and never a failed test", async () => {
  expect(
    await verify(
      calls,
      "p",
      asking(() => DOWN),
    ),
  ).toBe(DOWN);
  expect(
    await checkReferences(
      { ...calls, references: ["p"] },
      asking(() => DOWN),
    ),
  ).toBe(DOWN);
  const few = await verify(calls, "p", always(returned(2)));
  expect(few).toMatchObject({ kind: "failed", reason: "resource_unavailable", resource: "sandbox" });
  const none = { ...always(), ports: {} };
  expect(await verify(calls, "p", none)).toMatchObject({ kind: "failed", retryable: false });
});

test.each<readonly [SandboxResult, string]>([
  [returned(5), "returned 5, expected 2"],
  [{ kind: "returned", value: { other: "Always" } }, "returned <a value of type Always>, expected 2"],
  [{ kind: "raised", error: "ValueError: no" }, "raised ValueError: no, expected 2"],
  [{ kind: "unusable", why: "does not define f" }, "was not reached: the program does not define f"],
  [{ kind: "exceeded", limit: "more than 4,000 ms of processor time" }, "took more than 4,000 ms of processor time"],
  [{ kind: "died", how: "signal 9" }, "ended early: signal 9"],
  [{ kind: "printed", stdout: "2" }, "printed and returned nothing, expected 2"],
])("%j fails a test of a function", async (result, words) => {
  expect(await verify(calls, "p", always(result, returned(3)))).toMatchObject({
    kind: "graded",
    solved: false,
    violation: `test 1 of 2: f(1) ${words}`,
    components: [
      { name: "correctness", value: 0 },
      { name: "passed", value: 0.5 },
    ],
  });
});

test("exceptions that are expected pass, and others fail", async () => {
  const raising = instanceOf({
    tests_read: { tests: [{ ...equalTo(1, 0), expected: { kind: "raises", names: ["LookupError"] } }], unread: [] },
  });
  const solved = async (result: SandboxResult): Promise<unknown> => {
    const facts = await verify(raising, "p", always(result));
    return facts.kind === "graded" ? facts.solved : facts;
  };
  const names = ["KeyError", "LookupError", "Exception", "BaseException", "object"];
  expect(await solved({ kind: "raised", error: "KeyError: 'a' (line 3)", names })).toBe(true);
  expect(await solved({ kind: "raised", error: "LookupError", names: ["Exception"] })).toBe(false);
  expect(await solved({ kind: "raised", error: "LookupError" })).toBe(false);
  expect(await solved({ kind: "unusable", why: "raised LookupError" })).toBe(false);
  expect(await solved(returned(1))).toBe(false);
  expect(await solved({ kind: "exceeded", limit: "memory" })).toBe(false);
});

test("what is told is cut to its bounds, and says where long outputs differ", async () => {
  const long = "🙂".repeat(100_000);
  const script = instanceOf({ tests: [{ input: long, output: `1\n2\n${long}` }] });
  const facts = await verify(script, "p", always({ kind: "printed", stdout: `1\n3\n${long}` }));
  if (facts.kind !== "graded") throw new Error(facts.kind);
  expect(facts.violation).toMatch(/^test 1 of 1: for the input ".*…" it printed "3" on line 2, expected "2"$/u);
  const value = [long, [long]];
  const other = await verify(calls, "p", always({ kind: "returned", value }, returned(3)));
  if (other.kind !== "graded") throw new Error(other.kind);
  expect(new TextEncoder().encode(other.violation).length).toBeLessThanOrEqual(VIOLATION_BYTES_MAX);
});

test("it is enough that one of the solutions passes; without any there is nothing to check", async () => {
  const context = asking(({ program }) => ({
    kind: "ran",
    results: program === "right" ? [returned(2), returned(3)] : [returned(2), returned(0)],
  }));
  expect(await checkReferences({ ...calls, references: ["wrong", "right"] }, context)).toBeUndefined();
  expect(await checkReferences({ ...calls, references: ["wrong", "worse"] }, context)).toBe(
    "its own solution fails test 2 of 2: f(2) returned 0, expected 3",
  );
  expect(await checkReferences(calls, context)).toBeUndefined();
});

describe("what a row's author imports comes before the program", () => {
  const future = "from __future__ import annotations";
  const prefix = "import math\nimport re";
  const head = '# -*- coding: utf-8 -*-\n\n"""Doc\n\nstring."""\n';
  test.each([
    ["x = 1", `${prefix}\nx = 1`],
    [`${future}\nx = 1`, `${future}\n${prefix}\nx = 1`],
    [`${head}${future}\n\nx`, `${head}${future}\n${prefix}\n\nx`],
    [
      "from __future__ import (\n    annotations,\n    division)\nx",
      `from __future__ import (\n    annotations,\n    division)\n${prefix}\nx`,
    ],
    [`${future}; y = 1\n${future}\nx`, `${future}; y = 1\n${future}\n${prefix}\nx`],
    [`x = """\n${future}\n"""`, `${prefix}\nx = """\n${future}\n"""`],
    [`x = 1\n${future}`, `${prefix}\nx = 1\n${future}`],
    [`${future}\r\nx`, `${future}\n${prefix}\nx`],
  ])("%j", async (program, source) => {
    const programs: string[] = [];
    const context = asking((job) => {
      programs.push(job.program);
      return { kind: "ran", results: [returned(2), returned(3)] };
    });
    await verify({ ...calls, prefix }, program, context);
    expect(programs).toEqual([source]);
  });

  test("but behind its imports from __future__, and its lines are told by their own numbers", async () => {
    const words = async (program: string, line: number): Promise<unknown> => {
      const context = always({ kind: "raised", error: `ValueError: x (line ${line})` }, returned(3));
      const facts = await verify({ ...calls, prefix }, program, context);
      return facts.kind === "graded" && facts.violation;
    };
    expect(await words("x = 1\ny = 2", 4)).toContain("ValueError: x (line 2)");
    expect(await words(`${future}\ny = 2`, 4)).toContain("ValueError: x (line 2)");
    expect(await words(`${future}\ny = 2`, 1)).toContain("ValueError: x (line 1)");
  });
});
