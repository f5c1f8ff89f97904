/** Looks for a commit: the first right answer of a completion, wherever it stands (Curriculum RLOO 3.3). */
import { type MarkedAnswer, scanAll } from "./answers/scan-all.ts";
import { SPANS_MAX } from "./answers/scan.ts";
import type { AnswerFormat } from "./prompt.ts";
import { codePointOffsets, skipSpaceBack } from "./lib/text.ts";
import type { Findings } from "./facts.ts";

/** One answer of a scanned completion; offsets are Unicode code points. */
export interface ScannedSpan {
  readonly start: number;
  readonly end: number;
  /** Past its closing mark. */
  readonly markedEnd: number;
  readonly findings: Findings;
}

export interface ScannedCompletion {
  /** Answers in all of it, also those that were not verified. */
  readonly answers: number;
  /** Its length, code points. */
  readonly length: number;
  /** Whether there is a commit, or no answer that could be one is left unverified. */
  readonly complete: boolean;
  /** In order: the commit, if there is one, and the last of the others, SPANS_MAX together at most. */
  readonly spans: readonly ScannedSpan[];
  /** Undefined: none of the answers that were verified is right. */
  readonly commit:
    | {
        /** Which of the answers, and which of the spans, from 0. */
        readonly answer: number;
        readonly span: number;
        /** Past its closing mark, code points. */
        readonly end: number;
        /** Whether more than white space follows it. */
        readonly goesOn: boolean;
      }
    | undefined;
}

export interface CommitTask {
  readonly format: AnswerFormat;
  /** Whether generation stopped at its length limit. */
  readonly wasCut: boolean;
  /** An answer that counts though its marks are not whole, where it does; it comes last. */
  readonly unmarked: MarkedAnswer | undefined;
  /** Answers that are verified to find the commit, from the first on. */
  readonly answersMax: number;
  readonly examine: (text: string) => Findings;
  readonly isRight: (findings: Findings) => boolean;
}

/** Verifies the answers in order up to the first right one; after it only those that are told of. */
export function scanCompletion(
  completion: string,
  { format, wasCut, unmarked, answersMax, examine, isRight }: CommitTask,
): ScannedCompletion {
  const marked = scanAll(completion, format, wasCut);
  const all = unmarked === undefined ? marked : [...marked, unmarked];
  const known = new Map<number, Findings>();
  const findingsOf = (i: number): Findings => {
    const found = known.get(i) ?? examine(completion.slice(all[i]!.start, all[i]!.end));
    known.set(i, found);
    return found;
  };
  let first = -1;
  for (let i = 0; i < Math.min(all.length, answersMax) && first < 0; i++) if (isRight(findingsOf(i))) first = i;
  const lastOnes = Math.max(0, all.length - SPANS_MAX);
  const told =
    first >= 0 && first < lastOnes ? [first, ...indices(lastOnes + 1, all.length)] : indices(lastOnes, all.length);
  const offsets = codePointOffsets(completion, [
    ...told.flatMap((i) => [all[i]!.start, all[i]!.end, all[i]!.markedEnd]),
    completion.length,
  ]);
  const spans = told.map((i, at) => ({
    start: offsets[3 * at]!,
    end: offsets[3 * at + 1]!,
    markedEnd: offsets[3 * at + 2]!,
    findings: findingsOf(i),
  }));
  const span = told.indexOf(first);
  const past = all[first]?.markedEnd ?? 0;
  const goesOn = skipSpaceBack(completion, past, completion.length) > past;
  const commit = span < 0 ? undefined : { answer: first, span, end: spans[span]!.markedEnd, goesOn };
  const complete = first >= 0 || all.length <= answersMax;
  return { answers: all.length, length: offsets.at(-1)!, complete, spans, commit };
}

function indices(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
