/**
 * Answers that are not marked as the format asks, in completions that hold none that is: "<answer>12" at the end, "\boxed{12"
 * at the end, "**Final Answer**" and "So, the answer is 12" where a line that starts with "Answer:" was asked for. It cannot be
 * told whether they are whole ("12" may be the beginning of "123"), so each counts only if it turns out to be right.
 */
import type { AnswerFormat } from "../prompt.ts";
import { assertNever } from "../lib/assert-never.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { keyAt, labelAt } from "./labels.ts";
import type { Range } from "./marks.ts";
import { beforeFence, holdsAnswer } from "./scan.ts";
import { stripRange } from "./strip.ts";

/** The answer that may be meant between two offsets, of which one is open from a third on; undefined: none is. */
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

/** After a comma more was to come. */
function wholeRange(text: string, from: number, to: number): Range | undefined {
  if (!holdsAnswer(text, from, to)) return undefined;
  const end = skipSpaceBack(text, from, to);
  return ",，、;；".includes(text.charAt(end - 1)) ? undefined : { start: skipSpace(text, from, end), end };
}

const CUT_TAG = /<(?:\/[a-z]{0,6})?$/i;
const CUT_TAG_UNITS_MAX = "</answer".length;

/** The closing tag may be there in part. */
function beforeCutTag(text: string, end: number): number {
  const past = skipSpaceBack(text, 0, end);
  return past - (CUT_TAG.exec(text.slice(Math.max(0, past - CUT_TAG_UNITS_MAX), past))?.[0].length ?? 0);
}

/** So many lines are looked at, from the end on: no answer that a label introduces has more. */
const LINES_MAX = 64;

/** What follows the last label that starts a line, or an object of an answer that starts one. */
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
