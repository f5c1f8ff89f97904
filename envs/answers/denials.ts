/**
 * Recognizes answers that the words around them deny ("it is not 5"), or after which another answer follows ("5 or 6").
 * Needed by parsers that skip words, such as units.
 */
import { splitWords } from "../lib/words.ts";

/** Matches white space of any kind, and marks such as "*", that may come between a value and the word after it. */
const GAP = "(?:[\\s\\u200b-\\u200d\\u2060\\\\,;$*(（]|quad|\\\\text\\{){0,12}";

/**
 * Matches denials in languages with spaces between words. A denial counts only as the last word or before a punctuation
 * mark, because "3 false positives" is a number with a unit.
 */
const DENIALS = `(?:${splitWords(`
  no not nope false wrong incorrect rejected discarded retracted falsch nicht nein inkorrekt faux fausse incorrecte
  incorrecto incorrecta falso falsa sbagliato sbagliata errato errata errado errada incorreto incorreta não нет не
  неверно неверный неправильно неправильный ошибочно ложно
`).join("|")})(?=[\\s.,;!)}$*]*$|[.,;!])`;

/** Matches denials in languages that put no spaces between words. */
const CLINGING_DENIALS = [
  ...[
    "では(?:な|あり)",
    "じゃ(?:な|あり)",
    "でな[いく]",
    "[はがも]?(?:違|誤|間違)",
    "不正解",
    `[이가]?${GAP}아[니닙님]`,
  ],
  // Matches words that make the sentence a question.
  ...["(?:です|でしょう|だろう|なの)か", "[吗嗎么]", "(?:인가|일까|입니까|인지)"],
  ...[`[은는이가]?${GAP}(?:틀[리렸림]|오답)`, "不是", "不对", "不對", "不正确", "不正確", "是?[错錯]", "有[误誤]"],
].join("|");

/**
 * Matches an answer with words that deny it or announce another one: "52ではありません", "52이 아닙니다", "52不是", "52 falsch", "52
 * or", and the struck-out "~~52~~".
 */
const DENIED = new RegExp(
  [
    `[\\da-z)}\\]$*]${GAP}(?:${CLINGING_DENIALS})`,
    `[\\d)}\\]$*]${GAP}(?:${DENIALS}|(?:and|or|oder|und|et|и|ou|или|或者?|または|또는|[和と])${GAP}[.,]?$)`,
    "(?:^|[\\s{$(*])~~[^~\\s\\\\][^~]*~~(?:$|[\\s})$*.,\\\\])",
    // Matches answers to another question, as in "The answer to the example is 52".
    `answers?${GAP}(?:to|for|of|from)${GAP}(?:(?:the|an?|some|my)${GAP})?(?:different|another|other|example|previous|similar|simpler)(?!\\p{L})`,
  ].join("|"),
  "isu",
);

/** Matches a denial immediately before a \boxed command, as in "it is not \\boxed{52}". */
const DENYING = new RegExp(
  `(?:(?<!\\p{L})(?:not|isn['’]t|never|neither|wrong|incorrect|false|nicht|kein|pas|no es|não é|не)(?: (?:the|my|an?|equal to))?|不是|≠|\\\\neq?|\\\\x?cancel\\{)${GAP}[:：]?${GAP}$`,
  "iu",
);
/** Matches a denial immediately after a \boxed command, as in "\\boxed{52} is wrong" or "\\boxed{52}? No". */
const DENIED_BEHIND = new RegExp(
  `^${GAP}(?:[?？]|(?:(?:is|was|ist|est|es|é)${GAP})?(?:not(?= (?:the|an?|my|it|correct|right|valid|true)(?!\\p{L}))|${DENIALS})|${CLINGING_DENIALS})`,
  "iu",
);

/** Returns whether the words in an answer deny it, as in "52 is not right", or announce another one, as in "52 or". */
export function isTakenBack(answer: string): boolean {
  return DENIED.test(answer);
}

/** Returns whether the words before or after a \boxed command deny the answer in it. */
export function isDenied(before: string, behind: string): boolean {
  return DENYING.test(before.slice(-48)) || DENIED_BEHIND.test(behind.slice(0, 48));
}
