/** A problem, an answer to it and the one that is expected, typeset. */
import type { Picture } from "../lib/picture/picture.ts";
import { type Paragraph, proseOf, type Run, runsOf } from "../lib/picture/prose.ts";

const WIDTH = 680;
const ANSWER_LENGTH_MAX = 1_000;

/** The label of a paragraph, and its text. */
export interface Part {
  readonly label: string;
  readonly runs: readonly Run[];
  /** Whether it is there only to be compared with. */
  readonly faint?: boolean;
}

export function drawParts(parts: readonly Part[]): Picture {
  const paragraphs = parts.map(({ label, runs, faint }): Paragraph => ({
    label,
    runs,
    className: faint ? "gd-soft" : "",
  }));
  return { ...proseOf(paragraphs, WIDTH), legend: [], notes: [] };
}

export function problemPart(problem: string): Part {
  return { label: "problem", runs: runsOf(problem) };
}

/** A letter next to another, and no command before them: words rather than a formula. */
const WORDS = /(?<![\\A-Za-z])[A-Za-z]{2,}/u;

/** An answer mostly is a formula, though no mark says so. */
export function answerPart(label: string, answer: string, faint = false): Part {
  const shown = answer.length > ANSWER_LENGTH_MAX ? `${answer.slice(0, ANSWER_LENGTH_MAX)} …` : answer;
  const isMarked = /\$|\\\(|\\\[/.test(shown);
  const isWords = WORDS.test(shown) && !shown.includes("\\");
  const runs: readonly Run[] = isMarked || isWords ? runsOf(shown) : [{ kind: "formula", tex: shown, display: false }];
  return { label, runs, faint };
}
