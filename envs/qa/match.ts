/**
 * When a text is one of the options: exactly, after a normalisation that cannot change what a text says among the options
 * shown. Not SQuAD's, which takes away punctuation and articles (-5 is then 5, "x < 3" is "x > 3", C++ is C), and never by
 * what a text contains.
 */
import { stripAnswer } from "../answers/strip.ts";

/** No option, and no answer that is one, is longer; twice as long as the longest of SuperGPQA and MMLU-Pro. */
export const OPTION_UNITS_MAX = 4096;

/** What people put around an option, and white space; the text of an option cannot be longer by more than that. */
const GIVEN_UNITS_MAX = 2 * OPTION_UNITS_MAX;

// Before NFKC, which would make an accent on a space of "´", and two primes of "″".
const SINGLE_QUOTES = /[‘’‚‛′´`ʹʼ＇]/g;
const DOUBLE_QUOTES = /[“”„‟″«»＂]/g;
// After NFKC, which has made these of their superscript, small and full-width forms.
const DASHES = /[\u2010-\u2015\u2212]/g;
const WHITE_SPACE = /[\s\u0085\u200b-\u200d\u2060]+/g;

/** White space of any kind as one space, and none at the ends. */
export function collapsed(text: string): string {
  return text.replace(WHITE_SPACE, " ").trim();
}

/**
 * A text as it is compared: quotes of a kind are one, NFKC, hyphens, dashes and minus signs are one, what is put around an
 * answer is gone (with it one closing period), white space is collapsed.
 */
export function normalized(text: string): string {
  const unified = text.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"');
  return collapsed(stripAnswer(collapsed(unified.normalize("NFKC").replace(DASHES, "-"))));
}

/** The same for texts that differ in case only. */
export function folded(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** Finds the option that a text is; −1: none. */
export type Matcher = (text: string) => number;

/** Options must differ as they are compared. Where they differ in case only, case counts; elsewhere it does not. */
export function matcherOf(options: readonly string[]): Matcher {
  const keys = options.map(normalized);
  const exact = new Map(keys.map((key, place) => [key, place]));
  const byFolded = Map.groupBy(keys.keys(), (place) => folded(keys[place] as string));
  return (text) => {
    if (text.length > GIVEN_UNITS_MAX) return -1;
    const key = normalized(text);
    const [place, ...others] = byFolded.get(folded(key)) ?? [];
    return exact.get(key) ?? (others.length > 0 ? -1 : (place ?? -1));
  };
}
