import { expect, test } from "vitest";
import { defaultTimeoutMs } from "../../../server/rpc/curriculum/read-run-config.ts";
import { arm } from "../curriculum/support.ts";

test("groups time out by default in a run that waits for something outside of the server", () => {
  expect(defaultTimeoutMs([arm("a"), arm("b")])).toBeUndefined();
  expect(defaultTimeoutMs([arm("a"), arm("b", { resource: "judge" })])).toBe(10 * 60 * 1000);
});
