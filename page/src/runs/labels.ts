/** Places the labels of changes of a run (e.g. a new policy) above a chart, so that they do not overlap. */
import type { Mark } from "./series.ts";

/** Horizontal axis of a chart: its position in pixels, and the values at its two ends. */
export interface Axis {
  readonly left: number;
  readonly right: number;
  readonly from: number;
  readonly to: number;
}

export interface Label {
  /** Value of the horizontal axis at the label's middle. */
  readonly x: number;
  readonly words: string;
}

/** Mean width of a letter of a label, in pixels. */
const LETTER_PX = 6.2;
/** Minimum space between two labels, in pixels. */
const GAP_PX = 8;

interface Placed {
  readonly marks: readonly Mark[];
  readonly words: string;
  /** Start and end of the label, in pixels. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns labels for the marks, which must be in the order of the axis. Marks whose labels would overlap share a label,
 * e.g. "3 changes".
 */
export function labelsOf(marks: readonly Mark[], axis: Axis): readonly Label[] {
  const { left, right, from, to } = axis;
  const scale = (right - left) / Math.max(1e-9, to - from);
  const placedAt = (some: readonly Mark[]): Placed => {
    const words = wordsOf(some);
    const half = (words.length * LETTER_PX) / 2;
    const ends = [some[0], some.at(-1)].map((mark) => left + ((mark?.x ?? from) - from) * scale);
    const middle = ((ends[0] ?? left) + (ends[1] ?? left)) / 2;
    const inside = Math.max(half, Math.min(right + MARGIN_PX - half, middle));
    return { marks: some, words, start: inside - half, end: inside + half };
  };
  const placed: Placed[] = [];
  for (const mark of marks) {
    let next = placedAt([mark]);
    for (let last = placed.at(-1); last !== undefined && next.start < last.end + GAP_PX; last = placed.at(-1)) {
      placed.pop();
      next = placedAt([...last.marks, ...next.marks]);
    }
    placed.push(next);
  }
  return placed.map(({ start, end, words }) => ({ x: from + ((start + end) / 2 - left) / scale, words }));
}

/** Space to the right of the axis that a label may use, in pixels. */
const MARGIN_PX = 20;

function wordsOf(marks: readonly Mark[]): string {
  const [first] = marks;
  if (first === undefined) return "";
  if (marks.length === 1) return first.words;
  return marks.every(({ words }) => words === first.words)
    ? `${first.words} ×${marks.length}`
    : `${marks.length} changes`;
}
