import { expect, test } from "vitest";
import { defaultTimeoutMs } from "../../../server/rpc/curriculum/read-run-config.ts";
import { arm } from "../curriculum/support.ts";

test("groups time out by default in a run that waits for something outside of the server", () => {
  expect(defaultTimeoutMs([arm("a"), arm("b")])).toBeUndefined();
  expect(defaultTimeoutMs([arm("a"), arm("b", { resource: "judge" })])).toBe(10 * 60 * 1000);
});

test("groups time out by default in a run with turns, later with more calls", () => {
  const spec = { calls: 10 } as never;
  expect(defaultTimeoutMs([arm("a"), arm("b", { spec })])).toBe(19 * 60 * 1000);
  expect(defaultTimeoutMs([arm("a", { resource: "judge" }), arm("b", { spec: { calls: 1 } as never })])).toBe(600_000);
});
