/** Draws a tour over cities placed by their distances, so that a person sees long steps and cities visited twice. */
import type { Picture, Shape } from "../../envs/picture.ts";
import { edgeShapes, type Pair, PLAIN_VERTEX, stepsOf, vertexShapes } from "../lib/graph.ts";
import { boxFor, embed, fitted, spread } from "../lib/layout.ts";
import { legendOf, noteOf, notesOf, tally, timesText } from "../lib/picture.ts";
import { rect, text } from "../lib/svg.ts";
import { distanceBetween, type TspInstance } from "../../envs/np/tsp/generate.ts";
import type { Tour } from "../../envs/np/tsp/verify.ts";

const GAP = 30;
const PANEL = 250;
const ROW = 15;

export function draw(instance: TspInstance, tour?: Tour, best?: Tour): Picture {
  const { cities } = instance;
  const box = boxFor(cities);
  const points = spread(fitted(embed(cities, embeddable(instance)), box), box);
  const { times, outside, distinct } = tally(tour ?? [], cities);
  const steps = stepsOf(tour ?? [], cities);
  const bestSteps = stepsOf(best ?? [], cities);
  const [known, own] = [new Set(bestSteps.map(nameOf)), new Set(steps.map(nameOf))];
  const shared = steps.filter((step) => best === undefined || known.has(nameOf(step)));
  const other = steps.filter((step) => best !== undefined && !known.has(nameOf(step)));
  const instead = bestSteps.filter((step) => !own.has(nameOf(step)));
  const near = tour === undefined ? nearest(instance) : [];
  const missed = tour !== undefined && distinct.length < cities;
  const panel =
    tour === undefined ? undefined : lengthPanel(instance, steps, bestSteps, known, box.width + GAP, box.height);
  return {
    width: box.width + (panel === undefined ? 0 : GAP + PANEL),
    height: box.height,
    shapes: [
      ...edgeShapes(near, points, "gd-edge"),
      ...edgeShapes(instead, points, "gd-best"),
      ...edgeShapes(shared, points, "gd-chosen"),
      ...edgeShapes(other, points, "gd-other"),
      ...vertexShapes(points, (city) => ({
        ...PLAIN_VERTEX,
        ring: ringOf(times[city] as number, missed),
        beside: timesText(times[city] as number),
      })),
      ...(panel ?? []),
    ],
    legend: legendOf(
      [near.length > 0, "line", "gd-edge", "from each city to the two nearest"],
      [shared.length > 0, "line", "gd-chosen", best === undefined ? "the tour" : "the tour, where a best one goes too"],
      [other.length > 0, "line", "gd-other", "the tour elsewhere"],
      [instead.length > 0, "line", "gd-best", "a best tour elsewhere"],
      [missed, "dot", "gd-missing", "never visited"],
      [times.some((each) => each > 1), "dot", "gd-ring", "visited more than once"],
    ),
    notes: notesOf(
      noteOf("Cities that do not exist", outside),
      "Cities are placed so that short distances are about right; no plane shows all of them as they are.",
    ),
  };
}

/** Returns the distances by which the cities are placed. They have a positive minimum, so that cities stay apart. */
function embeddable(instance: TspInstance): (a: number, b: number) => number {
  let sum = 0;
  for (const distance of instance.distances) sum += distance;
  const least = Math.max(1, sum / Math.max(1, instance.distances.length)) * 0.15;
  return (a, b) => Math.max(least, distanceBetween(instance, a, b));
}

/** Returns the pairs of each city with its two nearest cities. */
function nearest(instance: TspInstance): readonly Pair[] {
  const cities = Array.from({ length: instance.cities }, (_, city) => city);
  return cities.flatMap((a) => {
    const others = cities.filter((b) => b !== a);
    others.sort((b, c) => distanceBetween(instance, a, b) - distanceBetween(instance, a, c) || b - c);
    return others.slice(0, 2).map((b): Pair => [a, b]);
  });
}

/** Returns a name of an edge that is the same in both directions. */
function nameOf([a, b]: Pair): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

function ringOf(times: number, missed: boolean): string | undefined {
  if (times > 1) return "gd-ring";
  return times === 0 && missed ? "gd-missing" : undefined;
}

/**
 * Draws the longest steps of a tour as bars, longest first. A grey bar under each shows the best tour's step of the
 * same rank.
 */
function lengthPanel(
  instance: TspInstance,
  steps: readonly Pair[],
  bestSteps: readonly Pair[],
  known: ReadonlySet<string>,
  left: number,
  height: number,
): readonly Shape[] {
  const byLength = (all: readonly Pair[]): readonly Pair[] => all.toSorted((one, two) => lengthOf(two) - lengthOf(one));
  const lengthOf = ([a, b]: Pair): number => distanceBetween(instance, a, b);
  const [longest, bestLongest] = [byLength(steps), byLength(bestSteps)];
  const rows = Math.min(longest.length, Math.floor((height - 30) / ROW));
  const most = Math.max(1, ...longest.slice(0, 1).map(lengthOf), ...bestLongest.slice(0, 1).map(lengthOf));
  const scale = (PANEL - 100) / most;
  const row = (step: Pair, i: number): readonly Shape[] => {
    const y = 28 + i * ROW;
    const length = lengthOf(step);
    const best = bestLongest[i];
    const className = bestSteps.length === 0 || known.has(nameOf(step)) ? "gd-f0" : "gd-f1";
    return [
      text(left + 56, y + 9, "gd-end", `${step[0]}–${step[1]}`),
      rect(left + 62, y, length * scale, 7, className),
      ...(best === undefined ? [] : [rect(left + 62, y + 8, lengthOf(best) * scale, 3, "gd-f6")]),
      text(
        left + 66 + Math.max(length, best === undefined ? 0 : lengthOf(best)) * scale,
        y + 9,
        "gd-text",
        `${length}`,
      ),
    ];
  };
  const words = bestSteps.length === 0 ? "Its longest steps" : "Its longest steps; in grey a best tour's";
  return [text(left, 14, "gd-text", words), ...longest.slice(0, rows).flatMap(row)];
}
