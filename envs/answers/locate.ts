/** Finds the marked answers of a completion (SPEC.md section 2, "Answer formats"). Time is linear in its length. */
import type { AnswerFormat } from "../environment.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { type Marks, scanBoxes, scanLines, type Scanner, scanTags } from "./scan.ts";

// Finds the part of a completion that is not thinking: only there do answers count, whatever the answer format.

const OPEN = "<think>";
const CLOSE = "</think>";

/** Where the thinking marks of a completion are. Offsets are UTF-16 units. */
interface Thinking {
  /** Answers count from here, just past the last "</think>"; 0 if there is none. */
  readonly start: number;
  /** Answers count up to here: a "<think>" that nothing closes, or the end of the text. */
  readonly end: number;
  /** Whether there is a "</think>". */
  readonly closed: boolean;
  /** Whether a "<think>" is open at the end. */
  readonly open: boolean;
  /** How many "<think>" there are. */
  readonly opened: number;
}

/** Reads the thinking marks, in time linear in the text's length: both begin with a unit that is rare in most texts. */
function locateThinking(text: string): Thinking {
  let start = 0;
  let end = text.length;
  let opened = 0;
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
    if (text.startsWith(CLOSE, at)) {
      start = at + CLOSE.length;
      end = text.length;
    } else if (text.startsWith(OPEN, at)) {
      opened++;
      if (end === text.length) end = at;
    }
  }
  return { start, end, closed: start > 0, open: end < text.length, opened };
}

/** More closed answers than this are not told apart: the last ones count. */
export const SPANS_MAX = 16;

/** One closed, marked answer: completion.slice(start, end) without its marks and outer white space. */
export interface LocatedSpan {
  /** UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The marked answers of a completion. */
export interface Located {
  /** Whether the completion keeps to its answer format, so that there is an answer to read. */
  readonly formatValid: boolean;
  /** Whether a thinking or answer mark is open at the end: the completion was cut. */
  readonly truncated: boolean;
  /** Every closed answer outside the thinking, in order; the last SPANS_MAX of them. */
  readonly spans: readonly LocatedSpan[];
  /** The text of the last of them. */
  readonly answer: string | undefined;
  /** What is wrong with the format, in words; undefined if nothing is. */
  readonly problem: string | undefined;
}

const SCANNERS: Readonly<Record<AnswerFormat, Scanner>> = {
  think_answer: scanTags,
  answer_line: scanLines,
  answer_tag: scanTags,
  boxed: scanBoxes,
};

const MISSING: Readonly<Record<AnswerFormat, string>> = {
  think_answer: "no closed <answer> block after the thinking",
  answer_line: "no line that starts with 'Answer:' and goes on with an answer",
  answer_tag: "no closed <answer> block",
  boxed: "no closed \\boxed{}",
};

const NO_SPANS: readonly LocatedSpan[] = Object.freeze([]);

/** Finds the answers of a completion in an answer format. Any text is fine; nothing is thrown. */
export function locateAnswers(completion: string, format: AnswerFormat): Located {
  const thinking = locateThinking(completion);
  const marks = SCANNERS[format](completion, thinking.start, thinking.end);
  const spans = marks.offsets.length === 0 ? NO_SPANS : toSpans(completion, marks.offsets);
  const problem = problemOf(format, thinking, marks);
  return {
    formatValid: problem === undefined,
    truncated: thinking.open || marks.open,
    spans,
    answer: spans.at(-1)?.text,
    problem,
  };
}

function toSpans(completion: string, offsets: readonly number[]): readonly LocatedSpan[] {
  const spans: LocatedSpan[] = [];
  for (let i = Math.max(0, offsets.length - 2 * SPANS_MAX); i < offsets.length; i += 2) {
    const end = skipSpaceBack(completion, offsets[i] as number, offsets[i + 1] as number);
    const start = skipSpace(completion, offsets[i] as number, end);
    spans.push({ start, end, text: completion.slice(start, end) });
  }
  return spans;
}

/** The first thing wrong with a completion's format; undefined if nothing is. */
function problemOf(format: AnswerFormat, thinking: Thinking, marks: Marks): string | undefined {
  if (format === "think_answer") {
    if (thinking.open) return "<think> is opened and never closed";
    if (!thinking.closed) return "the thinking is never closed: there is no </think>";
    // It may be missing, for a chat template may have put it at the end of the prompt.
    if (thinking.opened > 1) return `<think> is opened ${thinking.opened} times instead of once`;
  }
  if (marks.offsets.length > 0) return undefined;
  return thinking.open ? `${MISSING[format]}; <think> is opened and never closed` : MISSING[format];
}
