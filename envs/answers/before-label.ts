/**
 * Decides whether a parser may read the text after "the answer is" as the answer. The words before may deny it, as in
 * "I doubt that the answer is 5".
 */

/**
 * Words that begin a new clause, such as "so" in "x = 5, so the answer is 5". Words before them do not affect the
 * answer.
 */
const LEADS = "so thus hence therefore then finally consequently accordingly means overall".split(" ");

/**
 * Words before a label, such as "the answer is", that do not change its meaning. A word that is missing here may change
 * it, such as "doubt", "half", "wrong" or "an" (which implies other answers).
 */
const WORDS = new Set([
  ..."the my our your this that it is here we i and us can to be as a at which in".split(" "),
  ..."final correct right exact complete required simplified numerical numeric desired overall".split(" "),
  ..."get gets got have find found obtain obtained see know arrive conclude conclusion summary result".split(" "),
  ..."follows gives give giving yields yield think believe say simplifying solving calculating".split(" "),
  ..."computing evaluating substituting adding subtracting multiplying dividing".split(" "),
  ...LEADS,
]);

/**
 * Matches the end of a text if a new clause begins there. Clauses begin at the start of the text, and after a
 * punctuation mark, an empty line or a line that ends with a sign.
 */
const CLAUSE = /(?:^|[.,:;!?。，：；！？$)\]}]|[^\p{L}\s]\n|\n[ \t]*\n)[\s*_#>\-\\$([{]*$/u;
/**
 * Matches words that make a sentence about another answer than the task's, even if a comma follows: "For example, the
 * answer is 5".
 */
const ELSEWHERE =
  /(?<!\p{L})(?:for (?:example|instance)|e\.g\.|before|unless|without(?! loss)|suppose|assume|pretend|imagine|wrong|incorrect|naive(?:ly)?|ignoring|initially|originally|at first|(?:different|another|other|previous|similar|simpler) (?:question|problem|part|version)|the example)(?!\p{L})[^.!?。！？\n]*$/iu;
const TEX_SPACE = /\\(?:[,;:! ]|q?quad)|[\u200b-\u200d\u2060]/g;
const LAST_WORD = /(?<![\p{L}\d])(\p{L}+)[\s*_:,]*$/u;

/** Maximum number of UTF-16 units before a label that are examined. */
const UNITS_MAX = 160;

/**
 * Returns whether the words before a label (such as "the answer is") introduce the answer and do not deny it. Reads
 * them backwards to the start of their clause.
 */
export function introduces(before: string): boolean {
  let rest = before.slice(-UNITS_MAX).replace(TEX_SPACE, " ").replace(/\r\n?/g, "\n");
  if (ELSEWHERE.test(rest.replace(/\n\s*\n/g, ". ").replace(/\s+/g, " "))) return false;
  for (let word = ""; !CLAUSE.test(rest);) {
    const found = LAST_WORD.exec(rest);
    word = found?.[1]?.toLowerCase() ?? "";
    if (found === null || LEADS.includes(word)) return found !== null;
    if (!WORDS.has(word)) return false;
    rest = rest.slice(0, found.index);
    // "Is the answer: 5" is a question.
    if (word === "is" && CLAUSE.test(rest)) return false;
  }
  return true;
}
