/**
 * Draws numbers laid end to end against the target, so that a person sees how far the sum misses it, or how few numbers
 * are used.
 */
import type { Picture, Shape } from "../../envs/picture.ts";
import type { IndexList as Subset } from "../../envs/lib/parse-lists.ts";
import { labelShapes, piecesOf, STACK, stacks, sumOfPieces } from "../lib/frame.ts";
import { legendOf, noteOf, notesOf, tally } from "../lib/picture.ts";
import { hatching, path, rect, segment, text } from "../lib/svg.ts";
import type { SubsetSumInstance } from "../../envs/np/subset-sum/generate.ts";

const WIDTH = 760;
const LEFT = 10;
const BARS = 130;

export function draw(instance: SubsetSumInstance, subset?: Subset, best?: Subset): Picture {
  const { target, numbers } = instance;
  const chosen = tally(subset ?? [], numbers.length);
  const pieces = piecesOf(subset ?? [], numbers, "amount", "gd-f0");
  const sum = sumOfPieces(pieces);
  const scale = (WIDTH - 2 * LEFT) / (Math.max(target, sum, 1) * 1.08);
  const repeated = chosen.distinct.filter((index) => (chosen.times[index] as number) > 1);
  const top = BARS + 92;
  const others = best && piecesOf(best, numbers, "amount", "gd-f6");
  const { shapes, line, bottom } = stacks({
    rows: [
      [`Chosen: ${pieces.length} numbers, sum ${sum}`, pieces],
      ...(others === undefined ? [] : [[`A best choice: ${others.length} numbers`, others] as const]),
    ],
    left: LEFT,
    top,
    scale,
    limit: target,
    words: "target",
    width: WIDTH,
  });
  const short = subset !== undefined && sum < target;
  return {
    width: WIDTH,
    height: bottom,
    shapes: [
      text(LEFT, 12, "gd-text", "The numbers by index: those chosen are filled."),
      ...columnShapes(instance, chosen.times),
      ...shapes,
      ...(short ? [path(hatching(LEFT + sum * scale, top, (target - sum) * scale, STACK), "gd-hatch")] : []),
      ...line,
    ],
    legend: legendOf(
      [chosen.distinct.length > 0, "box", "gd-f0", "chosen"],
      [chosen.distinct.length < numbers.length, "box", "gd-plain", "not chosen"],
      [short, "hatch", "gd-hatch", "what is lacking to the target"],
      [sum > target || repeated.length > 0, "hatch", "gd-hatch", "beyond the target, or listed before"],
      [best !== undefined, "box", "gd-f6", "a best choice"],
    ),
    notes: notesOf(noteOf("Indices that do not exist", chosen.outside), noteOf("Listed more than once", repeated)),
  };
}

/** Draws each number as a column, in the order of the task. Columns of chosen numbers are filled. */
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
