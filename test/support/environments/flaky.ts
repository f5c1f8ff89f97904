/** An environment whose judge fails now and then, by a schedule that its seed fixes. */
import type { AsyncEnvironment } from "../../../envs/environment.ts";
import { unavailable } from "../../../envs/facts.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { asking, judged } from "./slow.ts";
import type { Sum } from "./sums.ts";

export const NO_ANSWER = unavailable("flaky-judge", "the judge hung up", { retryDelayMs: 1 });

/** Returns whether the judge hangs up on this attempt. */
export function hangsUp(seed: number, share: number, { a, b }: Sum, answer: number, attempt: number): boolean {
  return rngFor("flaky", seed, a, b, answer, attempt).float() < share;
}

export function flaky(seed: number, share: number): AsyncEnvironment<Sum, number> {
  const environment = asking(
    async (sum, answer, { attempt }) => (hangsUp(seed, share, sum, answer, attempt) ? NO_ANSWER : judged(sum, answer)),
    { name: "flaky-judge", concurrencyMax: 64, waitingMax: 4096, heldBytesMax: 1e7 },
  );
  return { ...environment, id: "test/flaky", description: "Add, and have it judged by one who hangs up." };
}
