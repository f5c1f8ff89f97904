/** The last errors that a log tells, as an operator sees them. */
import { openSync } from "node:fs";
import { expect, test } from "vitest";
import { createLastErrors } from "../../../server/runtime/last-errors.ts";
import { openLog } from "../../../server/runtime/logging.ts";

const TOKEN = "a-token-that-nobody-may-see";

function logged(logFormat: "json" | "pretty", logLevel: "info" | "silent" = "info") {
  return openLog({ logLevel, logFormat, token: TOKEN }, openSync("/dev/null", "a"));
}

test.each(["json", "pretty"] as const)(
  "are the last ten of the level error or fatal, newest first, in %s",
  (format) => {
    const { log, lastErrors } = logged(format);
    expect(lastErrors()).toEqual([]);
    log.info("no error");
    log.warn({ err: new Error("no") }, "a warning");
    const before = Date.now();
    const call = log.child({ method: "gradus.v1.S/M" }).child({ requestId: "abc-1" });
    call.error({ err: new Error("it broke"), method: "gradus.v1.S/M" }, "internal error");
    log.fatal("a thread failed");
    const [last, first, ...others] = lastErrors();
    expect(others).toEqual([]);
    expect(last).toMatchObject({ method: "", requestId: "", message: "a thread failed" });
    expect(first).toMatchObject({ method: "gradus.v1.S/M", requestId: "abc-1", message: "internal error: it broke" });
    expect(first?.timeMs).toBeGreaterThanOrEqual(before);
    for (let i = 0; i < 30; i++) log.error(`error ${i}`);
    expect(lastErrors().map(({ message }) => message)).toEqual(Array.from({ length: 10 }, (_, i) => `error ${29 - i}`));
  },
);

test("have no secret, no control character and no endless text", () => {
  const { log, lastErrors } = logged("json");
  log.error({ err: new Error(`Bearer ${TOKEN} \u001b[2J\u202e\n${"x".repeat(100_000)}`) }, "an endpoint\tfailed");
  const [{ message } = { message: "" }] = lastErrors();
  expect(message).not.toContain(TOKEN);
  expect(message).toMatch(/^[ -~…]+$/);
  expect(message).toContain("an endpoint failed: Bearer [a secret] \\u{1b}[2J\\u{202e} xxx");
  expect(message.length).toBeLessThan(600);
});

test("are none if the log tells none", () => {
  const { log, lastErrors } = logged("json", "silent");
  log.error("unsaid");
  expect(lastErrors()).toEqual([]);
});

test("keep the text of a line that is not JSON", () => {
  const errors = createLastErrors();
  const line = '{"level":50,"msg":"cut';
  expect(errors.seen(line)).toBe(line);
  expect(errors.all()).toEqual([{ timeMs: 0, method: "", requestId: "", message: line }]);
});
