/**
 * Finds completions that contain half of a surrogate pair. UTF-8 cannot hold it, and TextEncoder writes U+FFFD in its
 * place.
 */

const half = /\p{Surrogate}/u;

/**
 * Returns whether a text contains no half of a surrogate pair. The engine's own test, if there is one, takes a
 * hundredth of the time.
 */
const isWellFormed = (text: string & { isWellFormed?: () => boolean }): boolean =>
  text.isWellFormed?.() ?? !half.test(text);

/**
 * Returns the text unchanged. Warns if the server will score a changed text because of half a surrogate pair. No right
 * answer has one, so no reward changes.
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
