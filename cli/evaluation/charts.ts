/** Draws the charts of a report as SVG, so that the page needs no script. Colours are CSS variables of the page. */
import * as Plot from "@observablehq/plot";
import type { ReportRow } from "../../clients/ts/src/public.ts";
import { type Colour, coloursOf } from "../colours.ts";
import { clippedName, draw, known, marginFor, percent, spanOf } from "../plot.ts";
import type { PartSummary } from "./summary.ts";

const ROW = 30;

/** Draws bars side by side for each row of a report, one for each statistic such as the success rate. */
export function figureBars(
  label: string,
  rows: readonly ReportRow[],
  figures: readonly { readonly figure: string; readonly title: string; readonly colour: string }[],
): string {
  const shown = rows.filter((row) => figures.some(({ figure }) => row.figures[figure] !== undefined));
  const names = shown.map(({ name }) => name);
  // Show a missing value as a dash, and not as a bar of 0%.
  const all = shown.flatMap((row) =>
    figures.map(({ figure, title }) => ({ name: row.name, title, value: row.figures[figure] })),
  );
  const data = known(all);
  const marks = { x: "value", y: "title", fy: "name" } as const;
  return draw(label, {
    nothing: data.length === 0,
    height: 40 + Math.max(1, shown.length) * (figures.length * 22 + 12),
    marginLeft: marginFor(names),
    marginRight: 40,
    x: { domain: [0, 1], tickFormat: percent, label: null, grid: true },
    y: { domain: figures.map(({ title }) => title), axis: null, padding: 0.15 },
    fy: { domain: names, label: null, padding: 0.2, tickFormat: clippedName },
    color: { domain: figures.map(({ title }) => title), range: figures.map(({ colour }) => colour) },
    marks: [
      Plot.barX(data, { ...marks, fill: "title", rx2: 3 }),
      Plot.text(data, { ...marks, text: ({ value }: { value: number }) => percent(value), dx: 4, textAnchor: "start" }),
      Plot.text(
        all.filter(({ value }) => value === undefined),
        { ...marks, x: () => 0, text: () => "–", dx: 4, textAnchor: "start" },
      ),
      Plot.ruleX([0]),
    ],
  });
}

/** Kind of outcome of a sample, such as "malformed". In the bar of a part of the suite, each kind has a segment. */
export interface OutcomeKind {
  readonly title: string;
  readonly colour: string;
  /** The colour of text on the segment. */
  readonly ink: string;
  readonly count: (part: PartSummary) => number;
}

/**
 * Whether a part's answers are only right or wrong ("exact"), or have a quality ("quality"). "mixed" means that this
 * differs between parts of the suite.
 */
export type Exactness = "exact" | "quality" | "mixed";

const bestTitle = { exact: "right", quality: "optimal", mixed: "right or optimal" } as const;
const poorTitle = { exact: "wrong", quality: "infeasible", mixed: "wrong or infeasible" } as const;

/** Returns the kinds of outcomes that occur, the best first. */
export function outcomeKindsOf(parts: readonly PartSummary[], exactness: Exactness): readonly OutcomeKind[] {
  const feasible = ({ ratios }: PartSummary): number => ratios.reduce((sum, count) => sum + count, 0);
  const [light, dark] = ["var(--on-deep)", "var(--on-pale)"];
  const kinds: readonly OutcomeKind[] = [
    { title: bestTitle[exactness], colour: "var(--best)", ink: light, count: ({ optimal }) => optimal },
    { title: "feasible", colour: "var(--good)", ink: dark, count: (part) => feasible(part) - part.optimal },
    {
      title: poorTitle[exactness],
      colour: "var(--poor)",
      ink: dark,
      count: ({ wrong, infeasible }) => wrong + infeasible,
    },
    { title: "malformed", colour: "var(--bad)", ink: light, count: ({ malformed }) => malformed },
    { title: "no reward", colour: "var(--none)", ink: dark, count: ({ noReward }) => noReward },
  ];
  return kinds.filter(({ count }) => parts.some((part) => count(part) > 0));
}

/** Segment of a bar, for one kind of outcome, with the colour of its label. */
interface Slice {
  readonly ink: string;
  readonly value: number;
}

