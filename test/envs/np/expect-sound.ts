import { expect } from "vitest";
import type { Solution, SyncEnvironment } from "../../../envs/environment.ts";

/** An answer of the stated value, and a bound that holds against the optimum. */
export function expectSound<Instance, Answer>(
  environment: SyncEnvironment<Instance, Answer>,
  instance: Instance,
  solution: Solution<Answer>,
  optimum: number,
): void {
  const { answer, value, bound, proven } = solution;
  expect(environment.verify(instance, answer)).toEqual({ kind: "feasible", objective: value });
  const [low, high] = environment.goal === "minimize" ? [bound, value] : [value, bound];
  expect(low).toBeLessThanOrEqual(optimum);
  expect(high).toBeGreaterThanOrEqual(optimum);
  expect(proven).toBe(value === bound);
}
