/** Compares a sequence of digits with the result of the rule. */
import type { Facts } from "../facts.ts";
import type { SequenceInstance } from "./generate.ts";
import type { Digits } from "./rules.ts";

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
  if (outside !== undefined) return `${outside} is not a digit from 0 to ${symbols - 1}`;
  const wrong = answer.findIndex((digit, i) => digit !== right[i]);
  return wrong < 0 ? undefined : `digit ${wrong + 1} of the result is not ${answer[wrong]}`;
}
