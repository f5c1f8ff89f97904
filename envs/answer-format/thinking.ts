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

/** Reads the thinking marks, in time linear in the text's length: both begin with a unit that is rare in most texts. */
export function locateThinking(text: string): Thinking {
  let start = 0;
  let end = text.length;
  let opened = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    if (text.startsWith(CLOSE, at)) {
      start = at + CLOSE.length;
      end = text.length;
    } else if (text.startsWith(OPEN, at)) {
      opened++;
      if (end === text.length) end = at;
    }
  }
  return { start, end, closed: start > 0, open: end < text.length, opened };
}
