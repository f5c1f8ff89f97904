/** Parses and grades the answer to an arithmetic task. */
import { type Facts, malformed, type Parsed } from "../../facts.ts";
import { gradeValues, mayName, namedValue, numeralOf } from "../numeral.ts";
import type { Node } from "../syntax.ts";
import { readMath } from "../value.ts";
import { type Expression, textOf } from "./expression.ts";
import type { ArithmeticInstance } from "./generate.ts";
import { valueOf } from "./solve.ts";

export interface ArithmeticAnswer {
  /** Exactly one value: a whole number or a fraction in lowest terms, e.g. "-22/7". */
  readonly values: readonly [string];
}

const LENGTH_MAX = 2000;

/**
 * Parses the text of an answer: a value alone, or a value after a name or the task's expression and "=", as in "2 + 3 =
 * 5".
 */
export function parse(text: string, { expression }: ArithmeticInstance): Parsed<ArithmeticAnswer> {
  if (text.length > LENGTH_MAX) return malformed(`it has ${text.length} characters, and the limit is ${LENGTH_MAX}`);
  const read = readMath(withoutExpression(text, expression));
  if (read.kind === "malformed") return read;
  const given = readExpression(expression);
  for (const { node } of read.answer.readings) {
    const found = namedValue(node);
    if (found !== undefined && mayName(found.name, given))
      return { kind: "answer", answer: { values: [numeralOf(found.value)] } };
  }
  return malformed("it is not one whole number, fraction or decimal");
}

export function verify({ expression }: ArithmeticInstance, { values }: ArithmeticAnswer): Facts {
  return gradeValues([valueOf(expression)], values, (value) => `the value is not ${value}`);
}

/** Parses the task's expression as if it were an answer. Returns undefined if it contains words, such as "15% of". */
function readExpression(expression: Expression): Node | undefined {
  const read = readMath(textOf(expression));
  return read.kind === "answer" ? read.answer.readings[0]?.node : undefined;
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

/**
 * Removes a copy of the task's expression and the equals sign after it from the start of an answer. Spacing may differ.
 */
function withoutExpression(text: string, expression: Expression): string {
  const characters = [...textOf(expression).replace(/\s/g, "")];
  const spaced = characters.map((character) => character.replace(SPECIAL, "\\$&")).join("\\s{0,3}");
  return text.replace(new RegExp(`^([\\s$]{0,8})${spaced}\\s{0,3}=`), "$1");
}
