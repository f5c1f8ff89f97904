/** Draws maths tasks with typeset formulas: the problem, the answer, and the expected answer if it differs. */
import type { Picture } from "../envs/picture.ts";
import type { ArithmeticInstance } from "../envs/math/arithmetic/generate.ts";
import { texOf } from "../envs/math/arithmetic/expression.ts";
import type { ArithmeticAnswer } from "../envs/math/arithmetic/verify.ts";
import type { MathInstance } from "../envs/math/instance.ts";
import { type LinearInstance, texsOf } from "../envs/math/linear/statement.ts";
import { format, type LinearAnswer } from "../envs/math/linear/verify.ts";
import { compareMath, type MathAnswer, readMath } from "../envs/math/value.ts";
import { type Paragraph, proseOf, type Run, runsOf } from "./lib/prose.ts";

const WIDTH = 680;
const ANSWER_LENGTH_MAX = 1_000;

/** Labelled paragraph of the picture, e.g. the answer. */
interface Part {
  readonly label: string;
  readonly runs: readonly Run[];
  /** True if the part is shown only for comparison, in a softer colour. */
  readonly faint?: boolean;
}

function drawParts(...parts: readonly (Part | undefined)[]): Picture {
  const shown = parts.filter((part) => part !== undefined);
  const paragraphs = shown.map(({ label, runs, faint }): Paragraph => ({
    label,
    runs,
    className: faint ? "gd-soft" : "",
  }));
  return { ...proseOf(paragraphs, WIDTH), legend: [], notes: [] };
}

/** Matches two adjacent letters that belong to no TeX command. A text with them is words rather than a formula. */
const WORDS = /(?<![\\A-Za-z])[A-Za-z]{2,}/u;

/**
 * Returns an answer as a labelled part of the picture. An answer without delimiters of formulas, such as dollars, is
 * drawn as one formula unless it contains words.
 */
function answerPart(label: string, answer: string, faint = false): Part {
  const shown = answer.length > ANSWER_LENGTH_MAX ? `${answer.slice(0, ANSWER_LENGTH_MAX)} …` : answer;
  const isMarked = /\$|\\\(|\\\[/.test(shown);
  const isWords = WORDS.test(shown) && !shown.includes("\\");
  const runs: readonly Run[] = isMarked || isWords ? runsOf(shown) : [{ kind: "formula", tex: shown, display: false }];
  return { label, runs, faint };
}

/** Draws a problem and an answer. The expected answer is added if the given answer is not equal to it. */
export function drawMath({ problem, answer: gold }: MathInstance, answer?: MathAnswer): Picture {
  const asked: Part = { label: "problem", runs: runsOf(problem) };
  if (answer === undefined) return drawParts(asked);
  const expected = readMath(gold);
  const isEqual = expected.kind === "answer" && compareMath(expected.answer, answer).kind === "equal";
  return drawParts(asked, answerPart("answer", answer.text), isEqual ? undefined : answerPart("expected", gold, true));
}

export function drawArithmetic(
  { expression }: ArithmeticInstance,
  answer?: ArithmeticAnswer,
  best?: ArithmeticAnswer,
): Picture {
  return drawParts(
    { label: "expression", runs: [{ kind: "formula", tex: texOf(expression), display: true }] },
    answer && answerPart("answer", answer.values.join(", ")),
    best && answerPart("right", best.values.join(", "), true),
  );
}

export function drawLinear(instance: LinearInstance, answer?: LinearAnswer, best?: LinearAnswer): Picture {
  const lines = texsOf(instance).map((tex) => tex.replace(/ (=|<|>|\\le|\\ge) /, " &$1 "));
  const tex = `\\begin{aligned}${lines.join("\\\\")}\\end{aligned}`;
  return drawParts(
    { label: lines.length > 1 ? "equations" : "to solve", runs: [{ kind: "formula", tex, display: true }] },
    answer && answerPart("answer", format(answer)),
    best && answerPart("right", format(best), true),
  );
}
