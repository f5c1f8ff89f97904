/**
 * Registers `math/arithmetic`: computing an exact value, with an adjustable amount of work. README.md opens with an
 * example.
 */
import { formatInstruction } from "../../answers/wording.ts";
import { defineEnvironment } from "../../define.ts";
import type { Solution } from "../../environment.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import { grading, tries } from "../index.ts";
import { numeralOf } from "../numeral.ts";
import { type Expression, invariantOf, partsOf, textOf } from "./expression.ts";
import { type ArithmeticInstance, generator } from "./generate.ts";
import { valueOf, workOut } from "./solve.ts";
import { type ArithmeticAnswer, parse, verify } from "./verify.ts";

// Functions that write the prompt of a task.

/** Explanations of operations. The prompt includes one only if its operation occurs in the expression. */
const EXPLAINED: readonly (readonly [kind: Expression["kind"], words: string])[] = [
  ["remainder", "(a mod m) is the remainder of a divided by m: the one from 0 to m - 1, also where a is negative."],
  ["gcd", "gcd is the greatest common divisor, which is positive."],
  ["lcm", "lcm is the least common multiple, which is positive."],
  ["percentage", "(p% of a) is a times p/100."],
];

function render({ expression }: ArithmeticInstance, format: AnswerFormat): readonly ChatMessage[] {
  const kinds = kindsOf(expression);
  const content = [
    "Work out the exact value of this expression:",
    "",
    textOf(expression),
    "",
    "Powers (^) come first, then * and / from left to right, then + and - from left to right.",
    ...EXPLAINED.filter(([kind]) => kinds.has(kind)).map(([, words]) => words),
    "Write the value as a whole number or as a fraction in lowest terms, as in -22/7. A decimal is right only if it is exact.",
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

function kindsOf(expression: Expression): ReadonlySet<Expression["kind"]> {
  return new Set([expression.kind, ...partsOf(expression).flatMap((part) => [...kindsOf(part)])]);
}

function countOf(expression: Expression): number {
  const own = ["integer", "fraction", "decimal"].includes(expression.kind) ? 0 : 1;
  return partsOf(expression).reduce((sum, part) => sum + countOf(part), own);
}

function solve({ expression }: ArithmeticInstance): Solution<ArithmeticAnswer> {
  return { answer: { values: [numeralOf(valueOf(expression))] }, value: 1, bound: 1, proven: true, nodes: 0 };
}

export const arithmetic = defineEnvironment<ArithmeticInstance, ArithmeticAnswer>({
  id: "math/arithmetic",
  version: 3,
  earlier: [2],
  description: "Work out the exact value of an arithmetic expression.",
  grading,
  generator,
  solver: { solve, format: ({ values }) => values.join(", ") },
  canonical: ({ expression }) => textOf(expression),
  invariant: ({ expression }) => invariantOf(expression),
  render,
  metadata: ({ expression }) => ({
    operations: `${countOf(expression)}`,
    work: `${workOut(expression, Infinity)?.work}`,
  }),
  // The parser of math answers strips the wrapping of an answer itself, so it must get the answer unchanged.
  verbatim: true,
  parse,
  verify,
  tries,
});
