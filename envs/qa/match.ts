/**
 * When a text is one of the options: exactly, after a normalisation that cannot change what a text says among the options
 * shown. Not SQuAD's, which takes away punctuation and articles (-5 is then 5, "x < 3" is "x > 3", C++ is C), and never by
 * what a text contains.
 */
import { stripAnswer } from "../answers/strip.ts";

/** No option, and no answer that is one, is longer; twice as long as the longest of SuperGPQA and MMLU-Pro. */
export const OPTION_UNITS_MAX = 4096;

/** What people put around an option, and white space; the text of an option cannot be longer by more than that. */
export const GIVEN_UNITS_MAX = 2 * OPTION_UNITS_MAX;

/** What questions call their answers, beside "answer"; no two options are told apart by it. */
export const OPTION_NAMES: readonly string[] = [
  ...["option", "choice", "alternative", "letter", "opción", "alternativa", "letra", "lettre", "proposition", "choix"],
  ...["buchstabe", "auswahl", "вариант", "вариант ответа", "выбор", "буква", "opção", "escolha"],
  ...["选项", "選項", "选择", "選擇", "選択肢", "보기", "선택"],
];

// Before NFKC, which would make an accent on a space of it, and "11⁄2" of "1½".
const ACUTE = /´/g;
/** 10² is no 102; of 10⁻³ the sign tells it from a number. */
const POWER = /(?<=[\d)])(?=[⁰¹²³⁴-⁹])(?<![⁰¹²³⁴-⁹])/g;
const MIXED_NUMBER = /(?<=\d)(?=[¼-¾⅐-⅟↉])/g;
// After NFKC, which has made these of their superscript, small and full-width forms, and single primes of several in one.
const SINGLE_QUOTES = /[‘’‚‛′‵`ʹʼ]/g;
const DOUBLE_QUOTES = /["“”„‟«»]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
const FRACTION_SLASH = /\u2044/g;
/** Characters that are not seen: zero-width space, joiners, soft hyphens. Those that change the order of what is seen stay. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}--[\u202a-\u202e\u2066-\u2069]]/gv;
/** Of these, what may stand where a space was: gone where that is an option, and else a space. */
const UNSEEN_BREAKS = /[\u200b\u2060\ufeff]/g;
/** What LaTeX writes with a backslash before it: "\$5". */
const ESCAPING = /\\(?=[$%#&_])/g;
const WHITE_SPACE = /[\s\u0085]+/g;

/** White space of any kind as one space, and none at the ends. */
export function collapsed(text: string): string {
  return text.replace(WHITE_SPACE, " ").trim();
}

/**
 * A text as it is compared: what is not seen is gone, NFKC, quotes of a kind are one, two single ones are a double one,
 * hyphens, dashes and minus signs are one, what is put around an answer is gone (with it one closing period), white space
 * is collapsed.
 */
export function normalized(text: string): string {
  const compatible = text
    .replace(ACUTE, "'")
    .replace(POWER, "^")
    .replace(MIXED_NUMBER, " ")
    .normalize("NFKC")
    .replace(UNSEEN, "");
  // A double one as two, until all are: two primes, and a quote beside an apostrophe, are then the same however written.
  const quotes = compatible.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, "''");
  const unified = quotes.replace(DASHES, "-").replace(FRACTION_SLASH, "/");
  return collapsed(stripAnswer(collapsed(unified), OPTION_NAMES).replace(ESCAPING, "")).replaceAll("''", '"');
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

/** Whether a dollar that was taken for a formula's may be an option's own: "$5$", where both "$5" and "5" are options. */
function isMoney(text: string, key: string, byFolded: ReadonlyMap<string, unknown>): boolean {
  if (!text.includes("$") || key.includes("$")) return false;
  return byFolded.has(folded(`$${key}`)) || byFolded.has(folded(`${key}$`));
}
