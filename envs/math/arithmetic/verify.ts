/** Reads the value that an answer gives, and compares it with that of the expression. */
import type { Facts, Parsed } from "../../facts.ts";
import { gradeValues, isNumeral, plain } from "../numeral.ts";
import { readMath } from "../value.ts";
import { textOf } from "./expression.ts";
import type { ArithmeticInstance } from "./generate.ts";
import { valueOf } from "./solve.ts";

export interface ArithmeticAnswer {
  /** One, as it was written. */
  readonly values: readonly [string];
}

const LENGTH_MAX = 2000;

/** A value alone, or after an equals sign, before which the expression may stand as it was given. */
export function parse(text: string, { expression }: ArithmeticInstance): Parsed<ArithmeticAnswer> {
  if (text.length > LENGTH_MAX) return malformed(`it has ${text.length} characters, and the limit is ${LENGTH_MAX}`);
  const at = text.lastIndexOf("=");
  const before = text.slice(0, Math.max(0, at));
  const value = plain(text.slice(at + 1));
  if (value === "") return malformed("it holds no value");
  if (plain(before) !== "" && plain(before) !== plain(textOf(expression)))
    return malformed("what stands before its '=' is not the expression");
  if (!isNumeral(value)) return malformed("it is not one whole number, fraction or decimal");
  const read = readMath(value);
  return read.kind === "malformed" ? read : { kind: "answer", answer: { values: [value] } };
}

export function verify({ expression }: ArithmeticInstance, { values }: ArithmeticAnswer): Facts {
  return gradeValues([valueOf(expression)], values, (value) => `the value is not ${value}`);
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason };
}
