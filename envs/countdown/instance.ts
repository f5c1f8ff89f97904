/** What a countdown task is, and the limits that keep its arithmetic exact. */

import type { InlineCodec } from "../environment.ts";

/** Reach `target` with + − × ÷ from `numbers`, each used exactly once. */
export interface CountdownInstance {
  readonly numbers: readonly number[];
  readonly target: number;
}

/**
 * Limits on every instance, whatever its source. Six numbers of at most 200 keep the parts of any unreduced fraction
 * made from them below 2^53 and the exhaustive search below four million nodes (see solve.ts for both).
 */
export const LIMITS = { numbersMin: 2, numbersMax: 6, numberMax: 200, targetMax: 100_000 } as const;

/** "24:1,2,6,8", the order of the numbers kept. */
export const inline: InlineCodec<CountdownInstance> = {
  encode: ({ numbers, target }) => Buffer.from(`${target}:${numbers.join(",")}`, "latin1"),
  decode: (bytes) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    const [target = "", numbers = ""] = text.split(":");
    return { numbers: numbers.split(",").map(Number), target: Number(target) };
  },
};

/** The same text for the same task: the order of the numbers does not count. */
export function canonical(instance: CountdownInstance): string {
  return `${[...instance.numbers].sort((a, b) => a - b).join(" ")} -> ${instance.target}`;
}
