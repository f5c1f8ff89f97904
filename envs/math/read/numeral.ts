/**
 * Reads numbers as they are written: with separators, a decimal comma, repeating digits, an exponent, or letters as
 * digits.
 */
import { type Rational, reduced } from "../numbers/rational.ts";
import type { Style } from "./tokens.ts";

// Functions that read decimal numbers.

export interface ReadNumber {
  readonly value: Rational;
  /** Number of digits after the point. Unset if there is no point, if the digits repeat, or if an exponent follows. */
  readonly decimals?: number;
  readonly digits?: string;
  /** Set if the decimal continues with digits that are not written, as in 0.123…. */
  readonly goesOn?: true;
  readonly end: number;
}

export const TOO_LONG = "it has a number with more digits than the limit";

/** Maximum number of digits before the point. */
const DIGITS_MAX = 4_000;
/** Maximum number of digits after the point. */
const DECIMALS_MAX = 400;
const EXPONENT_MAX = 400;

/** Matches the separators that LaTeX and typesetters put between groups of three digits. */
const THIN = "~|\\{,\\}|,\\\\!\\s?|\\\\,|\\\\ |\\\\;|\\\\!|[\\u00a0\\u2009\\u202f']| ";
/** Matches digits in groups of three. The first group does not begin with 0, because "0{,}123" is a decimal. */
const GROUPED = new RegExp(`[1-9]\\d{0,2}(?:(?:${THIN})\\d{3})+(?![\\d/])(\\.\\d+)?`, "y");
const THOUSANDS = /\d{1,3}(?:,\d{3})+(?!\d)(\.\d+)?/y;
/** Matches 1.234.567, in which the points can only separate thousands. 1.234 may be a decimal, so it does not match. */
const POINTED = /[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])/y;
const BRACED_COMMA = /(\d+)\{,\}(\d+)/y;
const DECIMAL_COMMA = /(\d+),(\d+)/y;
const REPEATING =
  /(\d*)(?:\.|(?:,|\{,\})(?=\d*\\))(\d*)(?:\\(?:overline|bar|dot)\s*(?:\{\s*(\d+)\s*\}|(\d)(?!\d))|\((\d+)\))(?:\.\.\.|…|\\[lc]?dots)?/y;
/** Matches 0.\dot{1}4285\dot{7}, where the digits between the dots repeat. */
const DOTTED = /(\d*)\.(\d*)\\dot\s?(?:\{(\d)\}|(\d))(\d*)\\dot\s?(?:\{(\d)\}|(\d)(?!\d))/y;
/** Matches a decimal that continues without end, e.g. 0.333…, with its digits before and after the point. */
const GOING_ON = /(\d*)\.(\d+)(?:\.\.\.|…|\\[lc]?dots)/y;
const DOTS = /\s{0,2}(?:\.\.\.|…|\\[lc]?dots(?![A-Za-z]))/y;
const PLAIN = /(\d*)(?:\.(\d+))?/y;
const EXPONENT = /[eE]([+-]?)(\d+)(?![\d.])/y;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Returns whether a number starts with a point at the cursor: .5 or .\overline{27}. */
export function startsWithPoint(text: string, at: number): boolean {
  return (
    text[at] === "." &&
    (/\d/.test(text.charAt(at + 1)) || (text[at + 1] === "\\" && match(REPEATING, text, at) !== null))
  );
}

/** Reads the number at the cursor. Returns undefined if it has too many digits. */
export function readNumber(text: string, at: number, style: Style): ReadNumber | undefined {
  const repeating = repeatingNumber(text, at);
  if (repeating !== undefined) return repeating;
  const grouped = match(GROUPED, text, at) ?? (style.comma === "thousands" ? match(THOUSANDS, text, at) : null);
  if (grouped !== null) {
    const [whole, after = ""] = grouped;
    const digits = whole.slice(0, whole.length - after.length).replace(/\D/g, "");
    return decimal(digits, after.slice(1), at + whole.length);
  }
  const pointed = match(POINTED, text, at);
  if (pointed !== null) return decimal(pointed[0].replaceAll(".", ""), "", at + pointed[0].length);
  const comma = match(BRACED_COMMA, text, at) ?? (style.comma === "decimal" ? match(DECIMAL_COMMA, text, at) : null);
  if (comma !== null) return decimal(comma[1] as string, comma[2] as string, at + comma[0].length);
  const plain = match(PLAIN, text, at) as RegExpExecArray;
  const read = decimal(plain[1] as string, plain[2] ?? "", at + plain[0].length);
  const dots = read?.decimals === undefined ? null : match(DOTS, text, read.end);
  if (read !== undefined && dots !== null) return { ...read, goesOn: true, end: read.end + dots[0].length };
  return read === undefined ? undefined : withExponent(read, text, style);
}

function decimal(whole: string, after: string, end: number): ReadNumber | undefined {
  if (whole.length > DIGITS_MAX || after.length > DECIMALS_MAX) return undefined;
  const value = scaled(BigInt(`${whole}${after}` || "0"), -after.length);
  return after === "" ? { value, digits: whole, end } : { value, decimals: after.length, end };
}

