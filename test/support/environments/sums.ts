/** Shared by the test environments: the sum of two numbers. */
import { formatInstruction } from "../../../envs/answers/wording.ts";
import { defineGenerator } from "../../../envs/define.ts";
import type { InlineCodec, SyncDefinition } from "../../../envs/environment.ts";
import type { Parsed } from "../../../envs/facts.ts";
import { decodeNumbers, encodeNumbers } from "../../../envs/lib/encode-bits.ts";
import { defineParameters } from "../../../envs/parameters.ts";

export interface Sum {
  readonly a: number;
  readonly b: number;
}

/** All parts of an environment but the name, the verifier, and the source of instances. */
export const sums = {
  answerFormats: ["answer_tag", "think_answer"],
  canonical: ({ a, b }) => `${a}+${b}`,
  render: ({ a, b }, format) => [{ role: "user", content: `What is ${a} + ${b}?\n\n${formatInstruction(format)}` }],
  metadata: ({ a, b }) => ({ numbers: `${a} ${b}` }),
  parse: (text): Parsed<number> =>
    /^\d{1,9}$/.test(text) ? { kind: "answer", answer: Number(text) } : { kind: "malformed", reason: "not a number" },
} as const satisfies Partial<SyncDefinition<Sum, number>>;

export const generator = defineGenerator({
  parameters: defineParameters({
    max: { description: "The largest number.", min: 1, max: 1e6, defaultValue: 99, integer: true },
  }),
  levels: [{ name: "only", description: "Numbers up to 99.", parameters: { max: 99 } }],
  generate: ({ max }, rng): Sum => ({ a: rng.int(0, max), b: rng.int(0, max) }),
});

export const inline: InlineCodec<Sum> = {
  encode: ({ a, b }) => encodeNumbers([a, b]),
  decode(bytes) {
    const [a = 0, b = 0] = decodeNumbers(bytes);
    return { a, b };
  },
};