/** Draws the outcomes of each part of the suite as shares of its samples. */
export function outcomeBars(label: string, parts: readonly PartSummary[], kinds: readonly OutcomeKind[]): string {
  const names = parts.map(({ part }) => part);
  const data = parts.flatMap((part) => {
    const total = kinds.reduce((sum, { count }) => sum + count(part), 0);
    const share = (count: number): number => (total === 0 ? 0 : count / total);
    return kinds.map(({ title, ink, count }) => ({ part: part.part, title, ink, value: share(count(part)) }));
  });
  const isEmpty = (part: PartSummary): boolean => kinds.every(({ count }) => count(part) === 0);
  // Leave out the label of a segment that is too thin. Labels are stacked like the bars, so that they are centred.
  const shareOf = ({ value }: Slice): string => (value >= 0.06 ? percent(value) : "");
  return draw(label, {
    nothing: parts.length === 0,
    height: 50 + ROW * Math.max(1, parts.length),
    marginLeft: marginFor(names),
    x: { domain: [0, 1], tickFormat: percent, label: null },
    y: { domain: names, label: null, tickSize: 0, padding: 0.25, tickFormat: clippedName },
    color: { domain: kinds.map(({ title }) => title), range: kinds.map(({ colour }) => colour) },
    marks: [
      Plot.barX(data, Plot.stackX({ x: "value", y: "part", fill: "title", insetRight: 1 })),
      Plot.text(parts.filter(isEmpty), {
        x: () => 0,
        y: "part",
        text: () => "no samples",
        dx: 6,
        textAnchor: "start",
        fill: "var(--soft)",
      }),
      ...[...new Set(kinds.map(({ ink }) => ink))].map((ink) =>
        Plot.text(
          data,
          Plot.stackX({
            x: "value",
            y: "part",
            z: "title",
            text: (datum: Slice) => (datum.ink === ink ? shareOf(datum) : ""),
            fill: ink,
          }),
        ),
      ),
    ],
  });
}

/**
 * Draws how good feasible answers are: a histogram of their ratios to the best answer, in a small chart for each part
 * of the suite.
 */
export function ratioHistograms(label: string, parts: readonly PartSummary[]): string {
  const names = parts.map(({ part }) => part);
  const data = parts.flatMap(({ part, ratios }) =>
    ratios.map((count, step) => ({ part, from: step / ratios.length, to: (step + 1) / ratios.length, count })),
  );
  const [, highest] = spanOf(data.map(({ count }) => count));
  const filled = data.filter(({ count }) => count > 0);
  const isEmpty = ({ ratios }: PartSummary): boolean => ratios.every((count) => count === 0);
  return draw(label, {
    nothing: parts.length === 0,
    height: 30 + 46 * Math.max(1, parts.length),
    marginLeft: marginFor(names),
    x: { domain: [0, 1], tickFormat: (value: number) => value.toFixed(1), label: null },
    // Leave room in the domain for the numbers above the bars.
    y: { axis: null, domain: [0, highest * 1.5] },
    fy: { domain: names, label: null, padding: 0.1, tickFormat: clippedName },
    marks: [
      Plot.rectY(filled, { x1: "from", x2: "to", y: "count", fy: "part", fill: "var(--good)", inset: 0.5 }),
      Plot.text(filled, {
        x: ({ from, to }: { from: number; to: number }) => (from + to) / 2,
        y: "count",
        fy: "part",
        text: "count",
        dy: -7,
      }),
      Plot.text(parts.filter(isEmpty), {
        fy: "part",
        text: () => "no feasible answer",
        frameAnchor: "middle",
        fill: "var(--soft)",
      }),
      Plot.ruleY([0], { stroke: "var(--line)" }),
    ],
  });
}

/**
 * Draws the chance that at least one of k samples is right (pass@k) over k, with a line for each row of the report.
 * `linesStyle` defines the colours.
 */
export function passCurves(label: string, rows: readonly ReportRow[]): string {
  const data = rows.flatMap(({ name, figures }) =>
    Object.entries(figures).flatMap(([figure, value]) => {
      const k = Number(/^pass@(\d+)$/.exec(figure)?.[1]);
      return Number.isNaN(k) ? [] : [{ name, k, value }];
    }),
  );
  data.sort((a, b) => a.k - b.k);
  const ks = [...new Set(data.map(({ k }) => k))];
  const names = rows.map(({ name }) => name);
  const marks = { x: "k", y: "value", stroke: "name" } as const;
  return draw(label, {
    height: 330,
    marginBottom: 44,
    marginLeft: marginFor([percent(1)]),
    x: {
      type: "log",
      base: 2,
      ticks: ks,
      tickFormat: String,
      label: "k",
      labelAnchor: "center",
      labelArrow: false,
      labelOffset: 38,
    },
    y: { domain: [0, 1], tickFormat: percent, grid: true, label: null },
    color: { domain: names, range: names.map((_, i) => lineColour(i)) },
    marks: [Plot.line(data, { ...marks, z: "name", strokeWidth: 2 }), Plot.dot(data, { ...marks, fill: "name", r: 3 })],
  });
}

export const lineColour = (i: number): string => `var(--line-${i})`;

/** Returns CSS that defines the colour of each line, for light and dark backgrounds. */
export function linesStyle(names: readonly string[]): string {
  const colours = coloursOf(names);
  const of = (ground: keyof Colour): string => colours.map((colour, i) => `--line-${i}: ${colour[ground]};`).join(" ");
  return `<style>:root { ${of("light")} } @media (prefers-color-scheme: dark) { :root { ${of("dark")} } }</style>`;
}
