/**
 * Defines the countdown environment: reach a target from given numbers with + − × ÷ (Curriculum RLOO 3.1, ADSC).
 * README.md begins with an example.
 */
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { type CountdownAnswer, formatAnswer as format } from "./expression.ts";
import { generator, rows } from "./generate.ts";
import { canonical, type CountdownInstance, inline } from "./instance.ts";
import { solve } from "./solve.ts";
import { teacher } from "./teacher.ts";
import { parse, verify } from "./verify.ts";
import { calculator } from "../tools/calculator.ts";
import { python } from "../tools/python.ts";
import { splitWords } from "../lib/words.ts";

// Functions that write the prompt of a task.

interface Example extends CountdownInstance {
  readonly answer: string;
}

const EXAMPLES: readonly [Example, Example] = [
  { numbers: [50, 3, 8, 4], target: 70, answer: "50 + (8 - 3) * 4" },
  { numbers: [6, 2, 9], target: 27, answer: "9 * 6 / 2" },
];

function render(instance: CountdownInstance, format: AnswerFormat): readonly ChatMessage[] {
  const example = exampleFor(instance);
  const content = [
    `Using the numbers ${listed(instance.numbers)}, write an arithmetic expression that equals ${instance.target}.`,
    "Use each number exactly once. You may use +, -, *, / and parentheses, and nothing else. Division is exact: fractions are allowed on the way.",
    "",
    `Example: with the numbers ${listed(example.numbers)}, an expression that equals ${example.target} is ${example.answer}`,
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

/** Returns an example other than the task itself, because the prompt would otherwise contain the answer. */
function exampleFor(instance: CountdownInstance): Example {
  const [first, second] = EXAMPLES;
  return canonical(instance) === canonical(first) ? second : first;
}

/** Returns a list in words, such as "3, 5 and 7". */
function listed(numbers: readonly number[]): string {
  return `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

export const countdown = defineEnvironment<CountdownInstance, CountdownAnswer>({
  id: "countdown",
  version: 2,
  earlier: [1],
  rewardSchemes: ["graded", "vcc"],
  description: "Write an expression that uses each given number exactly once and equals the target.",
  generator,
  rows,
  solver: { solve, format },
  inline,
  teacher,
  canonical,
  render,
  metadata: ({ numbers, target }) => ({ numbers: numbers.join(" "), target: `${target}` }),
  answerNames: splitWords(`
    expression equation expresión ecuación équation ausdruck gleichung выражение уравнение expressão equação 表达式 算式 等式
    表達式 方程 式 수식 식
  `),
  parse,
  verify,
  tries: { tools: [calculator, python] },
});
