/**
 * Questions with one right answer, from rows alone: there is no generator, no solver and no picture, and every default is
 * taken. "What is the capital of France?" is answered by "Paris", whatever its case.
 */
import { formatInstruction } from "../../../../envs/answers/wording.ts";
import { defineEnvironment } from "../../../../envs/define.ts";
import type { Facts, Parsed } from "../../../../envs/facts.ts";

interface Question {
  readonly question: string;
  readonly answer: string;
}

const ANSWER_MAX = 100;

function read(row: unknown): Parsed<Question> {
  const { question, answer } = (row ?? {}) as { readonly question?: unknown; readonly answer?: unknown };
  if (typeof question === "string" && typeof answer === "string")
    return { kind: "answer", answer: { question, answer } };
  return { kind: "malformed", reason: "a row has a question and an answer" };
}

function parse(text: string): Parsed<string> {
  const answer = text.trim();
  if (answer !== "" && answer.length <= ANSWER_MAX) return { kind: "answer", answer };
  return { kind: "malformed", reason: `an answer has 1 to ${ANSWER_MAX} characters` };
}

function verify({ answer }: Question, given: string): Facts {
  if (given.toLowerCase() === answer.toLowerCase()) return { kind: "feasible" };
  return { kind: "infeasible", violation: "that is not the answer" };
}

export const capitals = defineEnvironment<Question, string>({
  id: "qa/capitals",
  version: 1,
  description: "Name the capital of a country.",
  rows: { read, defaultPool: { name: "capitals", file: new URL("pool.jsonl", import.meta.url) } },
  render: ({ question }, format) => [{ role: "user", content: `${question}\n\n${formatInstruction(format)}` }],
  parse,
  verify,
});

export default [capitals];
