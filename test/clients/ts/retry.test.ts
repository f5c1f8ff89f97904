import { describe, expect, test } from "vitest";
import { asGradusError, codeName, GradusError, readDelayMs } from "../../../clients/ts/src/errors.ts";
import { asked, delayMsAfter, never, passing, retrying } from "../../../clients/ts/src/retry.ts";

const unavailable = new GradusError("UNAVAILABLE", "away", { retryDelayMs: 1 });
const options = { deadlineMs: 60_000, retryable: passing };

/** An attempt that fails with each error in turn and then succeeds. */
function failingWith(...errors: readonly unknown[]): { attempt: () => Promise<string>; count: () => number } {
  let attempts = 0;
  return {
    count: () => attempts,
    attempt: async () => {
      const error = errors[attempts++];
      if (error !== undefined) throw asGradusError(error);
      return "done";
    },
  };
}

describe("retrying", () => {
  test("goes on after passing failures", async () => {
    const { attempt, count } = failingWith(unavailable, new GradusError("ABORTED", "changed", { retryDelayMs: 1 }));
    expect(await retrying(attempt, options)).toBe("done");
    expect(count()).toBe(3);
  });

  test("stops at a failure that is final", async () => {
    const { attempt, count } = failingWith(unavailable, new GradusError("NOT_FOUND", "no such run"));
    await expect(retrying(attempt, options)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(count()).toBe(2);
  });

  test("gives up with the last error when the next delay would pass the deadline", async () => {
    const { attempt, count } = failingWith(new GradusError("UNAVAILABLE", "away", { retryDelayMs: 90_000 }));
    await expect(retrying(attempt, options)).rejects.toMatchObject({ code: "UNAVAILABLE", retryDelayMs: 90_000 });
    expect(count()).toBe(1);
  });

  test("an attempt that ran out of time says what failed before it", async () => {
    const { attempt } = failingWith(unavailable, new GradusError("DEADLINE_EXCEEDED", "late"));
    await expect(retrying(attempt, options)).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED", cause: unavailable });
  });

  test("timeouts are whole numbers that timers take, whatever the deadline", async () => {
    const timeoutOf = (deadlineMs: number): Promise<number | undefined> =>
      retrying(async ({ timeoutMs }) => timeoutMs, { ...options, deadlineMs });
    expect(await Promise.all([1e-9, -5, Infinity].map(timeoutOf))).toEqual([1, 1, 2 ** 31 - 1]);
    expect(Number.isInteger(await timeoutOf(1000.5))).toBe(true);
  });

  test("a signal ends it, also while it waits", async () => {
    const controller = new AbortController();
    const { attempt } = failingWith(new GradusError("UNAVAILABLE", "away", { retryDelayMs: 30_000 }));
    const call = retrying(attempt, { ...options, signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(retrying(attempt, { ...options, signal: controller.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  test("what is retried: passing failures; a full queue only if the server says when", () => {
    const full = new GradusError("RESOURCE_EXHAUSTED", "full", { retryDelayMs: 5 });
    const large = new GradusError("RESOURCE_EXHAUSTED", "message too large");
    const away = new GradusError("UNAVAILABLE", "no connection");
    expect([full, large, away].map(passing)).toEqual([true, false, true]);
    expect([full, large, away].map(asked)).toEqual([true, false, false]);
    expect([full, large, away].map(never)).toEqual([false, false, false]);
  });

  test("delays follow the server, or else grow to a limit, with up to a fifth of jitter", () => {
    const away = new GradusError("UNAVAILABLE", "away");
    for (const [failures, base] of [
      [1, 100],
      [2, 200],
      [30, 5_000],
    ] as const) {
      expect(delayMsAfter(away, failures)).toBeGreaterThanOrEqual(base);
      expect(delayMsAfter(away, failures)).toBeLessThanOrEqual(base * 1.2);
    }
    expect(delayMsAfter(new GradusError("UNAVAILABLE", "", { retryDelayMs: 40 }), 9)).toBeLessThanOrEqual(48);
  });
});

test("codes have gRPC's numbers", () => {
  expect([0, 3, 5, 14, 16, 99].map(codeName)).toEqual([
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "UNAVAILABLE",
    "UNAUTHENTICATED",
    "UNKNOWN",
  ]);
});

test("a delay is a positive number, or none", () => {
  expect(["250", "1.5", "0", "-1", "soon", "", null, undefined].map(readDelayMs)).toEqual([
    250,
    1.5,
    ...Array.from({ length: 6 }, () => undefined),
  ]);
});

test("anything thrown becomes a GradusError with its cause", () => {
  const cause = new TypeError("odd");
  expect(asGradusError(cause)).toMatchObject({ name: "GradusError", code: "UNKNOWN", message: "odd", cause });
  expect(asGradusError(unavailable)).toBe(unavailable);
});
