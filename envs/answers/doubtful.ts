/**
 * Finds an answer in a completion that marks none properly: "<answer>12" or "\boxed{12" at the end, or "**Final
 * Answer**" or "So, the answer is 12" where the format requires a line "Answer:". Such an answer may be incomplete
 * ("12" may be the start of "123"), so it counts only if it is right.
 */
import type { AnswerFormat } from "../prompt.ts";
import { assertNever } from "../lib/assert-never.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { keyAt, labelAt } from "./labels.ts";
import type { Range } from "./marks.ts";
import { beforeFence, holdsAnswer } from "./scan.ts";
import { stripRange } from "./strip.ts";

/**
 * Returns the probable answer between `start` and `end`, or undefined. `open` is the offset after an opening mark, such
 * as "<answer>", that is never closed.
 */
export function doubtfulAnswer(
  text: string,
  format: AnswerFormat,
  { start, end }: Readonly<Range>,
  open: number | undefined,
): Range | undefined {
  switch (format) {
    case "think_answer":
    case "answer_tag":
    case "boxed":
      return open === undefined ? undefined : wholeRange(text, open, beforeCutTag(text, end));
    case "answer_line":
      return labelledRange(text, start, end);
    default:
      return assertNever(format);
  }
}

/**
 * Returns the range between two offsets, without white space at its ends. Returns undefined if the range holds no
 * answer, or if it ends with a comma and so is incomplete.
 */
function wholeRange(text: string, from: number, to: number): Range | undefined {
  if (!holdsAnswer(text, from, to)) return undefined;
  const end = skipSpaceBack(text, from, to);
  return ",，、;；".includes(text.charAt(end - 1)) ? undefined : { start: skipSpace(text, from, end), end };
}

const CUT_TAG = /<(?:\/[a-z]{0,6})?$/i;
const CUT_TAG_UNITS_MAX = "</answer".length;

/**
 * Returns the offset at which an incomplete closing tag at the end, such as "</ans", begins. Returns `end` if there is
 * none.
 */
function beforeCutTag(text: string, end: number): number {
  const past = skipSpaceBack(text, 0, end);
  return past - (CUT_TAG.exec(text.slice(Math.max(0, past - CUT_TAG_UNITS_MAX), past))?.[0].length ?? 0);
}

/** Maximum number of lines at the end of the text that are searched for a label. */
const LINES_MAX = 64;

/**
 * Searches the lines of the text, the last one first, for a line that starts with a label such as "Answer:" or with an
 * object such as {"answer": 12}. Returns the text after the label, or the text from the object on.
 */
function labelledRange(text: string, start: number, end: number): Range | undefined {
  let to = end;
  for (let lines = 0; lines < LINES_MAX && to > start; lines++) {
    const from = Math.max(start, text.lastIndexOf("\n", to - 1) + 1);
    const at = skipSpace(text, from, to);
    const past = beforeFence(text, at, end);
    if (keyAt(text, at, past) !== undefined) return wholeRange(text, at, past);
    if (labelAt(text, at, past) !== undefined) {
      const range = stripRange(text, at, past);
      return range.start > at ? wholeRange(text, range.start, range.end) : undefined;
    }
    to = from - 1;
  }
  return undefined;
}
