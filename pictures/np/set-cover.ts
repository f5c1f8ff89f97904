/** Draws subsets against elements, so that a person sees which elements the chosen subsets leave out. */
import type { Picture, Shape } from "../../envs/picture.ts";
import { hasBit, onesOf } from "../../envs/lib/bit-matrix.ts";
import type { IndexList as Cover } from "../../envs/lib/parse-lists.ts";
import { legendOf, noteOf, notesOf, tally, timesText } from "../lib/picture.ts";
import { path, rect, shape, square, text } from "../lib/svg.ts";
import type { SetCoverInstance } from "../../envs/np/set-cover/generate.ts";

const CELL = 17;
const LEFT = 76;
const TOP = 30;

export function draw({ subsets }: SetCoverInstance, cover?: Cover, best: Cover = []): Picture {
  const { rows, columns } = subsets;
  const { times, outside, distinct } = tally(cover ?? [], rows);
  const coverings = Array.from({ length: columns }, (_, element) => coveringsOf(element));
  const uncovered = cover === undefined ? [] : [...coverings.keys()].filter((element) => coverings[element] === 0);
  const lacking = new Set(best.filter((subset) => times[subset] === 0));
  const height = TOP + rows * CELL + (cover === undefined ? 4 : 2 * CELL);
  const [right, bottom] = [LEFT + columns * CELL, TOP + rows * CELL];

  function coveringsOf(element: number): number {
    return distinct.filter((subset) => hasBit(subsets, subset, element)).length;
  }

  function row(subset: number): readonly Shape[] {
    const y = TOP + subset * CELL;
    const count = times[subset] as number;
    const cells = onesOf(subsets, subset).map((element) => square(LEFT + element * CELL + 2, y + 2, CELL - 4));
    const name = text(LEFT - 8, y + 13, count > 1 ? "gd-end gd-bad" : "gd-end", `${timesText(count) ?? ""} ${subset}`);
    return [
      ...(count > 0 ? [rect(LEFT, y, columns * CELL, CELL, "gd-band")] : []),
      ...(lacking.has(subset) ? [rect(LEFT, y + 0.5, columns * CELL, CELL - 1, "gd-best")] : []),
      ...(cells.length === 0 ? [] : [path(cells, count > 0 ? "gd-f0" : "gd-cell")]),
      name,
    ];
  }

  return {
    width: right + 4,
    height,
    shapes: [
      text(LEFT - 8, TOP - 8, "gd-end gd-soft", "element"),
      ...coverings.map((_, e) => text(LEFT + (e + 0.5) * CELL, TOP - 12, "gd-label", `${e}`)),
      shape("g", {}, Array.from({ length: rows }, (_, subset) => row(subset)).flat()),
      ...uncovered.map((element) => rect(LEFT + element * CELL, 1, CELL, bottom + CELL, "gd-missing")),
      ...(cover === undefined ? [] : countShapes(coverings, bottom)),
    ],
    legend: legendOf(
      [cover !== undefined, "box", "gd-cell", "element of a subset"],
      [distinct.length > 0, "box", "gd-f0", "element of a chosen subset"],
      [uncovered.length > 0, "box", "gd-missing", "element in no chosen subset"],
      [lacking.size > 0, "box", "gd-best", "in a best cover, and not chosen"],
    ),
    notes: notesOf(
      noteOf("Subsets that do not exist", outside),
      noteOf(
        "Listed more than once",
        distinct.filter((subset) => (times[subset] as number) > 1),
      ),
      noteOf("Chosen, but the others hold all their elements", idle()),
    ),
  };

  /** Returns the chosen subsets that are needless, because the other chosen subsets hold all their elements. */
  function idle(): readonly number[] {
    return distinct.filter((subset) => onesOf(subsets, subset).every((element) => (coverings[element] as number) > 1));
  }
}

/** Draws, below each element, the number of chosen subsets that hold it. */
function countShapes(coverings: readonly number[], bottom: number): readonly Shape[] {
  return [
    text(LEFT - 8, bottom + 13, "gd-end gd-soft", "held by"),
    ...coverings.map((count, element) =>
      text(LEFT + (element + 0.5) * CELL, bottom + 9, count === 0 ? "gd-label gd-bad" : "gd-label", `${count}`),
    ),
  ];
}
