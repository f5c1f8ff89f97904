/** Draws a histogram of the pass rates of a pool's rows. */
import * as Plot from "@observablehq/plot";
import { draw, spanOf } from "../plot.ts";
import { BINS, rateCounts } from "./rates.ts";

export function rateChart(label: string, rates: readonly number[]): string {
  const data = rateCounts(rates).map((count, bin) => ({ from: bin / BINS, to: (bin + 1) / BINS, count }));
  const filled = data.filter(({ count }) => count > 0);
  const [, most] = spanOf(data.map(({ count }) => count));
  return draw(label, {
    nothing: rates.length === 0,
    height: 260,
    style: { background: "white", color: "black" },
    x: { domain: [0, 1], tickFormat: (value: number) => value.toFixed(1), label: "pass rate", labelAnchor: "center" },
    y: { domain: [0, most * 1.15], label: "rows", grid: true },
    marks: [
      Plot.rectY(filled, { x1: "from", x2: "to", y: "count", fill: "#3b7dd8", inset: 0.5 }),
      Plot.text(filled, {
        x: ({ from, to }: (typeof data)[number]) => (from + to) / 2,
        y: "count",
        text: "count",
        dy: -8,
      }),
      Plot.ruleY([0]),
    ],
  });
}
