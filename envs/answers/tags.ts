/** The tags of thoughts and answers as models write them: in any case, with blanks or attributes. */

const BLANK = "[\\t\\n\\r \\u00a0]";
/** Blanks are bounded, so that what is no tag costs nothing. */
const BLANKS = `${BLANK}{0,8}`;
const WORDS = ["answer", "think"] as const;
/**
 * In any case, letter by letter: an expression that tells cases apart in a part of it, by "(?-i:", misses tags in capitals
 * once V8 13.6 has compiled it for some texts, until it is compiled anew.
 */
const WORD = `(?:${WORDS.map((word) => word.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`)).join("|")})`;
const STARTS_TAG = new RegExp(`<${BLANKS}/?${BLANKS}${WORD}`, "y");
const SLASH = 47;
/**
 * A tag that is not plain. The word comes first, for it is the rarest. Attributes are of characters that count as one code
 * point each, so that offsets in code points stay; a tag that closes itself is none.
 */
const OTHER_TAG = new RegExp(
  `${WORD}(?!>(?<=</?(?:${WORDS.join("|")})>))(?<=<(${BLANKS}/?${BLANKS})(${WORD}))(?:${BLANK}[^<>\\ud800-\\udfff]{0,128})?(?<!/)>`,
  "g",
);
/** So many "<" are looked at one by one, as most completions have fewer. */
const LOOKED_AT = 64;
/** No completion has more tags that are not plain: those behind them stay as they are. */
const OTHERS_MAX = 1024;

/**
 * A text with all such tags as "<answer>", "</think>" and so on, with spaces before them where they were longer: whatever is
 * found in it stands at the same offset in the text as it came.
 */
export function withPlainTags(text: string): string {
  return mayHaveOthers(text) ? replaced(text) : text;
}

function mayHaveOthers(text: string): boolean {
  let looked = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    if (++looked > LOOKED_AT) return true;
    // Most tags are plain, and to compare is faster than to match.
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
