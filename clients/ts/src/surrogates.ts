/** Completions with half of a surrogate pair, which UTF-8 cannot hold: TextEncoder writes U+FFFD in its place. */

const half = /\p{Surrogate}/u;

/** Asks the engine where it can tell, which takes a hundredth of the time. */
const isWellFormed = (text: string & { isWellFormed?: () => boolean }): boolean =>
  text.isWellFormed?.() ?? !half.test(text);

/** The text as it is. Warns where it is scored as another one; no right answer has such a half, so that no reward changes. */
export function sendable(text: string, sample: string): string {
  if (!isWellFormed(text)) {
    const at = text.search(half);
    const code = text.charCodeAt(at).toString(16).toUpperCase();
    const what = `character ${String(at)} is half of a surrogate pair (U+${code}), which UTF-8 cannot hold`;
    console.warn(`gradus: ${sample}: ${what}: U+FFFD is scored in its place`);
  }
  return text;
}
