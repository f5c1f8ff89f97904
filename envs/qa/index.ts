/**
 * Registers the environments of questions with options (Omni-Thinker 4.1, 6.3). `qa` asks for the right option's text,
 * `qa/letter` for its letter. Both have the same rows, tasks and splits, so that a policy trained on one can be
 * evaluated on the other. README.md opens with an example.
 */
import { defineEnvironment } from "../define.ts";
import type { Grading, Solver } from "../environment.ts";
import type { Facts, Parsed } from "../facts.ts";
import { letterOf, readLetter } from "./letter.ts";
import { canonical, invariant, metadata, prompt, type Question, rows } from "./question.ts";
import { OPTION_NAMES } from "./match.ts";
import { placeOfSentence } from "./sentence.ts";

/** An answer: one of the options, or another text. */
interface Choice {
  /** Index of the option in the question, or −1 if the text is not an option. */
  readonly place: number;
  /** The option as the policy would write it. If the text is not an option, its beginning. */
  readonly text: string;
}

const SHOWN_UNITS = 80;

const grading: Grading = {
  primary: "correctness",
  components: [{ name: "correctness", description: "1 for the right option, else 0.", weight: 1 }],
};

function verify({ right }: Question, { place, text }: Choice): Facts {
  const solved = place === right;
  const components = [{ name: "correctness", value: Number(solved) }];
  if (solved) return { kind: "graded", components, solved };
  const violation = place < 0 ? `not one of the options: '${text}'` : `'${text}' is not the right option`;
  return { kind: "graded", components, solved, violation };
}

function solver(write: (question: Question, place: number) => string): Solver<Question, Choice> {
  return {
    solve(question) {
      const answer = { place: question.right, text: write(question, question.right) };
      return { answer, value: 1, bound: 1, proven: true, nodes: 0 };
    },
    format: ({ text }) => text,
  };
}

const textAt = ({ options }: Question, place: number): string => options[place] ?? "";

/** Parses an answer. Never returns malformed: a text that is not an option counts as a wrong option. */
function readText(text: string, question: Question): Parsed<Choice> {
  const place = placeOfSentence(question, text);
  const start = text.slice(0, SHOWN_UNITS);
  return { kind: "answer", answer: { place, text: place < 0 ? start : textAt(question, place) } };
}

const shared = {
  rows,
  canonical,
  invariant,
  metadata,
  verify,
  grading,
  answerNames: OPTION_NAMES,
  version: 2,
  earlier: [1],
} as const;

export const qa = defineEnvironment<Question, Choice>({
  ...shared,
  id: "qa",
  description: "Answer a question with the text of the right one of several options.",
  render: ({ question, options }, format) =>
    prompt(
      question,
      ["Options, one to a line:", ...options],
      "Exactly one of the options is right. Your final answer is its full text, as it is written above.",
      format,
    ),
  parse: readText,
  solver: solver(textAt),
});

export const qaLetter = defineEnvironment<Question, Choice>({
  ...shared,
  id: "qa/letter",
  twinOf: "qa",
  description: "Answer a question with the letter of the right one of several options.",
  render: ({ question, options }, format) =>
    prompt(
      question,
      ["Options:", ...options.map((option, place) => `${letterOf(place)}) ${option}`)],
      "Exactly one of the options is right. Your final answer is its letter alone.",
      format,
    ),
  parse(text, question) {
    const place = readLetter(text, question);
    if (typeof place === "string") return { kind: "malformed", reason: place };
    return { kind: "answer", answer: { place, text: letterOf(place) } };
  },
  solver: solver((_, place) => letterOf(place)),
});
