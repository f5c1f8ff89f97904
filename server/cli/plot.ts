/** Charts as SVG, made here: without a browser, and without a script in what is made. */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

export const PLOT_WIDTH = 760;

export const percent = (value: number): string => `${Math.round(100 * value)}%`;

/** What Plot needs of a page to draw on. */
const { document } = parseHTML("<html></html>") as { readonly document: object };

/** `label` is for those who do not see the chart. */
export function draw(label: string, options: Plot.PlotOptions): string {
  const all = { document, width: PLOT_WIDTH, ariaLabel: label, ...options } as Plot.PlotOptions;
  const drawn = Plot.plot(all) as unknown as { readonly outerHTML: string };
  return drawn.outerHTML;
}

/** Left of the names, in pixels: about 7 to a letter. */
export function marginFor(names: readonly string[]): number {
  return 20 + 7 * Math.max(...names.map(({ length }) => length));
}
