/** Reads a sequence of digits, and compares it with what the rule makes of the given one. */
import type { Facts, Parsed } from "../facts.ts";
import { parseIntList } from "../lib/lists.ts";
import type { SequenceInstance } from "./generate.ts";
import type { Digits } from "./rules.ts";

/** Digits alone, with or without spaces between them: as each is a symbol, they need no commas. */
const PLAIN = /^[0-9](?: ?[0-9])*$/;
/** Longer ones are no answer to any task. */
const PLAIN_MAX = 1000;

/** A list of numbers, or the digits alone: [2, 0, 1], 2 0 1 or 201. */
export function parse(text: string): Parsed<Digits> {
  const trimmed = text.trim();
  if (trimmed.length <= PLAIN_MAX && PLAIN.test(trimmed))
    return { kind: "answer", answer: Array.from(trimmed.replaceAll(" ", ""), Number) };
  return parseIntList(text);
}

/** The first of these that is wrong: how many there are, whether each is one of the symbols, and each in turn. */
export function verify({ symbols, sequence }: SequenceInstance, right: Digits, answer: Digits): Facts {
  const violation = violationOf(symbols, right, answer);
  if (violation === undefined) return { kind: "feasible" };
  return {
    kind: "infeasible",
    violation,
    info: { right_digits: `${answer.filter((digit, i) => digit === right[i]).length} of ${sequence.length}` },
  };
}

function violationOf(symbols: number, right: Digits, answer: Digits): string | undefined {
  if (answer.length !== right.length)
    return `wrong length: it has ${answer.length} digits, and the result has ${right.length}`;
  const outside = answer.find((digit) => digit < 0 || digit >= symbols);
  if (outside !== undefined) return `${outside} is none of the digits from 0 to ${symbols - 1}`;
  const wrong = answer.findIndex((digit, i) => digit !== right[i]);
  return wrong < 0 ? undefined : `digit ${wrong + 1} of the result is not ${answer[wrong]}`;
}
