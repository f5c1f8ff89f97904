/**
 * Draws the transfer matrix (how training on one domain changes the scores of the others) as a heat map. It has a row
 * for each domain that was trained on, and a column for each domain whose score was measured.
 */
import * as Plot from "@observablehq/plot";
import { darkStyle, GROUND, INK } from "../../colours.ts";
import { draw, marginFor } from "../../plot.ts";
import { signed } from "../../print.ts";
import type { Matrix } from "./matrix.ts";

const CELL = 46;
const OTHERS = "mean over the others";
/** Colour of text on the cells of the map. Cells are light even on a dark background, so their text is always dark. */
const ON_CELL = "#1b1c1e";
const ROOT = `xmlns="http://www.w3.org/2000/svg" color="${INK.light}" font-family="system-ui, sans-serif" font-size="10"`;

export function matrixChart({ domains, transfers, means, order }: Matrix): string {
  const cells = [
    ...transfers.flatMap(({ trained, changes }) =>
      order.map((domain) => ({
        trained,
        domain,
        change: changes[domains.indexOf(domain)] ?? 0,
        own: trained === domain,
      })),
    ),
    ...order.map((domain) => ({ trained: OTHERS, domain, change: means[domains.indexOf(domain)] ?? 0, own: false })),
  ];
  const farthest = Math.max(0.001, ...cells.filter(({ own }) => !own).map(({ change }) => Math.abs(change)));
  const marks = { x: "domain", y: "trained" } as const;
  const svg = draw("the change of each domain's score by training on each", {
    height: 90 + CELL * (domains.length + 1),
    marginLeft: marginFor([...domains, OTHERS]),
    marginTop: 60,
    x: { axis: "top", domain: [...order], label: "measured on, the least forgotten first →", labelAnchor: "left" },
    y: { domain: [...order, OTHERS], label: "trained on", tickSize: 0 },
    color: { type: "diverging", scheme: "PuOr", domain: [-farthest, farthest] },
    marks: [
      // Leave cells without colour in which the trained domain is also the measured one. This change is the purpose of
      // training and not part of the mean, and its colour would outshine the other cells.
      Plot.cell(cells, {
        ...marks,
        fill: ({ own, change }: { own: boolean; change: number }) => (own ? null : change),
        inset: 1,
      }),
      Plot.text(cells, {
        ...marks,
        text: ({ change }: { change: number }) => signed(change, 3),
        fill: ({ own, change }: { own: boolean; change: number }) =>
          !own && Math.abs(change) > 0.75 * farthest ? "#fff" : own ? "#7a7d83" : ON_CELL,
      }),
    ],
  });
  const ground = `${darkStyle([GROUND, INK])}<rect width="100%" height="100%" fill="${GROUND.light}"/>`;
  const alone = svg.replace(/<style>[^<]*<\/style>/, ground).replace("<svg", `<svg ${ROOT}`);
  return `${alone}\n`;
}
