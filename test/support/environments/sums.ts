/** What the test environments have in common: the sum of two numbers. */
import { formatInstruction } from "../../../envs/answers/wording.ts";
import type { Generator, InlineCodec, Parsed, SyncEnvironment } from "../../../envs/environment.ts";
import { decodeNumbers, encodeNumbers } from "../../../envs/lib/inline.ts";

export interface Sum {
  readonly a: number;
  readonly b: number;
}

type Parts = Omit<SyncEnvironment<Sum, number>, "id" | "version" | "description" | "rewardSchemes" | "verify">;

/** Everything but a name, a price, a verifier, and a source of instances. */
export const sums: Parts = {
  goal: "satisfy",
  parameters: [{ name: "max", description: "The largest number.", min: 1, max: 1e6, defaultValue: 99, integer: true }],
  levels: [{ name: "only", description: "Numbers up to 99.", parameters: { max: 99 } }],
  answerFormats: ["answer_tag", "think_answer"],
  canonical: ({ a, b }) => `${a}+${b}`,
  render: ({ a, b }, format) => [{ role: "user", content: `What is ${a} + ${b}?\n\n${formatInstruction(format)}` }],
  metadata: ({ a, b }) => ({ numbers: `${a} ${b}` }),
  parse: (text): Parsed<number> =>
    /^\d{1,9}$/.test(text) ? { kind: "answer", answer: Number(text) } : { kind: "malformed", reason: "not a number" },
  format: (answer) => `${answer}`,
  draw: ({ a, b }) => ({ width: 1, height: 1, shapes: [], legend: [], notes: [`${a} + ${b}`] }),
};

export const generator: Generator<Sum> = {
  draw: ({ max }, rng) => ({ a: rng.int(0, max as number), b: rng.int(0, max as number) }),
};

export const inline: InlineCodec<Sum> = {
  encode: ({ a, b }) => encodeNumbers([a, b]),
  decode(bytes) {
    const [a = 0, b = 0] = decodeNumbers(bytes);
    return { a, b };
  },
};
