/** Answers that say no, or that begin another one: for parsers that pass over words, such as units. */

/** White space of any kind, also LaTeX's. */
const GAP = "(?:[\\s\\u200b-\\u200d\\u2060\\\\,;]|quad){0,12}";

/** "52ではありません", "52이 아닙니다", "52不是", "52 or" */
const DENIED = new RegExp(
  `[\\d)}\\]]${GAP}(?:では(?:な|あり)|じゃな|[이가]${GAP}아[니닙]|不是|不对|不對|(?:or|oder|ou|или|或)${GAP}[.,]?$)`,
  "i",
);

/** What stands before "answer:" in "wrong answer:", "not the answer:". */
const DENYING = new RegExp(`(?:^|[^\\p{L}])(?:wrong|incorrect|false|not(?:${GAP}(?:the|my|an?))?)${GAP}$`, "iu");

/** Whether words behind an answer take it back, or go on to another. */
export function isTakenBack(answer: string): boolean {
  return DENIED.test(answer);
}

/** Whether the words before a label say that what follows is no answer. */
export function takesBack(before: string): boolean {
  return DENYING.test(before.slice(-48));
}
