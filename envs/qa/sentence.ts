/**
 * Answers that say an option in a sentence: "It is Paris.", "Paris!", "A. Paris" where A is Paris. They are read so only where
 * the text as it stands is no option, and what is left of it must be one as a whole.
 */
import { closingWords } from "../answers/labels.ts";
import { GIVEN_UNITS_MAX, normalized } from "./match.ts";
import { placeOfText, type Question } from "./question.ts";

/** In the languages of labels (envs/answers/labels.ts). */
const LEAD =
  /^(?:(?:it is|it's|it would be|it must be|it should be|that is|that's|this is|es ist|das ist|ist|est|es|c'est|é|это) |(?:它是|这是|這是|是|それは|그것은) ?)/i;

/** After a word, for "5!" is a factorial; Spanish opens it, too. */
const EXCLAMATION = /^(?:¡ ?)?(.*(?:\p{L}{2}|[\p{Script=Han}\p{Script=Kana}]) ?)!{1,3}$/su;

/** Without what makes a sentence of an option. */
export function withoutSentence(given: string): string {
  const said = normalized(normalized(given).replace(EXCLAMATION, "$1"));
  const [lead = ""] = LEAD.exec(said) ?? [];
  if (lead === "") return said;
  return normalized(said.slice(lead.length, said.length - closingWords(said, lead.length, said.length)));
}

/** A letter in bold or italics, "**A**. Paris" and "\\textbf{(A)}\\ Paris", with what marks it. */
const EMPHASIZED = /^(\*{1,3}|_{1,3})(\(?[a-z][).:]{0,2})\1/i;
const SET_APART = /^\\(?:text|textbf|textrm|mathrm|mathbf) ?\{(\(?[a-z][).:]{0,2}) ?\}[ ~\\]{0,4}/i;

export function withPlainLetter(text: string): string {
  return text.replace(EMPHASIZED, "$2").replace(SET_APART, "$1 ");
}

/** The sign of a list before an option, with a ticked box or not; a number counts from 1. */
const BULLET = /^(?:[-*+•‣⁃◦▪●○■□◆➤→·∙✓✔✅]|(\d{1,2})[.)](?= ?\(?\p{L}))\ufe0f? +(?:\[[x✓]\] +)?(?=\S)/iu;

/**
 * The place of an answer that follows a bullet, by what reads it; undefined: there is none. A number must be 1, as in a list of
 * one, or the option's own. Where an option begins with the sign itself, as "-5" does, the sign is part of the answer.
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

/** "A. Paris", "(A) Paris", "A: Paris", "A - Paris" */
const LETTERED = /^(?:(?:option|choice|answer) )?(?:\(([a-z])\)[.:]? ?|([a-z])(?:[).:、] ?| - ))(?=\S)/i;

const A = 65;

/** The place of the option that a text says; −1: it says none. */
export function placeOfSentence(question: Question, text: string): number {
  const place = placeOfText(question, text);
  if (place >= 0 || text.length > GIVEN_UNITS_MAX) return place;
  // Where an option is such a sentence itself, "It's raining" may be meant for it.
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
