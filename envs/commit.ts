/** Finds the commit of a completion: its first correct answer, even within the thinking (Curriculum RLOO 3.3). */
import { type MarkedAnswer, scanAll } from "./answers/scan-all.ts";
import { SPANS_MAX } from "./answers/scan.ts";
import type { AnswerFormat } from "./prompt.ts";
import { codePointOffsets, skipSpaceBack } from "./lib/text.ts";
import type { Findings } from "./facts.ts";

/** One answer of a scanned completion. Offsets count Unicode code points. */
export interface ScannedSpan {
  readonly start: number;
  readonly end: number;
  /** Offset after the answer's closing mark, in code points. */
  readonly markedEnd: number;
  readonly findings: Findings;
}

export interface ScannedCompletion {
  /** Number of answers in the whole completion, including the answers that were not verified. */
  readonly answers: number;
  /** Length of the completion, in code points. */
  readonly length: number;
  /**
   * True if the search for the commit is decided: a correct answer was found, or all answers were verified and none is
   * correct. False if `answersMax` ended the search.
   */
  readonly complete: boolean;
  /**
   * Last answers of the completion, at most SPANS_MAX, in the order of the text. An earlier commit (first correct
   * answer) takes the place of the first of these.
   */
  readonly spans: readonly ScannedSpan[];
  /** First correct answer. Undefined if none of the verified answers is correct. */
  readonly commit:
    | {
        /** Index of the commit, i.e. of the first correct answer, among all answers of the completion, from 0. */
        readonly answer: number;
        /** Index of the commit in `spans`. */
        readonly span: number;
        /** Offset after the commit's closing mark, in code points. */
        readonly end: number;
        /** True if text other than white space follows the commit. */
        readonly goesOn: boolean;
      }
    | undefined;
}

export interface CommitTask {
  readonly format: AnswerFormat;
  /** True if generation stopped at its length limit. */
  readonly wasCut: boolean;
  /** Answer that counts although its marks are incomplete, if there is one. It is the last answer of the completion. */
  readonly unmarked: MarkedAnswer | undefined;
  /** Maximum number of answers to verify in search of the commit, counted from the first answer. */
  readonly answersMax: number;
  readonly examine: (text: string) => Findings;
  readonly isRight: (findings: Findings) => boolean;
}

/**
 * Verifies the first `answersMax` answers of a completion in order until one is correct. Also verifies every answer
 * that `spans` of the result reports.
 */
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
  const reported =
    first >= 0 && first < lastOnes ? [first, ...indices(lastOnes + 1, all.length)] : indices(lastOnes, all.length);
  const offsets = codePointOffsets(completion, [
    ...reported.flatMap((i) => [all[i]!.start, all[i]!.end, all[i]!.markedEnd]),
    completion.length,
  ]);
  const spans = reported.map((i, at) => ({
    start: offsets[3 * at]!,
    end: offsets[3 * at + 1]!,
    markedEnd: offsets[3 * at + 2]!,
    findings: findingsOf(i),
  }));
  const span = reported.indexOf(first);
  const past = all[first]?.markedEnd ?? 0;
  const goesOn = skipSpaceBack(completion, past, completion.length) > past;
  const commit = span < 0 ? undefined : { answer: first, span, end: spans[span]!.markedEnd, goesOn };
  const complete = first >= 0 || all.length <= answersMax;
  return { answers: all.length, length: offsets.at(-1)!, complete, spans, commit };
}

function indices(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
