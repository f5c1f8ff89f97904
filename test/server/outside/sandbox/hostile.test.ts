/** Each hostile program is held in, those of `gradus sandbox check` and more, and with each of the two walls alone. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../../envs/ports.ts";
import { checkSandbox, hostilePrograms } from "../../../../server/outside/sandbox/check/check.ts";
import { type Hostile, rightAnswer } from "../../../../server/outside/sandbox/check/hostile.ts";
import * as checked from "../../../../server/outside/sandbox/check/programs.ts";
import { type Embedded, openEmbedded } from "../../../../server/outside/sandbox/embedded.ts";
import { findPython } from "../../../../server/outside/sandbox/find-python.ts";
import { until } from "../../../support/patience.ts";
import { openTestSandbox } from "../../../support/sandbox.ts";
import { forgeries as forging } from "./programs/forgeries.ts";
import { limits } from "./programs/limits.ts";
import { reach as reaching } from "./programs/reach.ts";

const reach = [...checked.reach, ...reaching];
const forgeries = [...checked.forgeries, ...forging];
const programs = [...hostilePrograms, ...limits, ...reaching, ...forging];

const withTheirNames = (programs: readonly Hostile[]) => programs.map((program) => [program.name, program] as const);

/**
 * Sandboxes that run side by side, each with one program; its zygote reports what the program has left behind. Many
 * programs only wait.
 */
const AT_ONCE = 3;

describe.each([
  { walls: "all walls", without: [], programs },
  { walls: "namespaces alone", without: ["landlock"] as const, programs: reach },
  { walls: "Landlock alone", without: ["namespaces"] as const, programs: reach },
])("with $walls", ({ without, programs: some }) => {
  let opened: readonly Embedded[] = [];
  const free: Embedded[] = [];
  beforeAll(async () => {
    const all = Array.from({ length: AT_ONCE }, () => openTestSandbox({ concurrency: 1, without }));
    opened = (await Promise.all(all)).filter((sandbox) => sandbox !== undefined);
    free.push(...opened);
  });
  afterAll(() => Promise.all(opened.map((sandbox) => sandbox.close())));

  test.concurrent.each(withTheirNames(some))("%s is held in", async (_name, program) => {
    if (opened.length === 0) return;
    let sandbox: Embedded | undefined;
    await until(() => (sandbox = free.pop()) !== undefined);
    try {
      for await (const { wrong } of checkSandbox(sandbox!, [program])) expect(wrong).toBeUndefined();
    } finally {
      free.push(sandbox!);
    }
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

test.each(withTheirNames(programs))("where nothing held %s, the check would say so", async (_name, program) => {
  // Expected results without the walls: a forging program is right, an outgoing one lists its actions, and the others
  // continue.
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
