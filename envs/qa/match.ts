/**
 * Decides whether a text is one of the options: they must be equal after a normalization that keeps their meaning.
 * SQuAD's normalization would remove punctuation and articles, so that -5 equals 5, "x < 3" equals "x > 3", and C++
 * equals C. Containing an option is never enough.
 */
import { stripAnswer } from "../answers/strip.ts";

/**
 * Maximum length of an option in UTF-16 units, twice that of the longest in SuperGPQA and MMLU-Pro. Longer answers are
 * no options.
 */
export const OPTION_UNITS_MAX = 4096;

/** Maximum length of an answer, with white space and wrapping around the option. */
export const GIVEN_UNITS_MAX = 2 * OPTION_UNITS_MAX;

/** Words for the answer to a question besides "answer". No two options differ only by such a word. */
export const OPTION_NAMES: readonly string[] = [
  ...["option", "choice", "alternative", "letter", "opción", "alternativa", "letra", "lettre", "proposition", "choix"],
  ...["buchstabe", "auswahl", "вариант", "вариант ответа", "выбор", "буква", "opção", "escolha"],
  ...["选项", "選項", "选择", "選擇", "選択肢", "보기", "선택"],
];

// Replacements before NFKC, which would turn an acute accent into one on a space, and "1½" into "11⁄2".
const ACUTE = /´/g;
/** Matches the place before a superscript: 10² is not 102. In 10⁻³ the sign already shows the exponent. */
const POWER = /(?<=[\d)])(?=[⁰¹²³⁴-⁹])(?<![⁰¹²³⁴-⁹])/g;
const MIXED_NUMBER = /(?<=\d)(?=[¼-¾⅐-⅟↉])/g;
// Replacements after NFKC, which also normalizes superscript, small and full-width forms, and splits multiple primes.
const SINGLE_QUOTES = /[‘’‚‛′‵`ʹʼ]/g;
const DOUBLE_QUOTES = /["“”„‟«»]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
const FRACTION_SLASH = /\u2044/g;
/**
 * Matches invisible characters: zero-width spaces, joiners, soft hyphens. Characters that change the order of text
 * stay.
 */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}--[\u202a-\u202e\u2066-\u2069]]/gv;
/**
 * Matches invisible characters that may stand for a space. They are removed if the result is an option, and else become
 * spaces.
 */
const UNSEEN_BREAKS = /[\u200b\u2060\ufeff]/g;
/** Matches backslashes that LaTeX needs, as in "\$5". */
const ESCAPING = /\\(?=[$%#&_])/g;
const WHITE_SPACE = /[\s\u0085]+/g;

/** Returns a text with each run of white space as one space, and none at the ends. */
export function collapsed(text: string): string {
  return text.replace(WHITE_SPACE, " ").trim();
}

/** Texts that were normalized, in their normal form: each text of a row is normalized several times. */
const known = new Map<string, string>();

/** Maximum number of known texts, and maximum length of one in characters: together some megabytes. */
const KNOWN_MAX = 1024;
const KNOWN_LENGTH_MAX = 2048;

/** Returns a text in the form in which texts are compared; see `normalForm`. */
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
 * Returns a text in the form in which texts are compared. Invisible characters are removed, NFKC is applied, and
 * variants of quotes, hyphens, dashes and minus signs are unified. Two single quotes become a double one. The wrapping
 * of an answer is stripped, with one closing period, and white space is collapsed.
 */
function normalForm(text: string): string {
  const compatible = text
    .replace(ACUTE, "'")
    .replace(POWER, "^")
    .replace(MIXED_NUMBER, " ")
    .normalize("NFKC")
    .replace(UNSEEN, "");
  // Double quotes become two single ones first, so that two primes, or a quote beside an apostrophe, are equal however
  // written.
  const quotes = compatible.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, "''");
  const unified = quotes.replace(DASHES, "-").replace(FRACTION_SLASH, "/");
  return collapsed(stripAnswer(collapsed(unified), OPTION_NAMES).replace(ESCAPING, "")).replaceAll("''", '"');
}

/** Returns a key that is equal for texts that differ only in case. */
export function folded(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** Returns the index of the option that a text is, or −1. */
export type Matcher = (text: string) => number;

/**
 * Makes a matcher for options that differ after normalization. Case counts only between options that differ in nothing
 * else.
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

/** Returns whether a stripped dollar sign may belong to an option: "$5$", if both "$5" and "5" are options. */
function isMoney(text: string, key: string, byFolded: ReadonlyMap<string, unknown>): boolean {
  if (!text.includes("$") || key.includes("$")) return false;
  return byFolded.has(folded(`$${key}`)) || byFolded.has(folded(`${key}$`));
}
