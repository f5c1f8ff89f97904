/** White space in models' texts: what separates words whatever the language setting. */

/** Moves an offset over the white space that follows it, no further than end. */
export function skipSpace(text: string, start: number, end = text.length): number {
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
