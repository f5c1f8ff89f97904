/** What may stand before "the answer is" in a sentence, for parsers that read what follows it. */

/** They begin a clause of their own, whatever came before: "x = 5, so the answer is 5". */
const LEADS = "so thus hence therefore then finally consequently accordingly means overall".split(" ");

/** They take nothing back. Others may: "I doubt that", "half", "the wrong", "an", for there may be others. */
const WORDS = new Set([
  ..."the my our your this that it is here we i and us can to be as a at which in".split(" "),
  ..."final correct right exact complete required simplified numerical numeric desired overall".split(" "),
  ..."get gets got have find found obtain obtained see know arrive conclude conclusion summary result".split(" "),
  ..."follows gives give giving yields yield think believe say simplifying solving calculating".split(" "),
  ..."computing evaluating substituting adding subtracting multiplying dividing".split(" "),
  ...LEADS,
]);

/** Where one begins: behind a mark, or on a line of its own that no word is before. */
const CLAUSE = /(?:^|[.,:;!?。，：；！？$)\]}]|[^\p{L}\s]\n|\n[ \t]*\n)[\s*_#>\-\\$([{]*$/u;
/** What makes the sentence one of another answer, before a comma too: "For example, the answer is 5". */
const ELSEWHERE =
  /(?<!\p{L})(?:for (?:example|instance)|e\.g\.|before|unless|without(?! loss)|suppose|assume|pretend|imagine|wrong|incorrect|naive(?:ly)?|ignoring|initially|originally|at first|(?:different|another|other|previous|similar|simpler) (?:question|problem|part|version)|the example)(?!\p{L})[^.!?。！？\n]*$/iu;
const TEX_SPACE = /\\(?:[,;:! ]|q?quad)|[\u200b-\u200d\u2060]/g;
const LAST_WORD = /(?<![\p{L}\d])(\p{L}+)[\s*_:,]*$/u;

/** So much is looked at, from the end on. */
const UNITS_MAX = 160;

/** Whether the words before a label introduce it, back to where their clause begins. */
export function introduces(before: string): boolean {
  let rest = before.slice(-UNITS_MAX).replace(TEX_SPACE, " ").replace(/\r\n?/g, "\n");
  if (ELSEWHERE.test(rest.replace(/\n\s*\n/g, ". ").replace(/\s+/g, " "))) return false;
  for (let word = ""; !CLAUSE.test(rest);) {
    const found = LAST_WORD.exec(rest);
    word = found?.[1]?.toLowerCase() ?? "";
    if (found === null || LEADS.includes(word)) return found !== null;
    if (!WORDS.has(word)) return false;
    rest = rest.slice(0, found.index);
    // "Is the answer: 5" asks.
    if (word === "is" && CLAUSE.test(rest)) return false;
  }
  return true;
}
