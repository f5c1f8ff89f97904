/**
 * Words from given letters, as on a rack of tiles: of "aabcde" two words of three letters are "bad, ace". Any letters make
 * a word here, and each is used at most as often as it is given.
 */
import { formatInstruction } from "../../../envs/answers/wording.ts";
import { defineEnvironment, defineGenerator } from "../../../envs/define.ts";
import type { Facts, Parsed } from "../../../envs/facts.ts";
import { defineParameters } from "../../../envs/parameters.ts";

export interface Rack {
  readonly letters: readonly string[];
  readonly words: number;
  readonly length: number;
}

export type Words = readonly string[];

const ALPHABET = Array.from("abcdefghijklmnopqrst");

const generator = defineGenerator({
  parameters: defineParameters({
    words: { description: "How many words.", min: 1, max: 9, defaultValue: 2, integer: true },
    length: { description: "Of each word.", min: 2, max: 9, defaultValue: 4, integer: true },
  }),
  levels: [{ name: "only", description: "Two words of four letters.", parameters: { words: 2, length: 4 } }],
  generate: ({ words, length }, rng): Rack => ({
    words,
    length,
    letters: Array.from({ length: words * length + 3 }, () => rng.pick(ALPHABET)),
  }),
});

function parse(text: string): Parsed<Words> {
  if (/^[a-z]{1,99}(, ?[a-z]{1,99}){0,99}$/.test(text)) return { kind: "answer", answer: text.split(/, ?/) };
  return { kind: "malformed", reason: "not words with commas between them" };
}

/** Returns the fault of the words apart from the letters that they use; undefined: they have none. */
export function formProblem({ words, length }: Rack, answer: Words): string | undefined {
  if (new Set(answer).size === words && answer.length === words && answer.every((word) => word.length === length))
    return undefined;
  return `not ${words} different words of ${length} letters`;
}

function lettersProblem({ letters }: Rack, answer: Words): string | undefined {
  const left = [...letters];
  for (const letter of answer.join("")) {
    const at = left.indexOf(letter);
    if (at < 0) return `"${letter}" is used more often than it is given`;
    left.splice(at, 1);
  }
  return undefined;
}

function verify(rack: Rack, answer: Words): Facts {
  const violation = formProblem(rack, answer) ?? lettersProblem(rack, answer);
  return violation === undefined ? { kind: "feasible" } : { kind: "infeasible", violation };
}

export const words = defineEnvironment<Rack, Words>({
  id: "test/words",
  version: 1,
  description: "Write words with the letters given.",
  generator,
  solver: {
    solve({ letters, words: count, length }) {
      const sorted = letters.toSorted();
      // Dealt by turns, so that no two words are equal.
      const deal = (word: number) => Array.from({ length }, (_, i) => sorted[word + i * count]).join("");
      const answer = Array.from({ length: count }, (_, word) => deal(word));
      return { answer, value: 1, bound: 1, proven: true, nodes: 0 };
    },
    format: (answer) => answer.join(", "),
  },
  render: ({ letters, words: count, length }, format) => [
    {
      role: "user",
      content: `Write ${count} words of ${length} letters each with these: ${letters.join(" ")}.\n\n${formatInstruction(format)}`,
    },
  ],
  parse,
  verify,
  shape: { kind: "items", given: ({ letters }) => letters, used: (answer) => Array.from(answer.join("")) },
});
