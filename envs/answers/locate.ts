/** Finds the marked answers of a completion, outside its thinking. The time is linear in the completion's length. */
import type { AnswerFormat } from "../prompt.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { doubtfulAnswer } from "./doubtful.ts";
import type { Range } from "./marks.ts";
import { scanBoxes, scanLines, type Scanner, scanTags } from "./scan.ts";
import { withPlainTags } from "./tags.ts";

/**
 * How much of its thinking a completion contains. The trainer sets this, because chat templates move or remove
 * thoughts.
 *
 * - required: all of it. The format `think_answer` needs a <think> and, after it, a </think>. The other formats need no
 * thinking, and skip it if it is there.
 * - prefilled: the prompt ends with <think>, so the completion begins within the thinking. Every format needs the
 * </think>, and counts nothing before it. A <think> is not needed.
 * - stripped: none of it, because the template removed it. No format needs a <think> or a </think>.
 *
 * In all three cases only the text after the last </think> counts. A <think> before that is part of the thinking. A
 * <think> after it that is never closed opens new thinking, in which no answer counts. Tags may be in any case and
 * contain blanks.
 */
export type Thinking = "required" | "prefilled" | "stripped";

const OPEN = "<think>";
const CLOSE = "</think>";

/** Where the thinking of a completion is. Offsets are in UTF-16 units. */
interface Thoughts {
  /** Start of the text in which answers count: after the last "</think>", or the start of the completion. */
  readonly start: number;
  /** End of the text in which answers count: at a "<think>" that is never closed, or the end of the completion. */
  readonly end: number;
  /** Whether the completion has a "</think>". */
  readonly closed: boolean;
  /** Whether a thinking block is still open at the end. */
  readonly open: boolean;
}

/** Returns where the thinking of a completion ends. */
export function locateThoughts(text: string, thinking: Thinking): Thoughts {
  // Without any tag, a search from the start is faster.
  const closed = text.includes(CLOSE);
  const start = closed ? text.lastIndexOf(CLOSE) + CLOSE.length : 0;
  if (!closed && thinking === "prefilled") return { start: text.length, end: text.length, closed, open: true };
  const reopened = text.indexOf(OPEN, start);
  return { start, end: reopened < 0 ? text.length : reopened, closed, open: reopened >= 0 };
}

/**
 * Marked answer with a closing mark. The offsets exclude its marks and outer white space. `text` equals
 * completion.slice(start, end).
 */
export interface LocatedSpan {
  /** Offset of the answer's first character, in UTF-16 units. */
  readonly start: number;
  /** Offset after the answer's last character, in UTF-16 units. */
  readonly end: number;
  readonly text: string;
}

/** The result of locating a completion's answers. */
export interface Located {
  /** Whether the completion follows its answer format and thus has an answer to parse. */
  readonly formatValid: boolean;
  /** Whether a thinking block or an answer mark is still open at the end, because generation stopped too early. */
  readonly truncated: boolean;
  /** The non-empty answers with a closing mark outside the thinking, in order. Only the last SPANS_MAX are kept. */
  readonly spans: readonly LocatedSpan[];
  /** Text of the last answer. Undefined if there is none. */
  readonly answer: string | undefined;
  /** The reason why there is no answer to parse. Undefined if there is one. */
  readonly problem: string | undefined;
  /** The likely answer if none is properly marked. It counts only if it is right (doubtful.ts). */
  readonly doubtful: LocatedSpan | undefined;
}

const SCANNERS: Readonly<Record<AnswerFormat, Scanner>> = {
  think_answer: scanTags,
  answer_line: scanLines,
  answer_tag: scanTags,
  boxed: scanBoxes,
};

const MISSING: Readonly<Record<AnswerFormat, string>> = {
  think_answer: "no closed <answer> block with an answer in it after the thinking",
  answer_line: "no line that starts with 'Answer:' and has an answer after it",
  answer_tag: "no closed <answer> block with an answer in it",
  boxed: "no closed \\boxed{} with an answer in it",
};

const NO_SPANS: readonly LocatedSpan[] = Object.freeze([]);

/**
 * Finds the answers of a completion in an answer format. Accepts any text and never throws. `wasCut` is true if
 * generation stopped at its length limit.
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

/**
 * Returns the result with its doubtful answer, if it has one, counted as an answer. A doubtful answer is one without
 * complete marks, e.g. after an <answer> that is never closed. `formatValid` stays unchanged.
 */
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
  "the thinking is never opened: there is no <think> before </think>; if the chat template puts it into the prompt, set thinking: prefilled";

/** Returns why the thinking does not fit the format and the mode of thinking; undefined if it fits. */
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

const CUT_SHORT = "the completion was cut at its length limit in an answer, which may be incomplete";

function missingWords(format: AnswerFormat, { open }: Thoughts, isCutShort: boolean): string {
  const why = open ? UNCLOSED : isCutShort ? CUT_SHORT : undefined;
  return why === undefined ? MISSING[format] : `${MISSING[format]}; ${why}`;
}
