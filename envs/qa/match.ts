/**
 * Decides whether a text is one of the options. The text must equal the option after a normalization that keeps their
 * meaning. SQuAD's normalization is not used: it removes punctuation and articles, so that -5 would equal 5 and C++
 * would equal C. A text that only contains an option is not that option.
 */
import { stripAnswer } from "../answers/strip.ts";

/** Maximum length of an option in UTF-16 units, twice that of the longest one in SuperGPQA and MMLU-Pro. */
export const OPTION_UNITS_MAX = 4096;

/** Maximum length of an answer in UTF-16 units. It leaves room for white space and wrapping around the option. */
export const GIVEN_UNITS_MAX = 2 * OPTION_UNITS_MAX;

/** Nouns for the answer to a question, besides "answer", that a label may use: "Option: B". */
export const OPTION_NAMES: readonly string[] = [
  ...["option", "choice", "alternative", "letter", "opción", "alternativa", "letra", "lettre", "proposition", "choix"],
  ...["buchstabe", "auswahl", "вариант", "вариант ответа", "выбор", "буква", "opção", "escolha"],
  ...["选项", "選項", "选择", "選擇", "選択肢", "보기", "선택"],
];

// Patterns of characters that are replaced before NFKC, the normalization of Unicode. NFKC would turn an acute accent
// into a space with an accent, and "1½" into "11⁄2".
const ACUTE = /´/g;
/**
 * Matches the position before a superscript, so that 10² does not become 102. In 10⁻³ the superscript begins with the
 * sign.
 */
const POWER = /(?<=[\d)])(?=[⁰¹²³⁴-⁹])(?<![⁰¹²³⁴-⁹])/g;
const MIXED_NUMBER = /(?<=\d)(?=[¼-¾⅐-⅟↉])/g;
// Patterns that are replaced after NFKC. NFKC itself normalizes superscripts and small or full-width forms, and splits
// double and triple primes.
const SINGLE_QUOTES = /[‘’‚‛′‵`ʹʼ]/g;
const DOUBLE_QUOTES = /["“”„‟«»]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
const FRACTION_SLASH = /\u2044/g;
/**
 * Matches invisible characters: zero-width spaces, joiners, soft hyphens. Characters that change the direction of text
 * do not match.
 */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}--[\u202a-\u202e\u2066-\u2069]]/gv;
/**
 * Matches invisible characters that may stand for a space. They are first removed; if the result is not an option, they
 * are replaced by spaces.
 */
const UNSEEN_BREAKS = /[\u200b\u2060\ufeff]/g;
/** Matches backslashes that only escape a character for LaTeX, as in "\$5". */
const ESCAPING = /\\(?=[$%#&_])/g;
const WHITE_SPACE = /[\s\u0085]+/g;

/** Returns a text with each run of white space as one space, and none at the ends. */
export function collapsed(text: string): string {
  return text.replace(WHITE_SPACE, " ").trim();
}

/** Cache of normal forms by text, because each text of a row is normalized several times. */
const known = new Map<string, string>();

/** Maximum number of cached texts. */
const KNOWN_MAX = 1024;
/** Maximum length of a cached text, in characters. A full cache takes some megabytes. */
const KNOWN_LENGTH_MAX = 2048;

/** Returns a text's normal form, in which texts are compared. See `normalForm`; this function caches its results. */
export function normalized(text: string): string {
  if (text.length > KNOWN_LENGTH_MAX) return normalForm(text);
  const before = known.get(text);
  if (before !== undefined) return before;
  const form = normalForm(text);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, form);
  return form;
}

/**
 * Returns the normal form in which texts are compared. Removes invisible characters, applies NFKC, and unifies variants
 * of quotes, hyphens, dashes and minus signs. Two single quotes become a double one. Strips the wrapping of an answer
 * and one closing period, and collapses white space.
 */
function normalForm(text: string): string {
  const compatible = text
    .replace(ACUTE, "'")
    .replace(POWER, "^")
    .replace(MIXED_NUMBER, " ")
    .normalize("NFKC")
    .replace(UNSEEN, "");
  // Double quotes are first split into two single ones. Two primes, or a quote next to an apostrophe, are then equal in
  // every spelling.
  const quotes = compatible.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, "''");
  const unified = quotes.replace(DASHES, "-").replace(FRACTION_SLASH, "/");
  return collapsed(stripAnswer(collapsed(unified), OPTION_NAMES).replace(ESCAPING, "")).replaceAll("''", '"');
}

/** Returns a key that is equal for texts that differ only in case. */
export function folded(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** Returns the index of the option that a text equals after normalization, or −1. */
export type Matcher = (text: string) => number;

/**
 * Returns a matcher for options that all differ after normalization. Case matters only between options that differ in
 * nothing else.
 */
export function matcherOf(options: readonly string[]): Matcher {
  const keys = options.map(normalized);
  const exact = new Map(keys.map((key, place) => [key, place]));
  const verbatim = new Map(options.map((option, place) => [option, place]));
  const byFolded = Map.groupBy(keys.keys(), (place) => folded(keys[place] as string));
  const find: Matcher = (text) => {
    const key = normalized(text);
    if (isMoney(text, key, byFolded)) return verbatim.get(collapsed(text)) ?? -1;
    const [place, ...others] = byFolded.get(folded(key)) ?? [];
    return exact.get(key) ?? (others.length > 0 ? -1 : (place ?? -1));
  };
  return (text) => {
    if (text.length > GIVEN_UNITS_MAX) return -1;
    const place = find(text);
    return place >= 0 ? place : find(text.replace(UNSEEN_BREAKS, " "));
  };
}

/**
 * Returns whether the dollar signs that normalization stripped from a text may belong to an option. In "$5$" they may
 * if "$5" is an option.
 */
function isMoney(text: string, key: string, byFolded: ReadonlyMap<string, unknown>): boolean {
  if (!text.includes("$") || key.includes("$")) return false;
  return byFolded.has(folded(`$${key}`)) || byFolded.has(folded(`${key}$`));
}
