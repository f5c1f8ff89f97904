/** The tool `calculator`: exact arithmetic, with the parser of the environment `math`. Nothing runs as code. */
import { type Rational, showRational } from "../math/numbers/rational.ts";
import { calculate } from "../math/calculate.ts";
import type { TryTool } from "../turns/tries.ts";

/** Maximum length of an expression, in UTF-16 units. */
const LENGTH_MAX = 500;
/** Maximum length of a result written as a whole number or a fraction, in characters. */
const DIGITS_MAX = 100;
/** Number of digits after the point to which a fraction is also shown as a decimal. */
const PLACES = 12;

export const calculator = {
  name: "calculator",
  description:
    "Calculates an arithmetic expression exactly: numbers, + - * / ^ and parentheses. Returns a whole number or a fraction.",
  parameters: {
    type: "object",
    properties: { expression: { type: "string", description: "For example (3 + 1/4) * 2^5." } },
    required: ["expression"],
  },
  reply({ expression }: Readonly<Record<string, unknown>>): string {
    if (typeof expression !== "string") return "The argument 'expression' must be a text.";
    if (expression.length > LENGTH_MAX) return `The expression is longer than ${LENGTH_MAX} characters, the limit.`;
    const found = calculate(expression);
    if (found.kind === "malformed") return `The expression cannot be read: ${found.reason}.`;
    const { read, value } = found.answer;
    if (value === undefined) return `${read} has no exact value, or one that is too large.`;
    const shown = showRational(value);
    if (shown.length > DIGITS_MAX) return `${read} has a value of more than ${DIGITS_MAX} digits.`;
    return `${read} = ${shown}${decimalOf(value)}`;
  },
} as const satisfies TryTool;

/**
 * Returns the text that shows a fraction as a decimal, e.g. " = 23.5" or " ≈ 0.333333333333". Empty for a whole number.
 */
function decimalOf({ num, den }: Rational): string {
  if (den === 1n) return "";
  const size = num < 0n ? -num : num;
  const scaled = size * 10n ** BigInt(PLACES);
  const digits = `${scaled / den}`.padStart(PLACES + 1, "0");
  const places = digits.slice(-PLACES).replace(/0+$/, "");
  const text = `${num < 0n ? "-" : ""}${digits.slice(0, -PLACES)}${places === "" ? "" : `.${places}`}`;
  return ` ${scaled % den === 0n ? "=" : "≈"} ${text}`;
}
