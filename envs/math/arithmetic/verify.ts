/** Parses and grades the answer to an arithmetic task. */
import { type Facts, malformed, type Parsed } from "../../facts.ts";
import { gradeValues, mayName, namedValue, numeralOf } from "../numeral.ts";
import type { Node } from "../syntax.ts";
import { readMath } from "../value.ts";
import { type Expression, textOf } from "./expression.ts";
import type { ArithmeticInstance } from "./generate.ts";
import { valueOf } from "./solve.ts";

export interface ArithmeticAnswer {
  /** Exactly one value, in lowest terms. */
  readonly values: readonly [string];
}

const LENGTH_MAX = 2000;

/** Reads a value alone, with a name, or after an equals sign. Before the sign the given expression may be repeated. */
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

/** Parses the given expression like an answer. Undefined if it holds words, such as "15% of". */
function readExpression(expression: Expression): Node | undefined {
  const read = readMath(textOf(expression));
  return read.kind === "answer" ? read.answer.readings[0]?.node : undefined;
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

/** Removes a repetition of the given expression before the equals sign, however it is spaced. */
function withoutExpression(text: string, expression: Expression): string {
  const characters = [...textOf(expression).replace(/\s/g, "")];
  const spaced = characters.map((character) => character.replace(SPECIAL, "\\$&")).join("\\s{0,3}");
  return text.replace(new RegExp(`^([\\s$]{0,8})${spaced}\\s{0,3}=`), "$1");
}
