/** The load of the last minutes, computed from counts of calls. */
import { afterEach, expect, test, vi } from "vitest";
import { createActivity } from "../../../server/runtime/activity.ts";
import { createMetrics } from "../../../server/runtime/metrics.ts";
import { quantile } from "../../../server/runtime/sampled-metrics.ts";

afterEach(() => void vi.useRealTimers());

function called(meter: ReturnType<ReturnType<typeof createMetrics>["meter"]>, code: string, seconds: number): void {
  meter.started();
  meter.finished(code, seconds, 0, 0);
}

test("calls and errors of the window count, and older ones only in the sums since the start", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const metrics = createMetrics();
  const [step, get] = [metrics.meter("S/Step"), metrics.meter("S/Get")];
  const activity = createActivity({ calls: metrics.calls, lastErrors: () => [], problem: () => undefined });
  called(step, "OK", 10);
  activity.begin();
  expect(activity.now()).toMatchObject({ problem: "", methods: [], errors: [] });
  for (let i = 0; i < 98; i++) called(step, "OK", 0.003);
  for (let i = 0; i < 2; i++) called(step, "INTERNAL", 0.3);
  called(get, "NOT_FOUND", 0.0002);
  get.started();
  const { methods, errors } = activity.now();
  expect(methods).toEqual([
    { method: "S/Step", count: 100, running: 0, p50Ms: expect.closeTo(3.77, 1) as number, p99Ms: 375 },
    {
      method: "S/Get",
      count: 1,
      running: 1,
      p50Ms: expect.closeTo(0.175) as number,
      p99Ms: expect.any(Number) as number,
    },
  ]);
  expect(errors).toEqual([
    { method: "S/Step", code: "INTERNAL", count: 2, recent: 2 },
    { method: "S/Get", code: "NOT_FOUND", count: 1, recent: 1 },
  ]);
  // Five minutes later the calls are out of the window.
  vi.advanceTimersByTime(6 * 60_000);
  expect(activity.now()).toMatchObject({
    methods: [{ method: "S/Get", count: 0, running: 1, p50Ms: 0, p99Ms: 0 }],
    errors: [
      { count: 2, recent: 0 },
      { count: 1, recent: 0 },
    ],
  });
  activity.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("processor time, memory and the reason for not being ready are told", () => {
  const metrics = createMetrics();
  const activity = createActivity({ calls: metrics.calls, lastErrors: () => [], problem: () => "the store is away" });
  const until = performance.now() + 30;
  while (performance.now() < until) Math.hypot(1, 2);
  const { problem, coresUsed, cores, memoryBytes, startMemoryBytes, memoryMaxBytes } = activity.now();
  expect(problem).toBe("the store is away");
  expect(coresUsed).toBeGreaterThan(0);
  expect(cores).toBeGreaterThanOrEqual(1);
  expect(Math.min(memoryBytes, startMemoryBytes)).toBeGreaterThan(10_000_000);
  expect(memoryMaxBytes).toBeGreaterThan(memoryBytes);
});

test("a quantile lies within its bucket, or at the last bound", () => {
  const bounds = [1, 2, 4];
  expect(quantile(bounds, [0, 0, 0, 0], 0.5)).toBeUndefined();
  expect(quantile(bounds, [4, 0, 4, 0], 0.5)).toBe(1);
  expect(quantile(bounds, [0, 0, 4, 0], 0.5)).toBe(3);
  expect(quantile(bounds, [1, 1, 1, 97], 0.99)).toBe(4);
});
