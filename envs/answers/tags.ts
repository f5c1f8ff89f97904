/**
 * Rewrites tags of thinking and answers into plain form, e.g. "< Answer >" into "<answer>". Models may write them in
 * any case, with blanks or attributes.
 */

const BLANK = "[\\t\\n\\r \\u00a0]";
/** Matches at most eight blanks. The limit keeps texts without tags fast. */
const BLANKS = `${BLANK}{0,8}`;
const WORDS = ["answer", "think"] as const;
/**
 * Matches the words of tags in any case, letter by letter. A group such as "(?-i:" is not used, because V8 13.6
 * sometimes compiles it so that tags in capitals are missed.
 */
const WORD = `(?:${WORDS.map((word) => word.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`)).join("|")})`;
const STARTS_TAG = new RegExp(`<${BLANKS}/?${BLANKS}${WORD}`, "y");
const SLASH = 47;
/**
 * Matches a tag that is not in the plain form "<answer>". The expression begins with the word, because it is the rarest
 * part. An attribute must not contain characters of two UTF-16 units, so that offsets in code points stay valid. A
 * self-closing tag does not match.
 */
const OTHER_TAG = new RegExp(
  `${WORD}(?!>(?<=</?(?:${WORDS.join("|")})>))(?<=<(${BLANKS}/?${BLANKS})(${WORD}))(?:${BLANK}[^<>\\ud800-\\udfff]{0,128})?(?<!/)>`,
  "g",
);
/** Number of "<" up to which each is examined one by one. Texts with more are searched by a regular expression. */
const LOOKED_AT = 64;
/** Maximum number of tags that are normalized. Later tags stay unchanged. */
const OTHERS_MAX = 1024;

/**
 * Returns the text with every tag in its plain form, "<answer>", "</think>" and so on. Spaces before a shortened tag
 * keep all offsets valid.
 */
export function withPlainTags(text: string): string {
  return mayHaveOthers(text) ? replaced(text) : text;
}

function mayHaveOthers(text: string): boolean {
  let looked = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    if (++looked > LOOKED_AT) return true;
    // Most tags are already plain, and comparing text is faster than matching an expression.
    const word = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
    if (text.startsWith("answer>", word) || text.startsWith("think>", word)) continue;
    STARTS_TAG.lastIndex = at;
    if (STARTS_TAG.test(text)) return true;
  }
  return false;
}

function replaced(text: string): string {
  const pieces: string[] = [];
  let past = 0;
  OTHER_TAG.lastIndex = 0;
  for (let others = 0; others < OTHERS_MAX; others++) {
    const found = OTHER_TAG.exec(text);
    if (found === null) break;
    const [, before = "", word = ""] = found;
    const start = found.index - before.length - 1;
    const plain = `<${before.includes("/") ? "/" : ""}${word.toLowerCase()}>`;
    pieces.push(text.slice(past, start), plain.padStart(OTHER_TAG.lastIndex - start));
    past = OTHER_TAG.lastIndex;
  }
  return past === 0 ? text : pieces.join("") + text.slice(past);
}
