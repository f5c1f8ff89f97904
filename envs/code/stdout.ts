/**
 * Compares a program's output with the expected one, line by line. White space at the ends of lines and empty lines at
 * the end are ignored. A line of only numbers is compared number by number, whatever the spacing.
 * - Two ints must be equal.
 * - Two decimals (with a point or an exponent) may differ by a millionth.
 * - An int equals an expected decimal only exactly. A decimal never equals an expected int.
 *
 * Other lines must be equal, spaces included, except that decimals between spaces may differ by a millionth.
 */
import { near, type Tolerance } from "./compare.ts";
import { clip, quoted } from "./value.ts";

const TOLERANCE: Tolerance = { relative: 1e-6, absolute: 1e-6 };

export function samePrinted(expected: string, got: string): boolean {
  return firstDifference(expected, got) === undefined;
}

/** Returns the index of the first line that differs. Undefined if the outputs are equal. */
function firstDifference(expected: string, got: string): number | undefined {
  if (expected === got) return undefined;
  const [wanted, have] = [linesOf(expected), linesOf(got)];
  const count = Math.max(wanted.length, have.length);
  for (let i = 0; i < count; i++) {
    const [a, b] = [wanted[i], have[i]];
    if (a === undefined || b === undefined || !sameLine(a, b)) return i;
  }
  return undefined;
}

function linesOf(text: string): readonly string[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  for (let i = 0; i < lines.length; i++) lines[i] = (lines[i] as string).trimEnd();
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

function sameLine(expected: string, got: string): boolean {
  if (expected === got) return true;
  const [wanted, have] = [expected.trim().split(/\s+/), got.trim().split(/\s+/)];
  if (wanted.length !== have.length) return false;
  if (wanted.every((one, i) => sameNumber(one, have[i] as string))) return true;
  // In a line with text, only decimals may differ.
  return (
    expected.replace(/\S+/g, "") === got.replace(/\S+/g, "") &&
    wanted.every(
      (one, i) =>
        one === have[i] || (isDecimal(one) && isDecimal(have[i] as string) && sameNumber(one, have[i] as string)),
    )
  );
}

function isDecimal(text: string): boolean {
  return /^[+-]?\d+\.\d+$/.test(text);
}

/** A number as written: its sign, its digits, the number of digits after the point, and the exponent. */
interface Written {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly places: number;
  readonly exponent: string | undefined;
}

const NUMBER = /^([+-]?)(?=\.?\d)(\d*)(\.\d*)?(?:[eE]([+-]?\d{1,4}))?$/;

function written(text: string): Written | undefined {
  const found = NUMBER.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = "", fraction = "", exponent] = found as readonly (string | undefined)[];
  return {
    isNegative: sign === "-",
    digits: whole + fraction.slice(1),
    places: Math.max(0, fraction.length - 1),
    exponent,
  };
}

function isInt(text: string): boolean {
  return !/[.eE]/.test(text);
}

function sameNumber(expected: string, got: string): boolean {
  const [one, other] = [written(expected), written(got)];
  if (one === undefined || other === undefined) return false;
  if (expected === got) return true;
  // Numbers with leading zeros must be equal as text, because a problem may ask for the zeros.
  if (PADDED.test(expected) || PADDED.test(got)) return false;
  if (isInt(expected)) return isInt(got) && plain(one) === plain(other);
  if (isInt(got)) return one.exponent === undefined ? plain(one) === plain(other) : Number(expected) === Number(got);
  return nearly(expected, one, got, other);
}

const PADDED = /^[+-]?0\d/;

/**
 * Returns a number's normal form as text, without needless zeros, e.g. "2" for "+2.0". Equal numbers have equal forms,
 * however many digits they have. Ignores the exponent.
 */
function plain({ isNegative, digits, places }: Written): string {
  const point = digits.length - places;
  let end = digits.length;
  while (end > point && digits[end - 1] === "0") end--;
  const fraction = digits.slice(point, end);
  const whole = digits.slice(0, point).replace(/^0+(?=.)/, "");
  const value = fraction === "" ? whole || "0" : `${whole || "0"}.${fraction}`;
  return isNegative && value !== "0" ? `-${value}` : value;
}

/**
 * Compares decimals within an absolute or relative error of a millionth. The relative error is at most one unit of the
 * expected number's last digit, because 1000001.49 is not 1000000.50. It is at least the rounding error of doubles
 * added in another order.
 */
function nearly(expected: string, one: Written, got: string, other: Written): boolean {
  const [a, b] = [Number(expected), Number(got)];
  if (!Number.isFinite(a) && one.exponent === undefined && other.exponent === undefined)
    return plain(one) === plain(other);
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  const lastDigit = one.exponent === undefined ? 10 ** -one.places / Math.max(1, Math.abs(a)) : Infinity;
  const relative = Math.max(DOUBLES, Math.min(TOLERANCE.relative, lastDigit));
  return near(a, b, { relative, absolute: TOLERANCE.absolute });
}

const DOUBLES = 1e-14;

/** Returns words that say where two outputs differ. Quotes short outputs whole. */
export function differenceWords(expected: string, got: string, charsMax: number): string {
  const wanted = linesOf(expected);
  if (wanted.length <= 1 && got.length <= charsMax)
    return `printed ${quoted(got, charsMax)}, expected ${shortened(expected, charsMax)}`;
  const at = firstDifference(expected, got) ?? 0;
  const have = linesOf(got);
  const line = have[at] === undefined ? "nothing" : shortened(have[at], charsMax);
  const want = wanted[at] === undefined ? "the end" : shortened(wanted[at], charsMax);
  return `printed ${line} on line ${at + 1}, expected ${want}`;
}

function shortened(text: string, charsMax: number): string {
  return JSON.stringify(clip(text, charsMax));
}
