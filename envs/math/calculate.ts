/** Calculates exact values of arithmetic expressions, with the parser and the numbers of the environment `math`. */
import type { Parsed } from "../facts.ts";
import { evaluate } from "./evaluate.ts";
import { STEPS_MAX } from "./numbers/budget.ts";
import type { Rational } from "./numbers/rational.ts";
import { readMath, showMath } from "./value.ts";

export interface Calculated {
  /** One line that shows how the parser understood the expression. */
  readonly read: string;
  /**
   * Exact value. Undefined: the expression has no rational value, e.g. because it divides by zero or has letters, or
   * the value is too large.
   */
  readonly value: Rational | undefined;
}

/** Calculates an expression. Never throws, and takes a bounded number of steps. */
export function calculate(text: string): Parsed<Calculated> {
  const parsed = readMath(text);
  if (parsed.kind === "malformed") return parsed;
  const [first] = parsed.answer.readings;
  const scope = { variables: new Map(), real: true, logarithm: "10", sign: 1, bits: 160 } as const;
  const found = first && evaluate(first.node, { ...scope, budget: { left: STEPS_MAX } });
  const value = found?.kind === "exact" ? found.value : undefined;
  return { kind: "answer", answer: { read: showMath(parsed.answer), value } };
}
