/**
 * Builds the marks of the page's charts. Only this file and plot.tsx call Observable Plot: every colour is an `Ink`.
 */
import type * as Observable from "@observablehq/plot";
import type { Ink, Pen } from "./colours.ts";

/** Functions of the library that charts use. The build leaves out the others. */
export type PlotLibrary = Pick<typeof Observable, "plot" | "areaY" | "dot" | "lineY" | "ruleX" | "ruleY" | "text">;

/** Marks of a chart, in drawing order. They are made once the library is loaded, with the first chart. */
export type Marks = readonly ((Plot: PlotLibrary) => Observable.Markish)[];

export interface Spot {
  readonly x: number;
  /** Height of the spot. Undefined for a missing value, which leaves a gap in the line. */
  readonly y: number | undefined;
}

/** Line of a chart, with its values in words. */
export interface Curve {
  readonly name: string;
  readonly spots: readonly Spot[];
  /** Formats a value, e.g. as a percentage. */
  readonly words: (value: number) => string;
  readonly pen: Pen;
}

const isKnown = (spot: Spot | undefined): boolean => Number.isFinite(spot?.y);

/** Returns whether any spot has a value, so that a line through the spots shows something. */
export function hasValues(spots: readonly Spot[]): boolean {
  return spots.some(isKnown);
}

/**
 * Draws a line through the spots. A spot between two gaps is drawn as a dot, because a line of one point is invisible.
 */
export function line(spots: readonly Spot[], { ink, dash, width = 1.6, opacity = 1 }: Pen): Marks {
  const alone = spots.filter((spot, at) => isKnown(spot) && !isKnown(spots[at - 1]) && !isKnown(spots[at + 1]));
  const place = { x: "x", y: "y" } as const;
  const points = spots.map(({ x, y }) => ({ x, y: y ?? Number.NaN }));
  return [
    (Plot) =>
      Plot.lineY(points, {
        ...place,
        stroke: ink,
        strokeWidth: width,
        strokeOpacity: opacity,
        ...(dash !== undefined && { strokeDasharray: dash }),
      }),
    (Plot) => Plot.dot(alone, { ...place, r: 3, fill: ink, fillOpacity: opacity }),
  ];
}

/** Draws a line for each curve. */
export function linesOf(curves: readonly Curve[]): Marks {
  return curves.flatMap(({ spots, pen }) => line(spots, pen));
}

/** Draws circles, each with a title. */
export function rings(spots: readonly (Spot & { readonly title: string })[], stroke: Ink): Marks {
  return [(Plot) => Plot.dot(spots, { x: "x", y: "y", title: "title", stroke, fill: "var(--panel)", r: 3.5 })];
}

export interface Layer {
  readonly name: string;
  readonly ink: Ink;
  /** Opacity from 0 to 1. */
  readonly opacity: number;
  readonly spots: readonly Spot[];
}

/** Returns the spots of a line with the last value repeated at `end`, because the value holds up to there. */
export function held(spots: readonly Spot[], end: number): readonly Spot[] {
  const last = spots.at(-1);
  return last === undefined ? [] : [...spots, { ...last, x: end }];
}

/** Stacks layers, the first one at the bottom. Each value holds until the next spot. */
export function stack(layers: readonly Layer[]): Marks {
  const long = layers.flatMap(({ name, spots }) => spots.map((spot) => ({ ...spot, name })));
  const of = new Map(layers.map((layer) => [layer.name, layer]));
  const ink = { value: ({ name }: { readonly name: string }) => of.get(name)?.ink, scale: null };
  const options = {
    x: "x",
    y: "y",
    z: "name",
    order: layers.map(({ name }) => name),
    fill: ink as unknown as string,
    fillOpacity: ({ name }: { readonly name: string }) => of.get(name)?.opacity ?? 1,
    title: "name",
    curve: "step-after" as const,
  };
  return [(Plot) => Plot.areaY(long, options)];
}

/** Draws a horizontal line over the whole width. */
export function level(y: number, { ink, dash = "4 3" }: Pen): Marks {
  return [(Plot) => Plot.ruleY([y], { stroke: ink, strokeDasharray: dash })];
}

/** Draws vertical lines at changes, with their labels above the chart. */
export function changes(
  at: readonly number[],
  labels: readonly { readonly x: number; readonly words: string }[],
): Marks {
  return [
    (Plot) => Plot.ruleX(at, { stroke: "var(--poor)" satisfies Ink, strokeDasharray: "3 3" }),
    (Plot) =>
      Plot.text(labels, {
        x: "x",
        text: "words",
        frameAnchor: "top",
        dy: -12,
        fontSize: 11,
        fill: "var(--poor)" satisfies Ink,
      }),
  ];
}
