/** Parses a sequence of digits and compares it with the result of the rule. */
import type { Facts, Parsed } from "../facts.ts";
import { parseIntList } from "../lib/parse-lists.ts";
import type { SequenceInstance } from "./generate.ts";
import type { Digits } from "./rules.ts";

/** Matches digits alone, with or without spaces between them. Each digit is a symbol, so no commas are needed. */
const PLAIN = /^[0-9](?: ?[0-9])*$/;
/** Maximum length of such a text. No task has a longer answer. */
const PLAIN_MAX = 1000;

/** Parses a list of numbers or plain digits: [2, 0, 1], 2 0 1 or 201. */
export function parse(text: string): Parsed<Digits> {
  const trimmed = text.trim();
  if (trimmed.length <= PLAIN_MAX && PLAIN.test(trimmed))
    return { kind: "answer", answer: Array.from(trimmed.replaceAll(" ", ""), Number) };
  return parseIntList(text);
}

/**
 * Verifies an answer. Reports the first fault: a wrong length, a digit outside the symbols, or the first wrong digit.
 */
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
