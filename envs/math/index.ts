/**
 * Registers the environment `math`: problems with an expected answer, graded by equivalence (Omni-Thinker 4.1).
 * README.md opens with an example.
 */
import { cutInstructions } from "../answers/instructions.ts";
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { Grading } from "../environment.ts";
import type { Facts } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { calculator } from "../tools/calculator.ts";
import { python } from "../tools/python.ts";
import type { Tries } from "../turns/tries.ts";
import { type MathInstance, rows } from "./instance.ts";
import { compareMath, type MathAnswer, readMath, showMath } from "./value.ts";

/**
 * Reward components of all math environments; math/arithmetic and math/linear, which generate their tasks, use them
 * too.
 */
export const grading: Grading = {
  primary: "correctness",
  components: [
    { name: "correctness", description: "1 for an answer equal to the expected one, 0 for another.", weight: 1 },
  ],
};

/**
 * Lets a task of any math environment take several answers. Two is the maximum, because every reply rules out a value,
 * and more answers would make guessing pay.
 */
export const tries = { tools: [calculator, python], answersMax: 2 } as const satisfies Tries;

/** Grades an answer against the expected one. The returned facts never show the expected answer. */
function gradeMath({ problem, answer: gold }: MathInstance, answer: MathAnswer): Facts {
  const expected = readMath(gold);
  if (expected.kind === "malformed")
    throw new Error("bug: the expected answer of a task cannot be read, although its row was accepted");
  const compared = compareMath(expected.answer, answer, undefined, problem);
  const info = { read_as: showMath(answer) };
  const solved = compared.kind === "equal";
  const components = [{ name: "correctness", value: Number(solved) }];
  switch (compared.kind) {
    case "equal":
      return { kind: "graded", components, solved, info };
    case "different":
      return {
        kind: "graded",
        components,
        solved,
        violation: `${info.read_as} is not equal to the expected answer`,
        info,
      };
    // An answer that cannot be compared gets 0. The info field records why, and reports count such answers.
    case "undecided":
    case "unread": {
      const violation = `it cannot be told whether ${info.read_as} is the expected answer: ${compared.reason}`;
      return { kind: "graded", components, solved, violation, info: { ...info, [compared.kind]: compared.reason } };
    }
    default:
      return assertNever(compared);
  }
}

function render({ problem }: MathInstance, format: AnswerFormat): readonly ChatMessage[] {
  return [{ role: "user", content: `${cutInstructions(problem, "math").text}\n\n${formatInstruction(format)}` }];
}

export const math = defineEnvironment<MathInstance, MathAnswer>({
  id: "math",
  version: 2,
  earlier: [1],
  description: "Solve a math problem whose answer is an expression.",
  grading,
  rows,
  // The hash of a task leaves out the row's metadata, such as the source of the problem.
  canonical: ({ problem, answer }) => JSON.stringify([problem, answer]),
  metadata: ({ facts }) => facts,
  reference: ({ answer }) => answer,
  render,
  // readMath strips \boxed and similar wrapping by its own rules, so it must get the answer unchanged.
  verbatim: true,
  parse: readMath,
  verify: gradeMath,
  tries: {
    ...tries,
    wrong: ({ info = {} }) =>
      info["undecided"] === undefined && info["unread"] === undefined
        ? "The answer is wrong."
        : "It cannot be told whether the answer is right: write it in another form.",
  },
});
