/** Defines a countdown task, and the limits that keep its arithmetic exact. */

import type { InlineCodec } from "../environment.ts";

/** Task: reach `target` from `numbers` with + − × ÷, using each number exactly once. */
export interface CountdownInstance {
  readonly numbers: readonly number[];
  readonly target: number;
}

/**
 * Limits on every instance, whatever its source. With six numbers of at most 200, the parts of every unreduced fraction
 * stay below 2^53. The exhaustive search then has fewer than four million nodes. See solve.ts for both.
 */
export const LIMITS = { numbersMin: 2, numbersMax: 6, numberMax: 200, targetMax: 100_000 } as const;

/** Encodes an instance as "24:1,2,6,8". Keeps the order of the numbers. */
export const inline: InlineCodec<CountdownInstance> = {
  encode: ({ numbers, target }) => Buffer.from(`${target}:${numbers.join(",")}`, "latin1"),
  decode: (bytes) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    const [target = "", numbers = ""] = text.split(":");
    return { numbers: numbers.split(",").map(Number), target: Number(target) };
  },
};

/** Returns a text that is equal for equal tasks. Tasks that differ only in the order of their numbers are equal. */
export function canonical(instance: CountdownInstance): string {
  return `${[...instance.numbers].sort((a, b) => a - b).join(" ")} -> ${instance.target}`;
}
