/**
 * Charts as SVG, made here: without a browser, and without a script in what is made. What every chart must bear is borne
 * here: figures that there are not, a single point, nothing but zeros, and long names.
 */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

export const PLOT_WIDTH = 760;

/** In two digits at least: of many arms each has less than 1%. */
export const percent = (value: number): string => {
  const hundredth = 100 * value;
  return `${Math.abs(hundredth) >= 9.5 ? Math.round(hundredth) : Number(hundredth.toPrecision(2))}%`;
};

/** A tick of an axis in few letters. */
export const short = (value: number): string => {
  const size = Math.abs(value);
  return size >= 1e5 || (size > 0 && size < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
};

/** What Plot needs of a page to draw on. */
const { document } = parseHTML("<html></html>") as { readonly document: object };

export interface Drawing extends Plot.PlotOptions {
  /** There is nothing to be seen, and a reader is told so. */
  readonly nothing?: boolean;
}

/** `label` is for those who do not see the chart. */
export function draw(label: string, { nothing = false, marks = [], ...options }: Drawing): string {
  const note = nothing ? [Plot.text(["nothing yet"], { frameAnchor: "middle", fillOpacity: 0.6 })] : [];
  const all = { document, width: PLOT_WIDTH, ariaLabel: label, ...options, marks: [...marks, ...note] };
  const drawn = Plot.plot(all) as unknown as { readonly outerHTML: string };
  return drawn.outerHTML;
}

/** Data with a figure; the others are left out, for what is not known is not 0. */
export function known<T extends { readonly value: number | undefined }>(
  data: readonly T[],
): readonly (T & { readonly value: number })[] {
  return data.filter((datum): datum is T & { readonly value: number } => Number.isFinite(datum.value));
}

/** An axis from 0, or the least below it, to the greatest; where all are 0, or there are none, from 0 to 1. */
export function spanOf(values: readonly (number | undefined)[]): readonly [number, number] {
  const finite = values.filter((value): value is number => value !== undefined && Number.isFinite(value));
  const low = finite.reduce((least, value) => Math.min(least, value), 0);
  const high = finite.reduce((most, value) => Math.max(most, value), 0);
  return low === high ? [0, 1] : [low, high];
}

// Names beside a chart.

const LETTER = 7;
const WIDE_LETTER = 13;
const NAME_LETTERS_MAX = 44;
const MARGIN_MIN = 40;

/** A name that fits beside a chart: of a long one its beginning and its end. */
export function clippedName(name: string): string {
  const letters = [...name];
  if (letters.length <= NAME_LETTERS_MAX) return name;
  const half = Math.floor((NAME_LETTERS_MAX - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** In pixels, rather too many than too few: capitals and what is not Latin are wide. */
export function widthOf(text: string): number {
  const widthOfLetter = (letter: string): number =>
    letter > "\u{2fff}" ? WIDE_LETTER : /[A-ZMmWw@%]/.test(letter) ? LETTER + 3 : LETTER;
  return [...text].reduce((sum, letter) => sum + widthOfLetter(letter), 0);
}

/** Left of the names, in pixels, as clippedName gives them. */
export function marginFor(names: readonly string[]): number {
  return Math.max(MARGIN_MIN, 20 + names.reduce((most, name) => Math.max(most, widthOf(clippedName(name))), 0));
}
