/** Math problems with a gold answer, judged by equivalence (Omni-Thinker 4.1). README.md opens with an example. */
import { cutInstructions } from "../answers/instructions.ts";
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { Grading } from "../environment.ts";
import type { Facts } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { type MathInstance, rows } from "./instance.ts";
import { compareMath, type MathAnswer, readMath, showMath } from "./value.ts";

/** The same for the generators beside it (envs/math): answers are judged in one way. */
export const grading: Grading = {
  primary: "correctness",
  components: [
    { name: "correctness", description: "1 for an answer equal to the expected one, 0 for another.", weight: 1 },
  ],
};

/** The facts of an answer to a problem against the text of the expected one. The expected one is not shown. */
function gradeMath({ problem, answer: gold }: MathInstance, answer: MathAnswer): Facts {
  const expected = readMath(gold);
  if (expected.kind === "malformed") throw new Error("bug: a gold answer that was read once cannot be read again");
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
    // Nobody is paid for what we cannot tell; that it is so is said apart, and counted in reports.
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
  // What a row says of its source is no part of its task.
  canonical: ({ problem, answer }) => JSON.stringify([problem, answer]),
  metadata: ({ facts }) => facts,
  reference: ({ answer }) => answer,
  render,
  // What surrounds an answer is taken away here, box by box.
  verbatim: true,
  parse: readMath,
  verify: gradeMath,
});
