/**
 * Draws the chart of a run over the cursor, which counts its tasks, or over the lengths of its completions: shares
 * drawn, probabilities, values and success.
 */
import * as Plot from "@observablehq/plot";
import { type Colour, coloursOf, darkStyle, GROUND, INK } from "../colours.ts";
import { clippedName, draw, known, marginFor, percent, PLOT_WIDTH, short, spanOf } from "../plot.ts";
import type { Change, Series, Step } from "./series.ts";
import { topArms } from "./top-arms.ts";

/** Maximum number of steps that can be distinguished at the chart's width. */
export const CHART_STEPS_MAX = 180;

const PANEL_HEIGHT = 210;
const HEAD = 26;
const LEGEND_ROW = 18;
/** Colour of lines that concern all arms together, such as the mean reward. */
const LINE: Colour = { light: "#0b5f6b", dark: "#5fd0c9" };

interface Panel {
  readonly title: string;
  readonly svg: string;
  readonly height: number;
}

/** Returns a whole SVG document with its own background, which is dark for readers with a dark one. */
export function runChart(title: string, all: Series): string {
  const series = topArms(all);
  const colours = coloursOf(series.families);
  const panels = panelsOf(series, colours);
  const legend = legendOf(series.arms, colours);
  const top = 34 + legend.height;
  const height = panels.reduce((sum, panel) => sum + HEAD + panel.height, top) + 10;
  let y = top;
  const placed = panels.map((panel) => {
    const head = text(16, y + 17, panel.title, "font-weight: 600");
    // Remove the style element that Plot adds for an SVG within a page. Its "height: auto" would move this SVG within
    // its document.
    const chart = panel.svg.replace(/<style>[^<]*<\/style>/, "").replace("<svg", `<svg x="0" y="${y + HEAD}"`);
    y += HEAD + panel.height;
    return head + chart;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${PLOT_WIDTH}" height="${height}" viewBox="0 0 ${PLOT_WIDTH} ${height}"`,
    ` font-family="system-ui, sans-serif" font-size="12" fill="${INK.light}" color="${INK.light}" role="img">`,
    `<title>${escape(title)}</title>${darkStyle([GROUND, INK, LINE, ...colours])}`,
    `<rect width="100%" height="100%" fill="${GROUND.light}"/>`,
    text(16, 22, title, "font-size: 15px; font-weight: 600"),
    legend.svg,
    ...placed,
    "</svg>\n",
  ].join("");
}

function panelsOf(series: Series, colours: readonly Colour[]): readonly Panel[] {
  const { steps } = series;
  const isShown = (of: (step: Step) => readonly (number | undefined)[]): boolean =>
    steps.some((step) => of(step).some((value) => value !== undefined && value !== 0));
  const panels = [
    sharesPanel(series, colours),
    linesPanel("probability of each arm", series, colours, ({ probabilities }) => probabilities, percent),
  ];
  // Leave out the panel of values if the policy has none, e.g. the policy "mixture".
  if (isShown(({ values }) => values))
    panels.push(linesPanel("value of each arm", series, colours, ({ values }) => values, short));
  if (isShown(({ frontiers }) => frontiers))
    panels.push(linesPanel("highest open level of each arm", series, colours, ({ frontiers }) => frontiers, short));
  if (steps.some(({ solvedShare }) => solvedShare !== undefined))
    panels.push(outcomePanel("share of samples that are solved", series, ({ solvedShare }) => solvedShare, true));
  if (steps.some(({ rewardMean }) => rewardMean !== undefined))
    panels.push(outcomePanel("mean reward", series, ({ rewardMean }) => rewardMean, false));
  return panels;
}

function scaleOf(series: Series, colours: readonly Colour[]): Plot.ScaleOptions {
  return { domain: [...series.arms], range: colours.map(({ light }) => light) };
}

const endOf = ({ cursor, tasks }: Step): number => cursor + tasks;

/** Returns the range of the cursor (a count of tasks) in a series: its first value, and the end of the last batch. */
function extentOf({ steps }: Series): readonly [number, number] {
  const [first, last] = [steps[0]?.cursor ?? 0, steps.at(-1)];
  return last === undefined || endOf(last) <= first ? [first, first + 1] : [first, endOf(last)];
}

/** If a chart shows fewer tasks than this, each task gets a tick on the horizontal axis. */
const TASKS_TICKED = 10;

/**
 * Returns the horizontal axis, on which the cursor counts tasks. All panels have the same axis, so that they can be
 * compared vertically.
 */
function cursorAxis(series: Series): Plot.ScaleOptions {
  const [from, to] = extentOf(series);
  return {
    label: `${series.axis?.words ?? "cursor (tasks)"} →`,
    domain: [from, to],
    // Set ticks at whole numbers of tasks.
    ...(to - from < TASKS_TICKED && { ticks: Array.from({ length: to - from + 1 }, (_, i) => from + i) }),
    tickFormat: (cursor: number) => {
      if (!Number.isInteger(cursor)) return "";
      return cursor >= 1000 ? `${Number((cursor / 1000).toPrecision(4))}k` : String(cursor);
    },
  };
}

/** Minimum distance between the labels of two changes of the run, as a share of the chart's width. */
const LABELS_APART = 0.12;

function changeMarks(series: Series): readonly Plot.Markish[] {
  const [from, to] = extentOf(series);
  const at = (cursor: number): number => (cursor - from) / (to - from);
  let last = -Infinity;
  const labelled = series.changes.filter(({ cursor }) => {
    if (at(cursor) - last < LABELS_APART) return false;
    last = at(cursor);
    return true;
  });
  const isLeft = ({ cursor }: Change): boolean => at(cursor) <= 0.5;
  const label = (some: readonly Change[], textAnchor: "start" | "end"): Plot.Markish =>
    Plot.text(some, { x: "cursor", text: "kind", frameAnchor: "top", dy: -14, fontSize: 10, textAnchor });
  return [
    Plot.ruleX(series.changes, { x: "cursor", stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "3,3" }),
    // Let each label extend away from the chart's nearer edge, so that it is not cut off.
    label(labelled.filter(isLeft), "start"),
    label(
      labelled.filter((change) => !isLeft(change)),
      "end",
    ),
  ];
}

const frame = { height: PANEL_HEIGHT, marginLeft: 64, marginTop: 20 } as const;

function sharesPanel(series: Series, colours: readonly Colour[]): Panel {
  const data = series.steps.flatMap((step) =>
    series.arms.map((arm, i) => ({ arm, from: step.cursor, to: endOf(step), share: step.shares[i] ?? 0 })),
  );
  const svg = draw("the share of tasks that were drawn from each arm", {
    ...frame,
    nothing: series.tasks === 0,
    x: cursorAxis(series),
    y: { domain: [0, 1], tickFormat: percent, label: null },
    color: scaleOf(series, colours),
    marks: [
      Plot.rectY(data, Plot.stackY({ x1: "from", x2: "to", y: "share", fill: "arm", order: [...series.arms] })),
      ...changeMarks(series),
    ],
  });
  return { title: "drawn: share of tasks", svg, height: PANEL_HEIGHT };
}

function linesPanel(
  title: string,
  series: Series,
  colours: readonly Colour[],
  of: (step: Step) => readonly (number | undefined)[],
  tickFormat: (value: number) => string,
): Panel {
  const { arms, steps } = series;
  const last = steps.at(-1);
  // Each value holds until the next step, so the lines extend to the end of the last batch.
  const ends = last === undefined ? steps : [...steps, { ...last, cursor: endOf(last) }];
  const data = arms.flatMap((arm, i) => ends.map((step) => ({ arm, cursor: step.cursor, value: of(step)[i] })));
  const svg = draw(title, {
    ...frame,
    nothing: known(data).length === 0,
    x: cursorAxis(series),
    y: { domain: [...spanOf(data.map(({ value }) => value))], grid: true, label: null, tickFormat },
    color: scaleOf(series, colours),
    marks: [
      Plot.line(known(data), { x: "cursor", y: "value", stroke: "arm", strokeWidth: 1.6, curve: "step-after" }),
      ...changeMarks(series),
    ],
  });
  return { title, svg, height: PANEL_HEIGHT };
}

/** Maximum number of points of a line at which each point gets a dot. */
const POINTS_SEEN = 40;

function outcomePanel(title: string, series: Series, of: (step: Step) => number | undefined, isShare: boolean): Panel {
  const data = known(series.steps.map((step) => ({ cursor: step.cursor + step.tasks / 2, value: of(step) })));
  const height = PANEL_HEIGHT - 60;
  const svg = draw(title, {
    ...frame,
    height,
    x: cursorAxis(series),
    y: {
      grid: true,
      label: null,
      tickFormat: isShare ? percent : short,
      domain: isShare ? [0, 1] : [...spanOf(data.map(({ value }) => value))],
    },
    marks: [
      // Draw no line for a single point.
      Plot.line(data.length > 1 ? data : [], { x: "cursor", y: "value", stroke: LINE.light, strokeWidth: 1.8 }),
      Plot.dot(data.length > POINTS_SEEN ? [] : data, { x: "cursor", y: "value", fill: LINE.light, r: 2.5 }),
      ...changeMarks(series),
    ],
  });
  return { title, svg, height };
}

/** Draws the legend as SVG, because the legends that Plot makes are HTML. */
function legendOf(
  arms: readonly string[],
  colours: readonly Colour[],
): { readonly svg: string; readonly height: number } {
  const width = marginFor(arms) + 8;
  const columns = Math.max(1, Math.floor((PLOT_WIDTH - 32) / width));
  const items = arms.map((arm, i) => {
    const [x, y] = [16 + (i % columns) * width, 34 + Math.floor(i / columns) * LEGEND_ROW];
    const box = `<rect x="${x}" y="${y}" width="11" height="11" rx="2" fill="${colours[i]?.light}"/>`;
    return box + text(x + 16, y + 10, clippedName(arm));
  });
  return { svg: items.join(""), height: Math.ceil(arms.length / columns) * LEGEND_ROW + 8 };
}

function text(x: number, y: number, words: string, style = ""): string {
  return `<text x="${x}" y="${y}"${style === "" ? "" : ` style="${style}"`}>${escape(words)}</text>`;
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
