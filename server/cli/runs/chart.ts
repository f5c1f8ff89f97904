/** The chart of a run: what was drawn, with which probabilities and values, and with what success, over its cursor. */
import * as Plot from "@observablehq/plot";
import { draw, marginFor, percent, PLOT_WIDTH } from "../plot.ts";
import type { Series, Step } from "./series.ts";

/** Steps that can be told apart at the chart's width. */
export const CHART_STEPS_MAX = 180;

/** As many as are told apart by hue; more arms are coloured along a scale. */
const HUES = [
  "#0b5f6b",
  "#d9983a",
  "#6a5acd",
  "#b5473c",
  "#3aa6a0",
  "#7a7d83",
  "#8c5a2b",
  "#c05c9a",
  "#5b8c3a",
  "#3a6fb0",
];
const PANEL_HEIGHT = 210;
const HEAD = 26;
const LEGEND_ROW = 18;

interface Panel {
  readonly title: string;
  readonly svg: string;
  readonly height: number;
}

/** A whole SVG document, on a ground of its own, for programs that show pictures know no style sheets. */
export function runChart(title: string, series: Series): string {
  const panels = panelsOf(series);
  const legend = legendOf(series.arms);
  const top = 34 + legend.height;
  const height = panels.reduce((sum, panel) => sum + HEAD + panel.height, top) + 10;
  let y = top;
  const placed = panels.map((panel) => {
    const head = text(16, y + 17, panel.title, "font-weight: 600");
    // Plot's style is for an SVG within a page: its "height: auto" would move this one within its document.
    const chart = panel.svg.replace(/<style>[^<]*<\/style>/, "").replace("<svg", `<svg x="0" y="${y + HEAD}"`);
    y += HEAD + panel.height;
    return head + chart;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${PLOT_WIDTH}" height="${height}" viewBox="0 0 ${PLOT_WIDTH} ${height}"`,
    ` font-family="system-ui, sans-serif" font-size="12" fill="#1c1d1f" color="#1c1d1f" role="img">`,
    `<title>${escape(title)}</title><rect width="100%" height="100%" fill="#fbfbfa"/>`,
    text(16, 22, title, "font-size: 15px; font-weight: 600"),
    legend.svg,
    ...placed,
    "</svg>\n",
  ].join("");
}

function panelsOf(series: Series): readonly Panel[] {
  const { steps } = series;
  const panels = [
    sharesPanel(series),
    linesPanel("probability of each arm", series, ({ probabilities }) => probabilities, true),
  ];
  // A mixture has no values.
  if (steps.some(({ values }) => values.some((value) => value !== 0)))
    panels.push(linesPanel("value of each arm", series, ({ values }) => values, false));
  if (steps.some(({ solvedShare }) => solvedShare !== undefined))
    panels.push(outcomePanel("share of samples that are solved", series, ({ solvedShare }) => solvedShare, true));
  if (steps.some(({ rewardMean }) => rewardMean !== undefined))
    panels.push(outcomePanel("mean reward", series, ({ rewardMean }) => rewardMean, false));
  return panels;
}

function colours(arms: readonly string[]) {
  if (arms.length <= HUES.length) return { domain: [...arms], range: HUES.slice(0, arms.length) };
  return { domain: [...arms], scheme: "turbo" as const, type: "ordinal" as const };
}

/** The same for all panels, so that they can be read one below the other. */
function cursorAxis({ steps }: Series) {
  const end = steps.at(-1);
  return {
    label: "cursor (tasks) →",
    domain: [steps[0]?.cursor ?? 0, end === undefined ? 1 : endOf(end)],
    tickFormat: (cursor: number) => (cursor >= 1000 ? `${cursor / 1000}k` : String(cursor)),
  };
}

function marks({ changes }: Series): readonly Plot.Markish[] {
  return [
    Plot.ruleX(changes, { x: "cursor", stroke: "#1c1d1f", strokeOpacity: 0.5, strokeDasharray: "3,3" }),
    Plot.text(changes, { x: "cursor", text: "kind", frameAnchor: "top", dy: -8, fontSize: 10 }),
  ];
}

const endOf = ({ cursor, tasks }: Step): number => cursor + tasks;

function sharesPanel(series: Series): Panel {
  const data = series.steps.flatMap((step) =>
    series.arms.map((arm, i) => ({ arm, from: step.cursor, to: endOf(step), share: step.shares[i] ?? 0 })),
  );
  const svg = draw("the share of tasks that were drawn from each arm", {
    ...{ height: PANEL_HEIGHT, marginLeft: 56, marginTop: 18 },
    x: cursorAxis(series),
    y: { domain: [0, 1], tickFormat: percent, label: null },
    color: colours(series.arms),
    marks: [
      Plot.rectY(data, Plot.stackY({ x1: "from", x2: "to", y: "share", fill: "arm", order: [...series.arms] })),
      ...marks(series),
    ],
  });
  return { title: "drawn: share of tasks", svg, height: PANEL_HEIGHT };
}

function linesPanel(title: string, series: Series, of: (step: Step) => readonly number[], isShare: boolean): Panel {
  const data = series.steps.flatMap((step) =>
    series.arms.map((arm, i) => ({ arm, cursor: step.cursor, value: of(step)[i] ?? 0 })),
  );
  const svg = draw(title, {
    ...{ height: PANEL_HEIGHT, marginLeft: 56, marginTop: 18 },
    x: cursorAxis(series),
    y: { zero: true, grid: true, label: null, ...(isShare && { tickFormat: percent }) },
    color: colours(series.arms),
    marks: [
      // What holds from a cursor on holds until the next.
      Plot.line(data, { x: "cursor", y: "value", stroke: "arm", strokeWidth: 1.6, curve: "step-after" }),
      ...marks(series),
    ],
  });
  return { title, svg, height: PANEL_HEIGHT };
}

function outcomePanel(title: string, series: Series, of: (step: Step) => number | undefined, isShare: boolean): Panel {
  const data = series.steps.flatMap((step) => {
    const value = of(step);
    return value === undefined ? [] : [{ cursor: step.cursor + step.tasks / 2, value }];
  });
  const height = PANEL_HEIGHT - 60;
  const svg = draw(title, {
    ...{ height, marginLeft: 56, marginTop: 18 },
    x: cursorAxis(series),
    y: { grid: true, label: null, ...(isShare ? { domain: [0, 1], tickFormat: percent } : { nice: true }) },
    marks: [
      Plot.line(data, { x: "cursor", y: "value", stroke: "#0b5f6b", strokeWidth: 1.8 }),
      Plot.dot(data.length > 40 ? [] : data, { x: "cursor", y: "value", fill: "#0b5f6b", r: 2.5 }),
      ...marks(series),
    ],
  });
  return { title, svg, height };
}

/** Plot's own legends are HTML. */
function legendOf(arms: readonly string[]): { readonly svg: string; readonly height: number } {
  const { range, ...scale } = { range: undefined, ...colours(arms) };
  const fills = range ?? (Plot.scale({ color: scale }).range as readonly string[]);
  const width = marginFor(arms) + 8;
  const columns = Math.max(1, Math.floor((PLOT_WIDTH - 32) / width));
  const items = arms.map((arm, i) => {
    const [x, y] = [16 + (i % columns) * width, 34 + Math.floor(i / columns) * LEGEND_ROW];
    return `<rect x="${x}" y="${y}" width="11" height="11" rx="2" fill="${fills[i % fills.length]}"/>${text(x + 16, y + 10, arm)}`;
  });
  return { svg: items.join(""), height: Math.ceil(arms.length / columns) * LEGEND_ROW + 8 };
}

function text(x: number, y: number, words: string, style = ""): string {
  return `<text x="${x}" y="${y}"${style === "" ? "" : ` style="${style}"`}>${escape(words)}</text>`;
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
