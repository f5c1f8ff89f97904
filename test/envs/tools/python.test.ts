/** The tool `python`: what it asks of the sandbox, and its words for results that no real sandbox can be made to give. */
import { expect, test } from "vitest";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import type { SandboxJob, SandboxReply, SandboxResult } from "../../../envs/ports.ts";
import type { VerifyContext } from "../../../envs/resource.ts";
import { python } from "../../../envs/tools/python.ts";

/** Runs the tool over a stand-in for the sandbox. */
async function resultOf(answer: SandboxReply | Failed | undefined, code: unknown = "print(1)") {
  const jobs: SandboxJob[] = [];
  const ask = (job: SandboxJob) => {
    jobs.push(job);
    return Promise.resolve(answer as SandboxReply);
  };
  const ports = answer === undefined ? {} : { sandbox: { ask } };
  const context: VerifyContext = {
    ports,
    signal: new AbortController().signal,
    deadlineMs: Infinity,
    attempt: 1,
    attemptsMax: 1,
  };
  const asked = python.reply({ code });
  return { result: typeof asked === "string" ? asked : await asked(context), jobs };
}

const ran = (...results: readonly SandboxResult[]): SandboxReply => ({ kind: "ran", results });

test("a program runs once as a script without input", async () => {
  const { result, jobs } = await resultOf(ran({ kind: "printed", stdout: "42\n" }), "print(6 * 7)");
  expect(result).toBe("42");
  expect(jobs).toEqual([{ program: "print(6 * 7)", cases: [{ kind: "script", stdin: "" }], cpuMsMax: 4000 }]);
});

test.each<[SandboxResult, string]>([
  [{ kind: "printed", stdout: " \n" }, "The program printed nothing."],
  [{ kind: "raised", error: "ValueError: 5 (line 3)" }, "The program failed: ValueError: 5 (line 3)"],
  [{ kind: "unusable", why: "raised SyntaxError" }, "The program failed: it raised SyntaxError"],
  [
    { kind: "exceeded", limit: "more than 4,000 ms of processor time" },
    "The program was stopped: it took more than 4,000 ms of processor time.",
  ],
  [{ kind: "died", how: "signal 9" }, "The program ended early: signal 9"],
])("the policy's own failure is a reply: %j", async (given, reply) => {
  expect((await resultOf(ran(given))).result).toBe(reply);
});

test("a failure of the sandbox is no reply, and may be tried again", async () => {
  const down = unavailable("sandbox", "it is on fire", { retryDelayMs: 500 });
  expect((await resultOf(down)).result).toEqual(down);
  expect((await resultOf(ran())).result).toMatchObject({ kind: "failed", retryable: true });
  expect((await resultOf(undefined)).result).toMatchObject({ kind: "failed", resource: "sandbox", retryable: false });
});

test("arguments that are no program ask nothing", async () => {
  for (const code of [{}, 5, null, ["print(1)"]]) {
    const { result, jobs } = await resultOf(ran(), code);
    expect([result, jobs]).toEqual(["The argument 'code' must be a text.", []]);
  }
});

test("long and strange output is cut and well-formed", async () => {
  for (const stdout of ["é".repeat(10_000), "a\ud800b", "x\n".repeat(9000)]) {
    const { result } = await resultOf(ran({ kind: "printed", stdout }));
    expect(typeof result).toBe("string");
    expect(`${result as string}`.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(result as string)).toBeLessThan(4200);
  }
});
