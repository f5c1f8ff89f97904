/** An environment that asks the outside, which takes its time. */
import { defineEnvironment } from "../../../envs/define.ts";
import type { AsyncEnvironment } from "../../../envs/environment.ts";
import type { Resource, VerifyContext } from "../../../envs/resource.ts";
import type { Facts, Failed } from "../../../envs/facts.ts";
import { generator, inline, type Sum, sums } from "./sums.ts";

/** Returns the facts of an answer; its arguments are a verifier's. */
export type Ask = (sum: Sum, answer: number, context: VerifyContext) => Promise<Facts | Failed>;

export const RIGHT: Facts = { kind: "feasible" };
export const WRONG: Facts = { kind: "infeasible", violation: "it is another number" };

export function judged({ a, b }: Sum, answer: number): Facts {
  return answer === a + b ? RIGHT : WRONG;
}

const JUDGE: Resource = {
  name: "judge",
  concurrencyMax: 2,
  waitingMax: 4,
  heldBytesMax: 10_000,
  timeLimitMs: 30_000,
};

/** Returns an environment that calls `ask`, so that the test decides when and what it answers. */
export function asking(ask: Ask, resource: Partial<Resource> = {}): AsyncEnvironment<Sum, number> {
  return defineEnvironment<Sum, number>({
    ...sums,
    generator,
    inline,
    id: "test/slow",
    version: 1,
    description: "Add, and have it judged.",
    resource: { ...JUDGE, ...resource },
    verify: ask,
  });
}

/** Returns an environment that answers after a delay, or never if the caller has left. */
export function slow(delayMs: number, resource: Partial<Resource> = {}): AsyncEnvironment<Sum, number> {
  return asking(
    (sum, answer, { signal }) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => resolve(judged(sum, answer)), delayMs);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(new Error("given up"));
        });
      }),
    resource,
  );
}
