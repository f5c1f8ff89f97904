/**
 * Finds all marked answers of a completion, including those within the thinking. Used to find a completion's first
 * correct answer, the "commit" (Curriculum RLOO 3.3). The marks are those of scan.ts, which returns only the last
 * answers. The time is linear in the text's length.
 */
import type { AnswerFormat } from "../prompt.ts";
import { assertNever } from "../lib/assert-never.ts";
import { skipSpace, skipSpaceBack } from "../lib/text.ts";
import { type Boxes, BOX_START, CLOSE, holdsAnswer, lineAnswers, OPEN, scanBox } from "./scan.ts";
import { withPlainTags } from "./tags.ts";

/** A marked answer. Offsets are UTF-16 units. */
export interface MarkedAnswer {
  /** Start of the answer's text, without marks and outer white space. */
  readonly start: number;
  readonly end: number;
  /** Offset after the answer's closing mark, or after its line. */
  readonly markedEnd: number;
}

/** Returns all marked answers in order. `wasCut` is true if generation stopped at its length limit. */
export function scanAll(completion: string, format: AnswerFormat, wasCut: boolean): readonly MarkedAnswer[] {
  const text = withPlainTags(completion);
  switch (format) {
    case "think_answer":
    case "answer_tag":
      return allTags(text);
    case "answer_line":
      return allLines(text, wasCut);
    case "boxed":
      return allBoxes(text);
    default:
      return assertNever(format);
  }
}

function marked(text: string, start: number, end: number, markedEnd: number): MarkedAnswer {
  const until = skipSpaceBack(text, start, end);
  return { start: skipSpace(text, start, until), end: until, markedEnd };
}

/** Finds each opening tag with the next closing tag, if no other tag is between them. */
function allTags(text: string): readonly MarkedAnswer[] {
  const found: MarkedAnswer[] = [];
  let open = text.indexOf(OPEN);
  while (open >= 0) {
    const close = text.indexOf(CLOSE, open);
    if (close < 0) break;
    // If several opening tags precede a closing tag, the last one counts, but the search finds the first.
    const start = text.lastIndexOf(OPEN, close) + OPEN.length;
    const past = close + CLOSE.length;
    if (holdsAnswer(text, start, close)) found.push(marked(text, start, close, past));
    open = text.indexOf(OPEN, past);
  }
  return found;
}

function allLines(text: string, wasCut: boolean): readonly MarkedAnswer[] {
  const answers = lineAnswers(text, 0, text.length, wasCut);
  return answers.map(({ start, end }) => marked(text, start, end, end));
}

function allBoxes(text: string): readonly MarkedAnswer[] {
  const found: Boxes = { offsets: [], tokens: 0 };
  BOX_START.lastIndex = 0;
  while (BOX_START.test(text)) {
    const after = scanBox(text, BOX_START.lastIndex, text.length, found);
    if (after < 0) break;
    BOX_START.lastIndex = after;
  }
  const answers: MarkedAnswer[] = [];
  for (let i = 0; i < found.offsets.length; i += 2) {
    const end = found.offsets[i + 1] as number;
    answers.push(marked(text, found.offsets[i] as number, end, end + 1));
  }
  return answers;
}
