/**
 * Draws the given sequence, the answer and the correct result below each other, digit by digit, so that a person sees
 * the differences.
 */
import type { Picture, Shape } from "../envs/picture.ts";
import type { SequenceInstance } from "../envs/sequence/generate.ts";
import type { Digits } from "../envs/sequence/rules.ts";
import { legendOf, notesOf } from "./lib/picture.ts";
import { rect, text } from "./lib/svg.ts";

const CELL = 26;
const LEFT = 70;
const ROW = 36;
/** Maximum number of digits shown of an answer. A longer answer is cut. */
const SHOWN_MAX = 80;

export function draw({ sequence }: SequenceInstance, answer?: Digits, best?: Digits): Picture {
  const shown = answer?.slice(0, SHOWN_MAX) ?? [];
  const isRight = (i: number): boolean => shown[i] === best?.[i];
  const judged = (i: number): string => (isRight(i) ? "gd-f0" : "gd-wrong");
  const rows: readonly (readonly [title: string, digits: Digits, classOf: (i: number) => string])[] = [
    ["given", sequence, () => "gd-plain"],
    ...(answer === undefined ? [] : [["answer", shown, best === undefined ? () => "gd-plain" : judged] as const]),
    ...(best === undefined ? [] : [["result", best, () => "gd-f6"] as const]),
  ];
  const longest = Math.max(1, ...rows.map(([, digits]) => digits.length));
  const cut = (answer?.length ?? 0) - shown.length;
  return {
    width: LEFT + longest * CELL + 10,
    height: rows.length * ROW,
    shapes: rows.flatMap(([title, digits, classOf], row) => rowShapes(title, digits, classOf, row * ROW)),
    legend: legendOf(
      [best !== undefined && shown.some((_, i) => isRight(i)), "box", "gd-f0", "a right digit"],
      [best !== undefined && shown.some((_, i) => !isRight(i)), "box", "gd-wrong", "a wrong digit"],
      [best !== undefined, "box", "gd-f6", "the right result"],
    ),
    notes: notesOf(cut > 0 ? `${cut} more digits of the answer are left out.` : undefined),
  };
}

function rowShapes(title: string, digits: Digits, classOf: (i: number) => string, top: number): readonly Shape[] {
  return [
    text(LEFT - 10, top + 18, "gd-end", title),
    ...digits.flatMap((digit, i) => [
      rect(LEFT + i * CELL, top, CELL - 3, ROW - 8, classOf(i)),
      text(LEFT + i * CELL + (CELL - 3) / 2, top + (ROW - 8) / 2, labelOf(classOf(i)), writtenIn(digit)),
    ]),
  ];
}

/** Returns the CSS class of text that is readable on a cell of this class. */
function labelOf(className: string): string {
  if (className === "gd-f0") return "gd-on-dark";
  return className === "gd-f6" ? "gd-on-light" : "gd-label";
}

/** Returns the text of a cell, shortened because an answer may hold numbers of many digits. */
function writtenIn(digit: number): string {
  const words = `${digit}`;
  return words.length <= 3 ? words : `${words.slice(0, 2)}…`;
}
