/** Times of the day, in the prompt and in answers. */
import type { Cursor } from "../../lib/int-list.ts";

/** Minutes since midnight as "09:30". */
export function clockTime(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, "0");
}

const COLON = 58;
const QUOTES = [34, 39];

/**
 * Reads the time at a cursor, in quotes or not, and moves that behind it. Minutes since midnight; NaN: there is none from
 * 00:00 to 23:59, and the cursor stays.
 */
export function takeTime(text: string, cursor: Cursor): number {
  const quote = text.charCodeAt(cursor.at);
  const quoted = QUOTES.includes(quote);
  const start = quoted ? cursor.at + 1 : cursor.at;
  const colon = text.charCodeAt(start + 1) === COLON ? start + 1 : start + 2;
  const hour = colon === start + 1 ? digitAt(text, start) : 10 * digitAt(text, start) + digitAt(text, start + 1);
  const minute = 10 * digitAt(text, colon + 1) + digitAt(text, colon + 2);
  if (text.charCodeAt(colon) !== COLON || !(hour <= 23 && minute <= 59)) return NaN;
  if (quoted && text.charCodeAt(colon + 3) !== quote) return NaN;
  cursor.at = colon + (quoted ? 4 : 3);
  return 60 * hour + minute;
}

/** NaN: no digit is there. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}
