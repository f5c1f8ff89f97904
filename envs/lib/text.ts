/** Offsets in Unicode code points, as Python counts them; JavaScript counts UTF-16 units. */
import { closest, distance } from "fastest-levenshtein";

const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/**
 * UTF-16 offsets into a text as offsets in code points, in one pass over the text. Offsets must ascend. A surrogate
 * without its partner counts as one code point.
 */
export function codePointOffsets(text: string, offsets: readonly number[]): readonly number[] {
  // V8 answers this without reading the text when the text is Latin-1, as most completions are.
  const first = text.search(HIGH_SURROGATE);
  if (first < 0 || offsets.length === 0 || (offsets.at(-1) as number) <= first) return offsets;
  const converted: number[] = [];
  let unit = first;
  let pairs = 0;
  for (const offset of offsets) {
    for (; unit < offset; unit++) if (isPair(text, unit)) pairs++;
    converted.push(offset - pairs);
  }
  return converted;
}

/** Whether the unit at i is the first of two that make one code point. */
function isPair(text: string, i: number): boolean {
  return (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
}

const encoder = new TextEncoder();

/** The longest start of a text that takes at most so many bytes of UTF-8, in whole code points. */
export function clipUtf8(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytesMax) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytesMax)).read);
}

// White space in models' texts: what separates words whatever the language setting, and what LaTeX writes for a space.

/**
 * Units that are looked at one by one, as most runs of white space are shorter; the rest of a run is left to an
 * expression, which reads a completion of spaces ten times as fast and needs a microsecond to start.
 */
const LOOKED_AT = 32;

const SPACES = "\\s\\u0085\\u200b-\\u200d\\u2060";
const RUN = new RegExp(`[${SPACES}]*`, "y");
/** Read backwards from where it stands. */
const RUN_BACK = new RegExp(`(?<=([${SPACES}]*))`, "y");
/** With LaTeX's spaces: a backslash before one of ",;:!" or a space, "\quad" and "\qquad". */
const GAP_RUN = new RegExp(`(?:[${SPACES}]|\\\\(?:[,;:! ]|q?quad))*`, "y");
/** The same, but for the quads; of "\ " the space may be gone. */
const GAP_RUN_BACK = new RegExp(`(?<=((?:[${SPACES}]|\\\\[,;:!]?)*))`, "y");

/** Moves an offset over the white space that follows it, no further than end. */
export function skipSpace(text: string, start: number, end = text.length): number {
  const near = Math.min(end, start + LOOKED_AT);
  let at = start;
  while (at < near && isSpace(text.charCodeAt(at))) at++;
  return at < near || at === end ? at : at + runLength(RUN, text, at, end);
}

/** How many units an expression takes from an offset on. */
function runLength(run: RegExp, text: string, start: number, end: number): number {
  run.lastIndex = 0;
  // A part of a text is no copy of it.
  run.test(text.slice(start, end));
  return run.lastIndex;
}

/** Moves an offset back over the white space before it, no further than start. */
export function skipSpaceBack(text: string, start: number, end: number): number {
  const near = Math.max(start, end - LOOKED_AT);
  let at = end;
  while (at > near && isSpace(text.charCodeAt(at - 1))) at--;
  return at > near || at === start ? at : at - runLengthBack(RUN_BACK, text, start, at);
}

function runLengthBack(run: RegExp, text: string, start: number, end: number): number {
  const part = text.slice(start, end);
  run.lastIndex = part.length;
  return run.exec(part)?.[1]?.length ?? 0;
}

/**
 * Space, tab, line and page breaks of any kind, the no-break, thin and ideographic spaces, and the marks of no width:
 * zero-width space, joiners and the byte order mark. Marks that change the order of what is shown are none.
 */
export function isSpace(unit: number): boolean {
  return unit === 32 || (unit <= 13 && unit >= 9) || (unit > 0x7f && isWideSpace(unit));
}

function isWideSpace(unit: number): boolean {
  if (unit >= 0x2000 && unit <= 0x200d) return true;
  return WIDE_SPACES.includes(unit);
}

/** Next line, no-break space, Ogham space, line and paragraph separator, narrow, medium, joining, ideographic, BOM. */
const WIDE_SPACES: readonly number[] = [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff];

const BACKSLASH = 92;

/** Moves an offset over the white space and the LaTeX spaces that follow it, no further than end. */
export function skipGap(text: string, start: number, end = text.length): number {
  const at = skipSpace(text, start, end);
  return at < end && text.charCodeAt(at) === BACKSLASH ? at + runLength(GAP_RUN, text, at, end) : at;
}

/** Moves an offset back over white space, "\," and its like, and "\ ", of which the space may be gone. */
export function skipGapBack(text: string, start: number, end: number): number {
  const at = skipSpaceBack(text, start, end);
  if (at === start || !ENDS_GAP.includes(text.charAt(at - 1))) return at;
  return at - runLengthBack(GAP_RUN_BACK, text, start, at);
}

/** What a LaTeX space ends with, its white space gone. */
const ENDS_GAP = "\\,;:!";

/**
 * The ASCII character that a full-width form, such as "（" or "７", is the wide spelling of (Unicode's compatibility
 * mapping of the block that starts at U+FF01); any other unit as it is.
 */
export function narrow(unit: number): number {
  return unit >= 0xff01 && unit <= 0xff5e ? unit - 0xfee0 : unit;
}

// "; did you mean 'np/tsp'?", or nothing where no name is near. For the end of an error message.

export function didYouMean(name: string, names: readonly string[]): string {
  if (names.length === 0 || name === "") return "";
  const nearest = closest(name.slice(0, 64), [...names]);
  return distance(name.slice(0, 64), nearest) <= Math.max(2, nearest.length / 2) ? `; did you mean '${nearest}'?` : "";
}
