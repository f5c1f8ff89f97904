/**
 * Draws charts as SVG without a browser, and without scripts in the result. Also handles what every chart may meet:
 * missing values, single points, all zeros, and long names.
 */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

export const PLOT_WIDTH = 760;

/** Formats a share as a percentage, below 10% with two significant digits: each of many arms may have less than 1%. */
export const percent = (value: number): string => {
  const hundredth = 100 * value;
  return `${Math.abs(hundredth) >= 9.5 ? Math.round(hundredth) : Number(hundredth.toPrecision(2))}%`;
};

/** Formats a tick of an axis in few characters. */
export const short = (value: number): string => {
  const size = Math.abs(value);
  return size >= 1e5 || (size > 0 && size < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
};

/** Empty HTML document, which Plot needs to create its elements. */
const { document } = parseHTML("<html></html>") as { readonly document: object };

export interface Drawing extends Plot.PlotOptions {
  /** Whether there is nothing to show. The chart then says "nothing yet". */
  readonly nothing?: boolean;
}

/** Draws a chart. `label` describes the chart to screen readers. */
export function draw(label: string, { nothing = false, marks = [], ...options }: Drawing): string {
  const note = nothing ? [Plot.text(["nothing yet"], { frameAnchor: "middle", fillOpacity: 0.6 })] : [];
  const all = { document, width: PLOT_WIDTH, ariaLabel: label, ...options, marks: [...marks, ...note] };
  const drawn = Plot.plot(all) as unknown as { readonly outerHTML: string };
  return drawn.outerHTML;
}

/** Returns the data that have a finite value. Unknown values are left out, because they must not look like 0. */
export function known<T extends { readonly value: number | undefined }>(
  data: readonly T[],
): readonly (T & { readonly value: number })[] {
  return data.filter((datum): datum is T & { readonly value: number } => Number.isFinite(datum.value));
}

/**
 * Returns the range of an axis that includes 0 and all values. If all values are 0 or unknown, the range is from 0 to
 * 1.
 */
export function spanOf(values: readonly (number | undefined)[]): readonly [number, number] {
  const finite = values.filter((value): value is number => value !== undefined && Number.isFinite(value));
  const low = finite.reduce((least, value) => Math.min(least, value), 0);
  const high = finite.reduce((most, value) => Math.max(most, value), 0);
  return low === high ? [0, 1] : [low, high];
}

// Sizes for the names of rows or lines beside a chart: widths in pixels, and a maximum number of letters.

const LETTER = 7;
const WIDE_LETTER = 13;
const NAME_LETTERS_MAX = 44;
const MARGIN_MIN = 40;

/** Shortens a long name to its beginning and its end, so that it fits beside a chart. */
export function clippedName(name: string): string {
  const letters = [...name];
  if (letters.length <= NAME_LETTERS_MAX) return name;
  const half = Math.floor((NAME_LETTERS_MAX - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** Returns the estimated width of a text in pixels. The estimate is rather too large than too small. */
export function widthOf(text: string): number {
  const widthOfLetter = (letter: string): number =>
    letter > "\u{2fff}" ? WIDE_LETTER : /[A-ZMmWw@%]/.test(letter) ? LETTER + 3 : LETTER;
  return [...text].reduce((sum, letter) => sum + widthOfLetter(letter), 0);
}

/** Returns the left margin, in pixels, for names shortened by clippedName. */
export function marginFor(names: readonly string[]): number {
  return Math.max(MARGIN_MIN, 20 + names.reduce((most, name) => Math.max(most, widthOf(clippedName(name))), 0));
}
