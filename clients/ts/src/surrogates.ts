/**
 * Finds completions with half of a surrogate pair. UTF-8 cannot hold it, and TextEncoder writes U+FFFD in its place.
 */

const half = /\p{Surrogate}/u;

/**
 * Returns whether a text has only whole surrogate pairs. The engine's own test, if there is one, takes a hundredth of
 * the time.
 */
const isWellFormed = (text: string & { isWellFormed?: () => boolean }): boolean =>
  text.isWellFormed?.() ?? !half.test(text);

/**
 * Returns the text unchanged, with a warning if the server will score a changed text. No right answer has half a pair,
 * so no reward changes.
 */
export function sendable(text: string, sample: string): string {
  if (!isWellFormed(text)) {
    const at = text.search(half);
    const code = text.charCodeAt(at).toString(16).toUpperCase();
    const what = `character ${String(at)} is half of a surrogate pair (U+${code}), which UTF-8 cannot hold`;
    console.warn(`gradus: ${sample}: ${what}: U+FFFD is scored in its place`);
  }
  return text;
}
