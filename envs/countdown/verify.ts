/** What holds of an answer: facts only, exact. */
import type { Facts } from "../environment.ts";
import { type CountdownAnswer, evaluate, operands } from "./expression.ts";
import type { CountdownInstance } from "./instance.ts";
import { equalsInteger, showRational } from "./rational.ts";

const TIMES = ["never", "once", "twice", "three times", "four times", "five times", "six times"];

/**
 * Feasible exactly if each number is used exactly once, nothing is divided by zero, the value is the target, and an
 * equation claims no other value. Else the first of these that fails, in words. `info.value` is the exact value.
 */
export function verify(instance: CountdownInstance, answer: CountdownAnswer): Facts {
  const value = evaluate(answer.expression);
  const info = value && { value: showRational(value) };
  const violation = wrongNumbers(instance.numbers, operands(answer.expression)) ?? wrongValue();
  if (violation !== undefined) return { kind: "infeasible", violation, ...(info && { info }) };
  return { kind: "feasible", ...(info && { info }) };

  function wrongValue(): string | undefined {
    if (value === undefined) return "divides by zero";
    if (!equalsInteger(value, instance.target)) return `evaluates to ${showRational(value)}, not ${instance.target}`;
    const { claimed } = answer;
    if (claimed !== undefined && claimed !== instance.target) {
      return `claims to be ${claimed}, but evaluates to ${instance.target}`;
    }
    return undefined;
  }
}

/** Whether both hold the same numbers, each as often. Answers that get so far are nearly always right in this. */
function sameNumbers(given: readonly number[], used: readonly number[]): boolean {
  if (given.length !== used.length) return false;
  for (const number of used) if (occurrences(used, number) !== occurrences(given, number)) return false;
  return true;
}

/** The first number used too often or not given, in the order written; else the first used too rarely. */
function wrongNumbers(given: readonly number[], used: readonly number[]): string | undefined {
  if (sameNumbers(given, used)) return undefined;
  for (const number of used) {
    const [uses, gifts] = [occurrences(used, number), occurrences(given, number)];
    if (gifts === 0) return `uses ${number}, which is not given`;
    if (uses > gifts) return `uses ${number} ${times(uses)} but it is given ${times(gifts)}`;
  }
  for (const number of given) {
    const [uses, gifts] = [occurrences(used, number), occurrences(given, number)];
    if (uses === 0) return `does not use ${number}`;
    if (uses < gifts) return `uses ${number} ${times(uses)} but it is given ${times(gifts)}`;
  }
  return undefined;
}

function occurrences(numbers: readonly number[], wanted: number): number {
  let count = 0;
  for (const number of numbers) if (number === wanted) count++;
  return count;
}

function times(count: number): string {
  return TIMES[count] ?? "more than six times";
}
