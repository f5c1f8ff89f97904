/** The plot of results.md, as SVG. */
import * as Plot from "@observablehq/plot";
import { draw } from "../../cli/plot.ts";
import type { Judgement } from "./judge.ts";

const WIDTH = 1100;

/** Ratios beyond this are drawn at the edge. */
const RATIO_MAX = 2;

/** Rollouts to the target of each policy over those of equal shares, by kind: one policy with its intervals, the others as dots. */
export function ratios(judgements: readonly Judgement[], first: string): string {
  const cut = (value: number): number => Math.min(RATIO_MAX, value);
  const data = judgements
    .filter(({ ratio }) => !Number.isNaN(ratio.value))
    .map(({ kind, set, policy, ratio }) => ({
      kind: set === "set apart" ? `${kind} *` : kind,
      policy,
      value: cut(ratio.value),
      low: cut(ratio.low),
      high: cut(ratio.high),
    }));
  const own = data.filter(({ policy }) => policy === first);
  const kinds = [...new Set(data.map(({ kind }) => kind))];
  const style = { background: "white", color: "#222", fontFamily: "system-ui, sans-serif" };
  const svg = draw(`Rollouts to the target, of equal shares': ${first}, and other policies as dots; * set apart`, {
    width: WIDTH,
    style,
    height: 70 + 20 * kinds.length,
    marginLeft: 430,
    marginTop: 40,
    x: {
      domain: [0, RATIO_MAX],
      label: "rollouts to the target, of equal shares'",
      grid: true,
      ticks: [0, 0.7, 1, 1.5, 2],
    },
    y: { domain: kinds, label: null },
    marks: [
      Plot.ruleX([1], { stroke: "#999" }),
      Plot.dot(data, { y: "kind", x: "value", fill: "#bbb", r: 2 }),
      Plot.ruleY(own, { y: "kind", x1: "low", x2: "high", stroke: "#1668b0", strokeWidth: 2 }),
      Plot.dot(own, { y: "kind", x: "value", fill: "#1668b0", r: 4 }),
    ],
  });
  // Without it a file of its own is not a picture.
  return `${svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"')}\n`;
}
