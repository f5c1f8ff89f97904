/** The problems that ship: their own solutions pass their tests in the sandbox, and other programs do not. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { code } from "../../../envs/code/index.ts";

import { verify } from "../../../envs/code/verify.ts";
import type { RowReader } from "../../../envs/environment.ts";
import type { PortContext } from "../../../envs/resource.ts";
import type { Sandbox } from "../../../envs/ports.ts";
import { loadPool, rowCounts, rowOf } from "../../../envs/pool.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import { type OpenedPorts, openPorts } from "../../../server/outside/open-ports.ts";
import { readCodeRow } from "../../support/code-rows.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

const rows = code.rows as RowReader<unknown>;
const pool = loadPool(code, "exercises", readFileSync(rows.defaultPool!.file, "utf8"));
const instances = Array.from({ length: pool.size }, (_, place) => rowOf(pool, place).instance);

let opened: OpenedPorts;
beforeAll(async () => {
  const sandbox = { kind: "embedded", python: "python3", concurrency: 2 } as const;
  opened = await openPorts({ sandbox }, { clock: systemClock });
});
afterAll(() => opened.close());

function context(): PortContext {
  return { ports: opened.ports, signal: AbortSignal.timeout(PATIENCE_MS), deadlineMs: Date.now() + PATIENCE_MS };
}

test("there are at least 60, of all levels and both kinds, and all of them are read", () => {
  expect(pool.reasons).toEqual([]);
  expect(pool.size).toBeGreaterThanOrEqual(60);
  for (const count of Object.values(rowCounts(pool))) expect(count).toBeGreaterThanOrEqual(6);
  const scripts = instances.filter(({ tests }) => tests[0]?.kind === "script").length;
  expect(Math.min(scripts, pool.size - scripts)).toBeGreaterThanOrEqual(20);
  for (const { tests, unread, references } of instances) {
    expect([unread, references.length]).toEqual([[], 1]);
    expect(tests.length).toBeGreaterThanOrEqual(5);
    expect(tests.length).toBeLessThanOrEqual(20);
  }
});

describe.each(instances.map((instance) => [instance.prompt.slice(0, 60), instance] as const))("%s", (_, instance) => {
  test("its solution passes its tests, and programs that do nothing fail", async () => {
    expect(await rows.check?.(instance, context())).toBeUndefined();
    const names = new Set(instance.tests.flatMap((each) => (each.kind === "call" ? [each.name] : [])));
    const idle = [...names].map((name) => `def ${name}(*args): return None`).join("\n") || "pass";
    expect(await verify(instance, idle, context())).toMatchObject({ kind: "graded", solved: false });
  });
});

test("a row whose solution fails its tests is told of, with the test", async () => {
  const row = {
    prompt: "Write a function twice(x).",
    tests: ["assert twice(1) == 2", "assert twice(3) == 7"],
    solution: "def twice(x):\n    return 2 * x",
  };
  const read = await readCodeRow(opened.ports.sandbox as Sandbox, row);
  if (read.kind !== "answer") throw new Error(read.reason);
  expect(await rows.check?.(read.answer, context())).toBe(
    "its own solution fails test 2 of 2: twice(3) returned 6, expected 7",
  );
  expect(await rows.check?.(read.answer, { ...context(), ports: {} })).toMatchObject({
    kind: "failed",
    retryable: false,
  });
});
