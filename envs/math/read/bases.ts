/** Numbers whose digits are letters, too: 2A_{16}, (FF)_{16}, \text{2A}_{16}, 0x2A. */
import type { Rational } from "../numbers/rational.ts";

export interface BasedNumber {
  readonly value: Rational;
  readonly digits: string;
  readonly base: number;
  readonly end: number;
}

/** More digits than this are no answer. */
const DIGITS = "([0-9A-Za-z]{2,64})";
const WRITTEN = `(?:${DIGITS}|\\(\\s?${DIGITS}\\s?\\)|\\\\(?:text|textrm|textup|texttt|mathrm|mathtt|operatorname)\\s?\\{\\s?${DIGITS}\\s?\\})`;
const BASED = new RegExp(`${WRITTEN}\\s?_\\s?(?:([123]\\d)(?!\\d)|\\{\\s?\\(?\\s?([123]\\d)\\s?\\)?\\s?\\})`, "y");
const PREFIXED = /0[xX]([0-9A-Fa-f]{1,64})(?![0-9A-Za-z])/y;
/** Letters of one case: capitals are digits, small ones may be a variable, as in 2a_{16}. */
const ONE_CASE = /^[0-9]*(?:[A-Z][0-9A-Z]*|[a-z][0-9a-z]*)$/;

/** Whether a text may hold a number of such digits; "likely": they are capitals. */
export function mayHoldBases(text: string): "no" | "maybe" | "likely" {
  if (/0[xX][0-9A-Fa-f]/.test(text)) return "likely";
  if (!/_\s?\{?\s?\(?[123]\d/.test(text)) return "no";
  return /[A-Z]/.test(text) ? "likely" : "maybe";
}

/** The number that starts there; undefined: none does. */
export function basedNumber(text: string, at: number): BasedNumber | undefined {
  PREFIXED.lastIndex = at;
  const prefixed = PREFIXED.exec(text);
  if (prefixed !== null) return inBase(prefixed[1] as string, 16, at + prefixed[0].length);
  BASED.lastIndex = at;
  const found = BASED.exec(text);
  if (found === null) return undefined;
  const digits = found[1] ?? found[2] ?? found[3] ?? "";
  const base = Number(found[4] ?? found[5]);
  return base > 10 && base <= 36 && ONE_CASE.test(digits) ? inBase(digits, base, at + found[0].length) : undefined;
}

/** Undefined: one of them is no digit of this base. */
export function valueInBase(digits: string, base: bigint): bigint | undefined {
  let value = 0n;
  for (const character of digits) {
    const digit = BigInt(Number.parseInt(character, 36));
    if (digit >= base) return undefined;
    value = value * base + digit;
  }
  return value;
}

function inBase(digits: string, base: number, end: number): BasedNumber | undefined {
  const value = valueInBase(digits, BigInt(base));
  return value === undefined ? undefined : { value: { num: value, den: 1n }, digits, base, end };
}
