/** Numbers laid end to end against the target, so that a person sees by how much they miss it, or how few they are. */
import type { Picture, Shape } from "../../envs/picture.ts";
import type { IndexList as Subset } from "../../envs/lib/lists.ts";
import { labelShapes, limitShapes, type Piece, stackShapes, sumOfPieces } from "../lib/frame.ts";
import { isWithin, legendOf, noteOf, notesOf, tally } from "../lib/picture.ts";
import { hatching, path, rect, segment, text } from "../lib/svg.ts";
import type { SubsetSumInstance } from "../../envs/np/subset-sum/generate.ts";

const WIDTH = 760;
const LEFT = 10;
const BARS = 130;
const STACK = 34;
const ROW = STACK + 26;

export function draw(instance: SubsetSumInstance, subset?: Subset, best?: Subset): Picture {
  const { target, numbers } = instance;
  const chosen = tally(subset ?? [], numbers.length);
  const pieces = piecesOf(instance, subset ?? [], "gd-f0");
  const sum = sumOfPieces(pieces);
  const scale = (WIDTH - 2 * LEFT) / (Math.max(target, sum, 1) * 1.08);
  const repeated = chosen.distinct.filter((index) => (chosen.times[index] as number) > 1);
  const top = BARS + 92;
  const rows: readonly (readonly [string, readonly Piece[]])[] = [
    [`Chosen: ${pieces.length} numbers, sum ${sum}`, pieces],
    ...(best === undefined
      ? []
      : [[`A best choice: ${best.length} numbers`, piecesOf(instance, best, "gd-f6")] as const]),
  ];
  const bottom = top + rows.length * ROW;
  const short = subset !== undefined && sum < target;
  return {
    width: WIDTH,
    height: bottom,
    shapes: [
      text(LEFT, 12, "gd-text", "The numbers by index: those chosen are filled."),
      ...columnShapes(instance, chosen.times),
      ...rows.flatMap(([words, row], i) => [
        text(LEFT, top + i * ROW - 6, "gd-text", words),
        ...stackShapes({ pieces: row, left: LEFT, top: top + i * ROW, height: STACK, scale, limit: target }),
      ]),
      ...(short ? [path(hatching(LEFT + sum * scale, top, (target - sum) * scale, STACK), "gd-hatch")] : []),
      ...limitShapes({
        x: LEFT + target * scale,
        // Not through the words above a row.
        spans: rows.map((_, i) => [top - 4 + i * ROW, top + STACK + 4 + i * ROW] as const),
        words: `target ${target}`,
        top: BARS + 53,
        width: WIDTH,
      }),
    ],
    legend: legendOf(
      [chosen.distinct.length > 0, "box", "gd-f0", "chosen"],
      [chosen.distinct.length < numbers.length, "box", "gd-plain", "not chosen"],
      [short, "hatch", "gd-hatch", "what is lacking to the target"],
      [sum > target, "hatch", "gd-hatch", "beyond the target"],
      [best !== undefined, "box", "gd-f6", "a best choice"],
    ),
    notes: notesOf(noteOf("Indices that do not exist", chosen.outside), noteOf("Listed more than once", repeated)),
  };
}

/** The numbers chosen that exist, in the order listed. */
function piecesOf({ numbers }: SubsetSumInstance, subset: Subset, className: string): readonly Piece[] {
  const seen = new Set<number>();
  return subset.flatMap((index) => {
    if (!isWithin(index, numbers.length)) return [];
    const wrong = seen.has(index);
    seen.add(index);
    const amount = numbers[index] as number;
    return [
      { amount, label: `${amount}`, className, onClass: className === "gd-f0" ? "gd-on-dark" : "gd-on-light", wrong },
    ];
  });
}

/** A column for each number, by index. */
function columnShapes({ numbers }: SubsetSumInstance, times: Uint16Array): readonly Shape[] {
  const step = Math.min(36, (WIDTH - 2 * LEFT) / numbers.length);
  const highest = Math.max(1, ...numbers);
  const bottom = BARS + 24;
  const shapes = Array.from(numbers, (number, index) => {
    const x = LEFT + index * step;
    const height = ((BARS - 20) * number) / highest;
    const middle = x + step / 2;
    const column = rect(
      x + 1,
      bottom - height,
      Math.max(0.5, step - 2),
      height,
      times[index] === 0 ? "gd-plain" : "gd-f0",
    );
    return [
      column,
      ...labelShapes(`${number}`, middle, bottom - height - 8, step),
      ...labelShapes(`${index}`, middle, bottom + 9, step, "gd-soft"),
    ];
  });
  return [...shapes.flat(), path([segment(LEFT, bottom, LEFT + numbers.length * step, bottom)], "gd-axis")];
}
