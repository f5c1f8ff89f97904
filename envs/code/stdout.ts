/**
 * When what a program printed is what a test expects: line by line, white space at the ends of lines and empty lines at the
 * end left out. A line of numbers alone is compared number by number, however far they stand apart: ints exactly, and
 * where the test has a point or an exponent, within a millionth.
 */
import { near, type Tolerance } from "./compare.ts";
import { clip, quoted } from "./value.ts";

const TOLERANCE: Tolerance = { relative: 1e-6, absolute: 1e-6 };

export function samePrinted(expected: string, got: string): boolean {
  return firstDifference(expected, got) === undefined;
}

/** The first line that differs, from 0; undefined: none does. */
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

const INT = /^[+-]?\d{1,400}$/;
const PADDED = /^[+-]?0\d/;
const DECIMAL = /^[+-]?(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/;

function sameLine(expected: string, got: string): boolean {
  if (expected === got) return true;
  const [wanted, have] = [expected.trim().split(/\s+/), got.trim().split(/\s+/)];
  return wanted.length === have.length && wanted.every((one, i) => sameNumber(one, have[i] as string));
}

function sameNumber(expected: string, got: string): boolean {
  // Zeros in front are asked for, or not.
  if (PADDED.test(expected) || PADDED.test(got)) return expected === got;
  if (INT.test(expected)) return INT.test(got) && BigInt(unsigned(expected)) === BigInt(unsigned(got));
  return DECIMAL.test(expected) && DECIMAL.test(got) && near(Number(expected), Number(got), toleranceOf(expected));
}

/** A millionth, but no more than one of the last digit that is expected: 1000001.49 is not 1000000.50. */
function toleranceOf(expected: string): Tolerance {
  const digits = /^[+-]?\d*\.(\d+)$/.exec(expected)?.[1]?.length;
  if (digits === undefined) return TOLERANCE;
  const relative = Math.min(TOLERANCE.relative, 10 ** -digits / Math.max(1, Math.abs(Number(expected))));
  return { relative, absolute: TOLERANCE.absolute };
}

function unsigned(text: string): string {
  return text.startsWith("+") ? text.slice(1) : text;
}

/** Where two outputs differ, in words: the whole of them where they are short. */
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