/** Returns digits · 10^exponent in lowest terms. */
function scaled(digits: bigint, exponent: number): Rational {
  if (exponent >= 0) return { num: digits * 10n ** BigInt(exponent), den: 1n };
  if (digits === 0n) return { num: 0n, den: 1n };
  return reduced(digits, 10n ** BigInt(-exponent));
}

function withExponent(read: ReadNumber, text: string, style: Style): ReadNumber {
  const found = match(EXPONENT, text, read.end);
  if (found === null || (found[0].startsWith("e") && found[1] !== "" && !style.exponent)) return read;
  const size = Number(found[2]);
  if (size > EXPONENT_MAX) return read;
  const { num, den } = read.value;
  const power = 10n ** BigInt(size);
  const raised = found[1] === "-" ? reduced(num, den * power) : reduced(num * power, den);
  return { value: raised, end: read.end + found[0].length };
}

/** Reads a repeating decimal such as 0.1\overline{6}, 0.1(6) or "0.166…". Returns undefined for other numbers. */
function repeatingNumber(text: string, at: number): ReadNumber | undefined {
  const dotted = match(DOTTED, text, at);
  const found = dotted ?? match(REPEATING, text, at);
  const parts = found ?? match(GOING_ON, text, at);
  if (parts === null) return undefined;
  const [, whole = "", after = "", ...marked] = parts;
  const repeated = dotted === null ? marked.find((each) => each !== undefined) : marked.join("");
  const [fixed, cycle] = found === null ? goingOn(after) : [after, repeated ?? ""];
  if (cycle === "") return undefined;
  if (whole.length + fixed.length + cycle.length > DIGITS_MAX / 10) return undefined;
  const all = BigInt(`${whole}${fixed}${cycle}`);
  const some = BigInt(`${whole}${fixed}` || "0");
  const value = reduced(all - some, (10n ** BigInt(cycle.length) - 1n) * 10n ** BigInt(fixed.length));
  const end = at + parts[0].length;
  return found === null ? { value, goesOn: true, end } : { value, end };
}

/** First decimals of e = 2.718281828…. In them 1828 occurs twice, although e is not a repeating decimal. */
const EULER = "718281828";

/**
 * Splits the digits of an endless decimal into fixed and repeating ones. Repeating are all of 0.333…, the last digit of
 * 0.1666…, the last two of 0.2727…, and none of 0.123….
 */
function goingOn(digits: string): readonly [fixed: string, cycle: string] {
  for (let size = 1; 2 * size <= digits.length && digits !== EULER; size++) {
    const cycle = digits.slice(-size);
    if (!digits.endsWith(cycle, digits.length - size)) continue;
    let start = digits.length - 2 * size;
    while (start > 0 && digits[start - 1] === digits[start - 1 + size]) start--;
    return [digits.slice(0, start), digits.slice(start, start + size)];
  }
  return [digits, ""];
}

// Functions that read numbers with letters as digits: 2A_{16}, (FF)_{16}, \text{2A}_{16} and 0x2A.

export interface BasedNumber {
  readonly value: Rational;
  readonly digits: string;
  readonly base: number;
  readonly end: number;
}

/** Matches 2 to 64 digits in any base up to 36. Longer numbers are not read. */
const DIGITS = "([0-9A-Za-z]{2,64})";
const WRITTEN = `(?:${DIGITS}|\\(\\s?${DIGITS}\\s?\\)|\\\\(?:text|textrm|textup|texttt|mathrm|mathtt|operatorname)\\s?\\{\\s?${DIGITS}\\s?\\})`;
const BASED = new RegExp(`${WRITTEN}\\s?_\\s?(?:([123]\\d)(?!\\d)|\\{\\s?\\(?\\s?([123]\\d)\\s?\\)?\\s?\\})`, "y");
const PREFIXED = /0[xX]([0-9A-Fa-f]{1,64})(?![0-9A-Za-z])/y;
/** Matches digits whose letters all have the same case, so that a mixed "2Ab" stays a product. */
const ONE_CASE = /^[0-9]*(?:[A-Z][0-9A-Z]*|[a-z][0-9a-z]*)$/;

/**
 * Returns whether a text may hold a number with letters as digits. "likely": it has capitals or the prefix 0x. "maybe":
 * its letters are lowercase and may be variables.
 */
export function mayHoldBases(text: string): "no" | "maybe" | "likely" {
  if (/0[xX][0-9A-Fa-f]/.test(text)) return "likely";
  if (!/_\s?\{?\s?\(?[123]\d/.test(text)) return "no";
  return /[A-Z]/.test(text) ? "likely" : "maybe";
}

/** Reads the number with a base at the cursor. Returns undefined if there is none. */
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

/** Returns the value of digits in a base. Returns undefined if the base does not have one of the digits. */
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
