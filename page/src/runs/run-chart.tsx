/** Draws one chart over a whole run. The charts of a run are made of the parts in this file. */
import type { ComponentChildren } from "preact";
import type { Pen } from "../ui/colours.ts";
import type { Curve } from "../ui/figures.ts";
import { changes, line, type Marks, type Spot } from "../ui/marks.ts";
import { Chart, type ChartProps } from "../ui/plot.tsx";
import { count } from "../words.ts";
import { labelsOf } from "./labels.ts";
import type { Point, Series } from "./series.ts";

const HEIGHT = 210;
const [LEFT, RIGHT] = [46, 26];

export interface Shown {
  readonly runId: string;
  readonly series: Series;
  readonly pens: readonly Pen[];
  /** Name of the highlighted line. If undefined, all lines look alike. */
  readonly chosen: string | undefined;
}

interface OverRun extends Pick<Shown, "runId" | "series">, Pick<ChartProps, "label" | "inputs"> {
  /** Title of the chart's files, without the run. */
  readonly name: string;
  readonly curves: readonly Curve[];
  /** Plot options of the vertical axis. */
  readonly y: object;
  readonly marks: Marks;
}

/** Draws a chart over the whole run, with the operators' changes marked. */
export function OverRun({ runId, label, inputs, series, name, curves, y, marks }: OverRun) {
  const { axis, end } = series;
  return (
    <Chart
      label={`${label}, over ${axis}`}
      height={HEIGHT}
      inputs={[series, ...inputs]}
      figures={{ name: `${runId}: ${name}`, axis, curves }}
      options={(width) => ({
        marginLeft: LEFT,
        marginRight: RIGHT,
        x: { label: axis, tickFormat: short, domain: [0, end] },
        y: { label: null, grid: true, ticks: 5, ...y },
        marks: [
          ...marks,
          ...changes(
            series.marks.map(({ x }) => x),
            labelsOf(series.marks, { left: LEFT, right: width - RIGHT, from: 0, to: end }),
          ),
        ],
      })}
    />
  );
}

/** Text shown in place of a chart without data. */
export function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 10_000 ? `${value / 1000}k` : count(value);
}

export function spotsOf({ points }: Series, of: (point: Point) => number | undefined): readonly Spot[] {
  return points.map((point) => ({ x: point.x, y: of(point) }));
}

/** Returns the opacity of a line: pale if another line is highlighted. */
function opacityOf(chosen: string | undefined, name: string): number {
  return chosen === undefined || chosen === name ? 1 : 0.16;
}

/** Returns a curve for each line of the charts, in the line's colour, pale unless it is the highlighted one. */
export function armCurves(
  { series, pens, chosen }: Shown,
  words: Curve["words"],
  spots: (at: number) => readonly Spot[],
) {
  return series.lines.map(({ name }, at): Curve => ({
    name,
    words,
    spots: spots(at),
    pen: { ...(pens[at] as Pen), opacity: opacityOf(chosen, name) },
  }));
}

/** Draws the lines of curves. */
export function linesOf(curves: readonly Curve[]): Marks {
  return curves.flatMap(({ spots, pen }) => line(spots, pen));
}
