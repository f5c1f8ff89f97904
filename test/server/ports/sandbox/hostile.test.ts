/** Hostile programs: what `gradus sandbox check` runs, each as a test, and with each of the two walls alone. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../../envs/ports.ts";
import { checkSandbox, hostilePrograms } from "../../../../server/ports/sandbox/check/check.ts";
import { forgeries } from "../../../../server/ports/sandbox/check/forgeries.ts";
import { type Hostile, rightAnswer } from "../../../../server/ports/sandbox/check/hostile.ts";
import { reach } from "../../../../server/ports/sandbox/check/reach.ts";
import { type Embedded, openEmbedded } from "../../../../server/ports/sandbox/embedded.ts";
import { findPython } from "../../../../server/ports/sandbox/python.ts";
import { openTestSandbox } from "../../../support/sandbox.ts";

const withTheirNames = (programs: readonly Hostile[]) => programs.map((program) => [program.name, program] as const);

describe.each([
  { walls: "all walls", without: [], programs: hostilePrograms },
  { walls: "namespaces alone", without: ["landlock"] as const, programs: reach },
  { walls: "Landlock alone", without: ["namespaces"] as const, programs: reach },
])("with $walls", ({ without, programs }) => {
  let sandbox: Embedded | undefined;
  beforeAll(async () => {
    sandbox = await openTestSandbox({ concurrency: 1, without });
  });
  afterAll(() => sandbox?.close());

  test.each(withTheirNames(programs))("%s is held in", async (_name, program) => {
    if (sandbox === undefined) return;
    for await (const { wrong } of checkSandbox(sandbox, [program])) expect(wrong).toBeUndefined();
  });
});

test("with no wall at all no program is run, and it says why", async () => {
  const python = await findPython("python3");
  if (python.kind === "missing") throw new Error(python.why);
  const opened = await openEmbedded({ python: python.path, concurrency: 1, without: ["landlock", "namespaces"] });
  expect(opened).toMatchObject({
    kind: "missing",
    why: expect.stringMatching(/neither Landlock nor namespaces/) as string,
  });
});

test.each(withTheirNames(hostilePrograms))("where nothing held %s, the check would say so", async (_name, program) => {
  // What it would come to: a program that forges is right, one that reaches out lists what it did, the rest just goes on.
  const right = { kind: "returned", value: { int: rightAnswer(3) } } as const;
  const listed = { kind: "returned", value: ["read /etc/passwd"] } as const;
  const ended = { kind: "printed", stdout: "" } as const;
  const results = forgeries.includes(program) ? [right] : [listed, ended];
  const wrongs = results.map(async (result) => {
    const open: Sandbox = { ask: async ({ cases }) => ({ kind: "ran", results: cases.map(() => result) }) };
    for await (const { wrong } of checkSandbox(open, [program])) return wrong;
    return undefined;
  });
  expect(await Promise.all(wrongs)).toContainEqual(expect.any(String));
});
