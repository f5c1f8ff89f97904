/**
 * Parses answers that give an option in a sentence: "It is Paris.", "Paris!", or "A. Paris" if A is Paris. This applies
 * only if the whole text is not an option. The rest of the sentence must then equal an option.
 */
import { closingWords } from "../answers/labels.ts";
import { GIVEN_UNITS_MAX, normalized } from "./match.ts";
import { placeOfText, type Question } from "./question.ts";

/** Matches words before an option in a sentence, e.g. "It is", in several languages. */
const LEAD =
  /^(?:(?:it is|it's|it would be|it must be|it should be|that is|that's|this is|es ist|das ist|ist|est|es|c'est|é|это) |(?:它是|这是|這是|是|それは|그것은) ?)/i;

/**
 * Matches an exclamation with its marks. The mark must follow a word, because "5!" is a factorial; in Spanish another
 * mark precedes it.
 */
const EXCLAMATION = /^(?:¡ ?)?(.*(?:\p{L}{2}|[\p{Script=Han}\p{Script=Kana}]) ?)!{1,3}$/su;

/** Strips the words and marks that make an option a sentence: "It is Paris!" becomes "Paris". */
export function withoutSentence(given: string): string {
  const said = normalized(normalized(given).replace(EXCLAMATION, "$1"));
  const [lead = ""] = LEAD.exec(said) ?? [];
  if (lead === "") return said;
  return normalized(said.slice(lead.length, said.length - closingWords(said, lead.length, said.length)));
}

/** Matches a letter in bold or italics: "**A**. Paris" or "\\textbf{(A)}\\ Paris". */
const EMPHASIZED = /^(\*{1,3}|_{1,3})(\(?[a-z][).:]{0,2})\1/i;
const SET_APART = /^\\(?:text|textbf|textrm|mathrm|mathbf) ?\{(\(?[a-z][).:]{0,2}) ?\}[ ~\\]{0,4}/i;

export function withPlainLetter(text: string): string {
  return text.replace(EMPHASIZED, "$2").replace(SET_APART, "$1 ");
}

/** Matches the bullet of a list, with or without a ticked box, or a list number. */
const BULLET = /^(?:[-*+•‣⁃◦▪●○■□◆➤→·∙✓✔✅]|(\d{1,2})[.)](?= ?\(?\p{L}))\ufe0f? +(?:\[[x✓]\] +)?(?=\S)/iu;

/**
 * Parses an answer behind the bullet or number of a list, as in "- Paris" or "2. Paris"; `placeOf` parses the rest.
 * Returns undefined if there is no bullet. A list number must be 1 or the number of the option. If an option itself
 * begins with the bullet's character, as "-5" does, the character belongs to the answer.
 */
export function placeBehindBullet<Place>(
  given: string,
  options: readonly string[],
  placeOf: (rest: string) => Place,
): Place | undefined {
  if (given.length > GIVEN_UNITS_MAX) return undefined;
  const said = normalized(given);
  const [bullet = "", number = "1"] = BULLET.exec(said) ?? [];
  const rest = said.slice(bullet.length);
  if (bullet === "" || BULLET.test(rest)) return undefined;
  if (options.some((option) => normalized(option).startsWith(bullet.charAt(0)))) return undefined;
  const place = placeOf(rest);
  return number === "1" || place === Number(number) - 1 ? place : undefined;
}

/** Matches the letter before an option's text: "A. Paris", "(A) Paris", "A: Paris" and "A - Paris". */
const LETTERED = /^(?:(?:option|choice|answer) )?(?:\(([a-z])\)[.:]? ?|([a-z])(?:[).:、] ?| - ))(?=\S)/i;

const A = 65;

/** Returns the index of the option that a text gives, alone or in a sentence, or −1. */
export function placeOfSentence(question: Question, text: string): number {
  const place = placeOfText(question, text);
  if (place >= 0 || text.length > GIVEN_UNITS_MAX) return place;
  // If an option is itself such a sentence, the answer may mean that option, as in "It's raining".
  if (question.options.some((option) => LEAD.test(normalized(option)))) return -1;
  const said = withoutSentence(text);
  const saidPlace = placeOfText(question, said);
  if (saidPlace >= 0) return saidPlace;
  const listed = placeBehindBullet(said, question.options, (rest) => placeOfSentence(question, rest));
  if (listed !== undefined) return listed;
  const lettered = withPlainLetter(said);
  const found = LETTERED.exec(lettered);
  const letter = found?.[1] ?? found?.[2];
  if (found === null || letter === undefined) return -1;
  const named = placeOfText(question, lettered.slice(found[0].length));
  return named === letter.toUpperCase().charCodeAt(0) - A ? named : -1;
}
