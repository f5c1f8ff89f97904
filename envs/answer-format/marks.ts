/** What every answer format's scanner gives, and what they share. */

/** The marked answers in part of a text. */
export interface Marks {
  /** Where the closed ones lie, in order, without their marks: start, end, start, end, … in UTF-16 units. */
  readonly offsets: readonly number[];
  /** Whether one is open at the end. */
  readonly open: boolean;
}

/** Finds the marked answers in text[start, end), in time linear in the text's length. */
export type Scanner = (text: string, start: number, end: number) => Marks;

/** Moves an offset over the white space that follows it, no further than end. */
export function skipSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Moves an offset back over the white space before it, no further than start. */
export function skipSpaceBack(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Space, tab, line feed, vertical tab, form feed, carriage return, no-break space. */
export function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13) || unit === 0xa0;
}
