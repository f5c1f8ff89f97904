/** Finds the marked answers of a completion behind its thinking. The time is linear in the completion's length. */
import type { AnswerFormat } from "../prompt.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { doubtfulAnswer } from "./doubtful.ts";
import type { Range } from "./marks.ts";
import { scanBoxes, scanLines, type Scanner, scanTags } from "./scan.ts";
import { withPlainTags } from "./tags.ts";

/**
 * How much of its thinking a completion holds. The trainer says so, because chat templates move thoughts elsewhere.
 *
 * - required: all of it. `think_answer` needs a <think> and, after it, a </think>. The other formats need no thinking,
 *   and skip it if it is there.
 * - prefilled: the prompt ends with <think>, so that the completion begins within the thinking. Every format needs the
 *   </think> and counts nothing before it. A <think> is not needed.
 * - stripped: none, because the template removed it. No format needs a <think> or a </think>.
 *
 * In all three cases only the text after the last </think> counts. A <think> before it is part of the thinking. A
 * <think> after it that nothing closes opens new thinking, in which no answer counts. Tags may be in any case and
 * contain blanks.
 */
export type Thinking = "required" | "prefilled" | "stripped";

const OPEN = "<think>";
const CLOSE = "</think>";

/** The thinking of a completion. Offsets are UTF-16 units. */
interface Thoughts {
  /** Start of the part that may hold answers: just behind the last "</think>". */
  readonly start: number;
  /** End of the part that may hold answers: a "<think>" that nothing closes, or the end of the text. */
  readonly end: number;
  /** Whether there is a "</think>". */
  readonly closed: boolean;
  /** Whether thinking is open at the end. */
  readonly open: boolean;
}

/** Returns where the thinking of a completion ends. */
export function locateThoughts(text: string, thinking: Thinking): Thoughts {
  // If there is no tag, a forward search is faster.
  const closed = text.includes(CLOSE);
  const start = closed ? text.lastIndexOf(CLOSE) + CLOSE.length : 0;
  if (!closed && thinking === "prefilled") return { start: text.length, end: text.length, closed, open: true };
  const reopened = text.indexOf(OPEN, start);
  return { start, end: reopened < 0 ? text.length : reopened, closed, open: reopened >= 0 };
}

/** A closed, marked answer: completion.slice(start, end), without its marks and outer white space. */
export interface LocatedSpan {
  /** Offsets in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The result of locating a completion's answers. */
export interface Located {
  /** Whether the completion follows its answer format, so that there is an answer to read. */
  readonly formatValid: boolean;
  /** Whether a thinking or answer mark is open at the end, i.e. the completion was cut. */
  readonly truncated: boolean;
  /** The closed, non-empty answers outside the thinking, in order. Only the last SPANS_MAX are kept. */
  readonly spans: readonly LocatedSpan[];
  /** The text of the last answer. */
  readonly answer: string | undefined;
  /** The reason why there is no answer to read. Undefined if there is one. */
  readonly problem: string | undefined;
  /** If no answer is properly marked, the likely one. It counts only if it is right (doubtful.ts). */
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
 * Finds the answers of a completion in an answer format. Accepts any text and never throws. `wasCut` says that
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
 * Returns the result with the doubtful answer as the one that counts. Whether the format was followed stays as it was.
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
  "the thinking is never opened: there is no <think> before </think>; if the chat template puts it into the prompt, the task wants thinking: prefilled";

/** Returns what is wrong with the thinking. Undefined if nothing is. */
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
