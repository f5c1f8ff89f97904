/** Parses answers that name an option by its letter. */
import { GIVEN_UNITS_MAX, normalized } from "./match.ts";
import { placeOfText, type Question } from "./question.ts";
import { placeBehindBullet, withoutSentence, withPlainLetter } from "./sentence.ts";

const A = 65;

export function letterOf(place: number): string {
  return String.fromCharCode(A + place);
}

/** Matches words before the letter, as in "I choose option B". */
const NAMED =
  /^(?:i(?: would|'d)? (?:choose|select|pick) )?(?:(?:(?:the|la|el|l'|die|der|a) ?)?(?:option|choice|answer|letter|opción|opcion|alternativa|letra|lettre|proposition|antwort|buchstabe|вариант|ответ|opção|opcao) |(?:答案)?(?:故|应|應|因此|所以)?(?:选择|選擇|选项|選項|选|選)[:：]? ?|選択肢 ?|보기 ?|(?:la|die) )?(?=\W?[a-z](?![a-z]))/i;

/** Matches a letter with or without parentheses, and the separator if a text follows. */
const LETTER = /^(?:\(([a-z])\):?|\[([a-z])\]|([a-z]))(?:$|[).:!]$|(?:[).:,]| -)? (?=\S))/i;
/**
 * Matches a letter with a mark, such as ")" or ".", before a text. Without a mark the letter may be an article: "A
 * dog".
 */
const MARKED = /^(?:\([a-z]\):?|\[[a-z]\]|[a-z](?:[).:,]| -)) /i;
/** Matches words after a letter that call it right, as in "B is correct". */
const IS_RIGHT =
  / (?:is (?:the )?(?:correct|right)(?: one| answer| option| choice)?|ist (?:richtig|korrekt)|es (?:la )?correct[ao]|est (?:la )?(?:correcte?|bonne)|é (?:a )?corret[ao]|верно|верный)$|(?: ?选项| ?選項)$/i;
/** Matches a letter with the option's text in parentheses, as in "B (Paris)". */
const ASIDE = /^(\(?[a-z][).]?) \((.+)\)$/i;

/**
 * Returns the index of the option whose letter a text gives, or an error message. The letter may be in either case and
 * stand alone: "B", "(B)", "B)", "B.", "option B" or "B is correct". With a mark it may precede the option's text: "B)
 * Paris" or "B, Paris". Any other text is malformed. So is an option's text without its letter, because the task asks
 * for the letter.
 */
export function readLetter(text: string, question: Question): number | string {
  if (text.length > GIVEN_UNITS_MAX) return "the answer is longer than a letter and the text of an option";
  const listed = placeBehindBullet(text, [], (rest) => readLetter(rest, question));
  if (listed !== undefined) return listed;
  const said = withoutSentence(withPlainLetter(normalized(text)));
  const given = said.replace(NAMED, "").replace(IS_RIGHT, "").replace(ASIDE, "$1, $2");
  const found = LETTER.exec(given);
  const letter = found?.[1] ?? found?.[2] ?? found?.[3];
  if (found === null || letter === undefined) return "the answer is not the letter of an option";
  const place = letter.toUpperCase().charCodeAt(0) - A;
  const rest = given.slice(found[0].length);
  if (rest !== "" && !MARKED.test(given)) return "the answer is not the letter of an option";
  if (place >= question.options.length)
    return `there is no option ${letterOf(place)}: the last one is ${letterOf(question.options.length - 1)}`;
  if (rest !== "" && placeOfText(question, rest) !== place)
    return `the text after the letter is not that of option ${letterOf(place)}`;
  return place;
}
