/**
 * Defines the game Mastermind: the policy finds a secret code by guessing, and learns how near each guess is. README.md
 * has an example.
 */
import { formatInstruction } from "../../answers/wording.ts";
import { defineEnvironment } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import { formatIntList, parseDigits } from "../../lib/parse-lists.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import type { Code, MastermindInstance } from "./code.ts";
import { generator, isSmall } from "./generate.ts";
import { baselineOf, turns, verify } from "./verify.ts";

function render({ colours, secret }: MastermindInstance, format: AnswerFormat): readonly ChatMessage[] {
  const content = [
    `I have a secret code: ${secret.length} places, and in each a colour with a number from 1 to ${colours}. A colour may stand in several places.`,
    "Find the code with as few guesses as you can. I compare each guess with it, and tell you how many places have the right colour, and how many more colours of the guess are in the code at other places.",
    "A guess is a list in square brackets: the numbers of the colours, with commas between them.",
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

/** Encodes an instance for task ids: one byte for the number of colours, and one for each position. */
const inline: InlineCodec<MastermindInstance> = {
  encode: ({ colours, secret }) => Uint8Array.from([colours, ...secret]),
  decode: ([colours = 0, ...secret]) => ({ colours, secret }),
};

export const mastermind = defineEnvironment<MastermindInstance, Code>({
  id: "games/mastermind",
  version: 1,
  description:
    "Find a secret code of colours by guesses. Each guess is compared with the code. The baseline is the worst case of the best strategy.",
  goal: "minimize",
  generator,
  inEverySplit: isSmall,
  solver: {
    solve(instance) {
      const value = baselineOf(instance);
      return { answer: instance.secret, value, bound: value, proven: true, nodes: 0 };
    },
    format: formatIntList,
  },
  turns,
  inline,
  render,
  metadata: ({ colours, secret }) => ({ size: `${secret.length} places, ${colours} colours` }),
  answerNames: ["code", "guess"],
  parse: parseDigits,
  verify,
});
