/** Finds the marked answers of a completion, past its thinking. Time is linear in its length. */
import type { AnswerFormat } from "../prompt.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { doubtfulAnswer } from "./doubtful.ts";
import type { Range } from "./marks.ts";
import { scanBoxes, scanLines, type Scanner, scanTags } from "./scan.ts";
import { withPlainTags } from "./tags.ts";

/**
 * What of its thinking a completion holds; the trainer says so, for chat templates move thoughts elsewhere:
 *
 * - required: all of it. think_answer wants a <think> and, after it, a </think>; the other formats ask for no thinking,
 *   and pass over what there is.
 * - prefilled: the prompt ends with <think>, so that the completion begins in mid-thought. Every format wants the
 *   </think>, and counts nothing before it; a <think> is not wanted.
 * - stripped: none, the template took it away. No format wants a <think> or a </think>.
 *
 * In all three only the text after the last </think> counts, and a <think> before that is a thought like any other; one
 * after it that nothing closes opens new thinking, in which no answer counts. Tags may be in any case, and have blanks.
 */
export type Thinking = "required" | "prefilled" | "stripped";

const OPEN = "<think>";
const CLOSE = "</think>";

/** Where the thinking of a completion is. Offsets are UTF-16 units. */
interface Thoughts {
  /** Answers count from here, just past the last "</think>". */
  readonly start: number;
  /** Answers count up to here: a "<think>" that nothing closes, or the end of the text. */
  readonly end: number;
  /** Whether there is a "</think>". */
  readonly closed: boolean;
  /** Whether thinking is open at the end. */
  readonly open: boolean;
}

function locateThoughts(text: string, thinking: Thinking): Thoughts {
  // To search forward is the faster of the two where there is none.
  const closed = text.includes(CLOSE);
  const start = closed ? text.lastIndexOf(CLOSE) + CLOSE.length : 0;
  if (!closed && thinking === "prefilled") return { start: text.length, end: text.length, closed, open: true };
  const reopened = text.indexOf(OPEN, start);
  return { start, end: reopened < 0 ? text.length : reopened, closed, open: reopened >= 0 };
}

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
  /** Every closed answer outside the thinking that is not empty, in order; the last SPANS_MAX of them. */
  readonly spans: readonly LocatedSpan[];
  /** The text of the last of them. */
  readonly answer: string | undefined;
  /** Why there is no answer to read, in words; undefined: there is one. */
  readonly problem: string | undefined;
  /** Where there is none for want of whole marks: what may be meant. It counts only if it is right (doubtful.ts). */
  readonly doubtful: LocatedSpan | undefined;
}

const SCANNERS: Readonly<Record<AnswerFormat, Scanner>> = {
  think_answer: scanTags,
  answer_line: scanLines,
  answer_tag: scanTags,
  boxed: scanBoxes,
};

const MISSING: Readonly<Record<AnswerFormat, string>> = {
  think_answer: "no closed <answer> block after the thinking that is not empty",
  answer_line: "no line that starts with 'Answer:' and goes on with an answer",
  answer_tag: "no closed <answer> block that is not empty",
  boxed: "no closed \\boxed{} that is not empty",
};

const NO_SPANS: readonly LocatedSpan[] = Object.freeze([]);

/**
 * Finds the answers of a completion in an answer format. Any text is fine; nothing is thrown. `wasCut` says that generation
 * stopped at its length limit.
 */
export function locateAnswers(
  completion: string,
  format: AnswerFormat,
  thinking: Thinking = "required",
  wasCut = false,
): Located {
  const text = withPlainTags(completion);
  const thoughts = locateThoughts(text, thinking);
  const marks = SCANNERS[format](text, thoughts.start, thoughts.end, wasCut);
  const spans = marks.offsets.length === 0 ? NO_SPANS : toSpans(text, marks.offsets);
  const unthought = thoughtsProblem(text, format, thinking, thoughts);
  const problem =
    unthought ?? (spans.length > 0 ? undefined : missingWords(format, thoughts, wasCut && marks.open !== undefined));
  const isDoubtful = spans.length === 0 && unthought === undefined && !thoughts.open;
  const doubtful = isDoubtful ? doubtfulAnswer(text, format, thoughts, marks.open) : undefined;
  return {
    formatValid: problem === undefined,
    truncated: thoughts.open || marks.open !== undefined,
    spans,
    answer: spans.at(-1)?.text,
    problem,
    doubtful: doubtful && toSpan(text, doubtful),
  };
}

/** What was located, with the doubtful answer as the one that counts; the format stays as it was kept. */
export function trusting(located: Located): Located {
  const { doubtful } = located;
  return doubtful === undefined
    ? located
    : { ...located, spans: [doubtful], answer: doubtful.text, problem: undefined, doubtful: undefined };
}

function toSpans(text: string, offsets: readonly number[]): readonly LocatedSpan[] {
  const spans = new Array<LocatedSpan>(offsets.length / 2);
  for (let i = 0; i < spans.length; i++) {
    const from = offsets[2 * i] as number;
    const end = skipSpaceBack(text, from, offsets[2 * i + 1] as number);
    spans[i] = toSpan(text, { start: skipSpace(text, from, end), end });
  }
  return spans;
}

function toSpan(text: string, { start, end }: Range): LocatedSpan {
  return { start, end, text: text.slice(start, end) };
}

const UNCLOSED = "<think> is opened and never closed";
const NEVER_CLOSED = "the thinking is never closed: there is no </think>";
const NEVER_OPENED =
  "the thinking is never opened: there is no <think> before </think>; if the chat template puts it into the prompt, the task wants thinking: prefilled";

/** What is wrong with the thinking; undefined if nothing is. */
function thoughtsProblem(
  completion: string,
  format: AnswerFormat,
  thinking: Thinking,
  { start, closed, open }: Thoughts,
): string | undefined {
  if (thinking === "prefilled" && !closed) return NEVER_CLOSED;
  if (format !== "think_answer") return undefined;
  if (open) return UNCLOSED;
  if (thinking !== "required") return undefined;
  if (!closed) return NEVER_CLOSED;
  const opened = completion.indexOf(OPEN);
  return opened >= 0 && opened < start ? undefined : NEVER_OPENED;
}

const CUT_SHORT = "the completion was cut at its length limit in an answer, which may have gone on";

function missingWords(format: AnswerFormat, { open }: Thoughts, isCutShort: boolean): string {
  const why = open ? UNCLOSED : isCutShort ? CUT_SHORT : undefined;
  return why === undefined ? MISSING[format] : `${MISSING[format]}; ${why}`;
}
