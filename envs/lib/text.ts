/**
 * Converts text offsets, skips white space and LaTeX spaces, and suggests names for misspelt ones. Offsets on the wire
 * count Unicode code points, as in Python; JavaScript counts UTF-16 units.
 */
import { closest, distance } from "fastest-levenshtein";

const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/**
 * Converts ascending UTF-16 offsets into code point offsets, in one pass over the text. A surrogate without its partner
 * counts as one code point.
 */
export function codePointOffsets(text: string, offsets: readonly number[]): readonly number[] {
  // V8 does this search without reading the text if the text is Latin-1, as most completions are.
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

/** Returns the part of a text between two offsets in code points. It reads the text from its beginning. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const first = text.search(HIGH_SURROGATE);
  if (first < 0) return text.slice(start, end);
  const unitAt = (offset: number, from: number, point: number): number => {
    let unit = from;
    for (let at = point; at < offset && unit < text.length; at++) unit += isPair(text, unit) ? 2 : 1;
    return unit;
  };
  const from = unitAt(start, Math.min(first, start), Math.min(first, start));
  return text.slice(from, unitAt(end, from, start));
}

/** Returns whether the UTF-16 units at i and i + 1 form one code point. */
function isPair(text: string, i: number): boolean {
  return (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
}

const encoder = new TextEncoder();

/** Returns the longest prefix of whole code points that takes at most `bytesMax` bytes of UTF-8. */
export function clipUtf8(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytesMax) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytesMax)).read);
}

// Functions that skip white space in models' texts: all characters that separate words in any language, and LaTeX's
// spaces.

/**
 * Number of UTF-16 units checked one by one before a regular expression takes over. Most runs of white space are
 * shorter. The expression reads long runs ten times as fast, but takes a microsecond to start.
 */
const LOOKED_AT = 32;

const SPACES = "\\s\\u0085\\u200b-\\u200d\\u2060";
const RUN = new RegExp(`[${SPACES}]*`, "y");
/** Matches the white space that ends at lastIndex. */
const RUN_BACK = new RegExp(`(?<=([${SPACES}]*))`, "y");
/** Matches white space and LaTeX's spaces: a backslash before one of ",;:!" or a space, "\quad" and "\qquad". */
const GAP_RUN = new RegExp(`(?:[${SPACES}]|\\\\(?:[,;:! ]|q?quad))*`, "y");
/**
 * Matches the white space and LaTeX spaces that end at lastIndex, except "\quad" and "\qquad". A bare backslash also
 * matches, because the space of "\ " may already be stripped.
 */
const GAP_RUN_BACK = new RegExp(`(?<=((?:[${SPACES}]|\\\\[,;:!]?)*))`, "y");

/** Returns the offset after the white space that starts at `start`, at most `end`. */
export function skipSpace(text: string, start: number, end = text.length): number {
  const near = Math.min(end, start + LOOKED_AT);
  let at = start;
  while (at < near && isSpace(text.charCodeAt(at))) at++;
  return at < near || at === end ? at : at + runLength(RUN, text, at, end);
}

/** Returns the number of UTF-16 units that a sticky expression matches from an offset on. */
function runLength(run: RegExp, text: string, start: number, end: number): number {
  run.lastIndex = 0;
  // V8 makes a slice without copying the text.
  run.test(text.slice(start, end));
  return run.lastIndex;
}

/** Returns the offset before the white space that ends at `end`, at least `start`. */
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
 * Returns whether a unit is white space. This includes line and page breaks, wide and narrow spaces, zero-width spaces
 * and joiners, and the byte order mark. Marks that change the text direction do not count.
 */
export function isSpace(unit: number): boolean {
  return unit === 32 || (unit <= 13 && unit >= 9) || (unit > 0x7f && isWideSpace(unit));
}

function isWideSpace(unit: number): boolean {
  if (unit >= 0x2000 && unit <= 0x200d) return true;
  return WIDE_SPACES.includes(unit);
}

/**
 * White space beyond ASCII: next line, no-break space, Ogham space, line and paragraph separator, narrow, medium,
 * joining and ideographic space, byte order mark.
 */
const WIDE_SPACES: readonly number[] = [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff];

const BACKSLASH = 92;

/** Returns the offset after the white space and LaTeX spaces that start at `start`, at most `end`. */
export function skipGap(text: string, start: number, end = text.length): number {
  const at = skipSpace(text, start, end);
  return at < end && text.charCodeAt(at) === BACKSLASH ? at + runLength(GAP_RUN, text, at, end) : at;
}

/**
 * Returns the offset before white space and short LaTeX spaces such as "\," that end at `end`. Also skips a bare
 * backslash, because the space of "\ " may already be stripped.
 */
export function skipGapBack(text: string, start: number, end: number): number {
  const at = skipSpaceBack(text, start, end);
  if (at === start || !ENDS_GAP.includes(text.charAt(at - 1))) return at;
  return at - runLengthBack(GAP_RUN_BACK, text, start, at);
}

/** Characters, other than white space, with which a short LaTeX space such as "\," ends. */
const ENDS_GAP = "\\,;:!";

/**
 * Maps a full-width form, such as "（" or "７", to its ASCII character, and returns any other unit unchanged. The mapping
 * is Unicode's compatibility mapping of the block from U+FF01.
 */
export function narrow(unit: number): number {
  return unit >= 0xff01 && unit <= 0xff5e ? unit - 0xfee0 : unit;
}

// Returns a suggestion for the end of an error message, such as "; did you mean 'np/tsp'?". Returns an empty string if
// no name is similar.

export function didYouMean(name: string, names: readonly string[]): string {
  if (names.length === 0 || name === "") return "";
  const nearest = closest(name.slice(0, 64), [...names]);
  return distance(name.slice(0, 64), nearest) <= Math.max(2, nearest.length / 2) ? `; did you mean '${nearest}'?` : "";
}
