/** Finds the part of a completion that is not thinking: only there do answers count, whatever the answer format. */

const OPEN = "<think>";
const CLOSE = "</think>";

/** Where the thinking marks of a completion are. Offsets are UTF-16 units. */
export interface Thinking {
  /** Answers count from here, just past the last "</think>"; 0 if there is none. */
  readonly start: number;
  /** Answers count up to here: a "<think>" that nothing closes, or the end of the text. */
  readonly end: number;
  /** Whether there is a "</think>". */
  readonly closed: boolean;
  /** Whether a "<think>" is open at the end. */
  readonly open: boolean;
  /** How many "<think>" there are. */
  readonly opened: number;
}

/** Reads the thinking marks, in time linear in the text's length. */
export function locateThinking(text: string): Thinking {
  const close = lastOf(text, CLOSE);
  const start = close < 0 ? 0 : close + CLOSE.length;
  let opened = 0;
  let end = text.length;
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, at + OPEN.length)) {
    opened++;
    if (at >= start && end === text.length) end = at;
  }
  return { start, end, closed: close >= 0, open: end < text.length, opened };
}

/** Searches forwards: String.lastIndexOf compares unit by unit, while indexOf skips quickly to a rare first unit. */
function lastOf(text: string, mark: string): number {
  let last = -1;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) last = at;
  return last;
}
