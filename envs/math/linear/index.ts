/** Registers `math/linear`: linear equations and inequalities with exact solutions. README.md opens with an example. */
import { formatInstruction } from "../../answers/wording.ts";
import { defineEnvironment } from "../../define.ts";
import type { Solution } from "../../environment.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import { grading, tries } from "../index.ts";
import { numeralOf } from "../numeral.ts";
import { generator } from "./generate.ts";
import { type Solved, solveLinear } from "./solve.ts";
import { invariantOf, isInequality, type LinearInstance, textsOf } from "./statement.ts";
import { format, type LinearAnswer, parse, verify } from "./verify.ts";

// Functions that write the prompt of a task.

function render(instance: LinearInstance, format: AnswerFormat): readonly ChatMessage[] {
  const content = [
    `${question(instance)}:`,
    "",
    ...textsOf(instance),
    "",
    wanted(instance),
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

function question(instance: LinearInstance): string {
  const [name] = instance.names;
  if (isInequality(instance)) return `Solve this inequality for ${name}`;
  if (instance.names.length === 1) return `Solve this equation for ${name}`;
  return `Solve these equations for ${instance.names.join(", ")}`;
}

function wanted(instance: LinearInstance): string {
  const [name] = instance.names;
  const value = "a whole number or a fraction in lowest terms, as in -22/7";
  if (isInequality(instance))
    return `Write the answer as ${name} < …, ${name} <= …, ${name} > … or ${name} >= …, with ${value}.`;
  const form = instance.names.map((each) => `${each} = …`).join(", ");
  return `Write the answer as ${form}, with ${value}${instance.names.length > 1 ? ", for each" : ""}. Decimals are right only if they are exact.`;
}

function solve(instance: LinearInstance): Solution<LinearAnswer> {
  const { relation, values } = solvedOf(instance);
  const answer = { names: instance.names, relation, values: values.map(numeralOf) };
  return { answer, value: 1, bound: 1, proven: true, nodes: 0 };
}

function solvedOf(instance: LinearInstance): Solved {
  const solved = solveLinear(instance);
  if (solved === undefined) throw new Error("bug: the equations of a task have no solution");
  return solved;
}

export const linear = defineEnvironment<LinearInstance, LinearAnswer>({
  id: "math/linear",
  version: 3,
  earlier: [2],
  description: "Solve linear equations, or a linear inequality.",
  grading,
  generator,
  solver: { solve, format },
  canonical: (instance) => textsOf(instance).join("; "),
  invariant: invariantOf,
  render,
  metadata: (instance) => ({
    unknowns: `${instance.names.length}`,
    relation: isInequality(instance) ? "inequality" : "equations",
    work: `${solvedOf(instance).work}`,
  }),
  // The parser of math answers strips the wrapping of an answer itself, so it must get the answer unchanged.
  verbatim: true,
  parse,
  verify,
  tries,
});
