/**
 * Draws the weights of the chosen items against the capacity, so that a person sees how far they exceed it, and which
 * items are more valuable.
 */
import type { Picture, Shape } from "../../envs/picture.ts";
import { type IndexList as Choice, sumAt } from "../../envs/lib/parse-lists.ts";
import { labelShapes, piecesOf, stacks, sumOfPieces } from "../lib/frame.ts";
import { isWithin, legendOf, noteOf, notesOf, tally, type Tally } from "../lib/picture.ts";
import { path, rect, segment, text } from "../lib/svg.ts";
import type { KnapsackInstance } from "../../envs/np/knapsack/generate.ts";

const WIDTH = 900;
const LEFT = 10;
const BARS = 190;

export function draw(instance: KnapsackInstance, choice?: Choice, best?: Choice): Picture {
  const { capacity, weights, values } = instance;
  const chosen = tally(choice ?? [], weights.length);
  const pieces = piecesOf(choice ?? [], weights, "index", "gd-f0");
  const all = sumAt(weights, [...weights.keys()]);
  const scale = (WIDTH - 2 * LEFT) / Math.max(all, capacity, sumOfPieces(pieces));
  const repeated = chosen.distinct.filter((item) => (chosen.times[item] as number) > 1);
  const bestOnly = new Set((best ?? []).filter((item) => chosen.times[item] === 0));
  const { shapes, line, bottom } = stacks({
    rows: [
      [caption("Chosen", choice ?? []), pieces],
      ...(best ? [[caption("A best choice", best), piecesOf(best, weights, "index", "gd-f6")] as const] : []),
    ],
    left: LEFT,
    top: BARS + 84,
    scale,
    limit: capacity,
    words: "capacity",
    width: WIDTH,
  });

  function caption(words: string, items: Choice): string {
    const real = items.filter((item) => isWithin(item, weights.length));
    return `${words}: weight ${sumAt(weights, real)}, value ${sumAt(values, real)}`;
  }

  return {
    width: WIDTH,
    height: bottom,
    shapes: [
      text(
        LEFT,
        12,
        "gd-text",
        "All items, the most valuable for their weight first: width is weight, height is value per weight, area is value.",
      ),
      ...itemShapes(instance, chosen, bestOnly, scale),
      ...shapes,
      ...line,
    ],
    legend: legendOf(
      [chosen.distinct.length > 0, "box", "gd-f0", "chosen"],
      [chosen.distinct.length < weights.length, "box", "gd-plain", "not chosen"],
      [
        sumOfPieces(pieces) > capacity || repeated.length > 0,
        "hatch",
        "gd-hatch",
        "beyond the capacity, or listed before",
      ],
      [bestOnly.size > 0, "box", "gd-f6", "in a best choice"],
    ),
    notes: notesOf(noteOf("Items that do not exist", chosen.outside), noteOf("Listed more than once", repeated)),
  };
}

/** Draws each item as wide as its weight and as high as its value per weight. */
function itemShapes(
  { weights, values }: KnapsackInstance,
  chosen: Tally,
  bestOnly: ReadonlySet<number>,
  scale: number,
): readonly Shape[] {
  const ratio = (item: number): number => (values[item] as number) / (weights[item] as number);
  const order = [...weights.keys()].sort((a, b) => ratio(b) - ratio(a) || a - b);
  const highest = Math.max(1e-9, ...order.map(ratio));
  const bottom = BARS + 14;
  let x = LEFT;
  const shapes = order.flatMap((item) => {
    const width = (weights[item] as number) * scale;
    const height = ((BARS - 14) * ratio(item)) / highest;
    const isChosen = (chosen.times[item] as number) > 0;
    const className = isChosen ? "gd-f0" : bestOnly.has(item) ? "gd-f6" : "gd-plain";
    const start = x;
    x += width;
    return [
      rect(start + 0.5, bottom - height, Math.max(0.5, width - 1), height, className),
      ...labelShapes(`${item}`, start + width / 2, bottom + 9, width),
    ];
  });
  return [...shapes, path([segment(LEFT, bottom, x, bottom)], "gd-axis")];
}
