/** Draws one chart over a whole run, in a panel with its title. */
import type { ComponentChildren } from "preact";
import type { Pen } from "../ui/colours.ts";
import { changes, type Curve, hasValues, linesOf, type Marks, type Spot } from "../ui/marks.ts";
import { Panel } from "../ui/parts.tsx";
import { Chart } from "../ui/plot.tsx";
import { count } from "../words.ts";
import { labelsOf } from "./labels.ts";
import type { Point, Series } from "./series.ts";

const HEIGHT = 210;
const [LEFT, RIGHT] = [46, 26];

/** Data that all charts of a run have in common. */
export interface Shown {
  readonly runId: string;
  readonly series: Series;
  readonly pens: readonly Pen[];
  /** Name of the highlighted line. If undefined, all lines look alike. */
  readonly chosen: string | undefined;
}

interface RunChartProps extends Shown {
  readonly title: string;
  /** Description of the chart, without its horizontal axis. */
  readonly label: string;
  /** Plot options of the vertical axis. */
  readonly y: object;
  readonly curves: readonly Curve[];
  /** Marks of the chart. Defaults to a line for each curve. */
  readonly marks?: Marks;
  /** Text in place of a chart without values. */
  readonly empty?: string;
  /** Notes above the chart. */
  readonly children?: ComponentChildren;
}

/** Draws a chart over the whole run, with the operators' changes marked. */
export function RunChart(props: RunChartProps) {
  const { runId, series, chosen, title, label, y, curves, marks = linesOf(curves), empty, children } = props;
  const { axis, end } = series;
  if (!hasValues(curves.flatMap(({ spots }) => spots)))
    return (
      <Panel title={title}>
        <p class="empty">{empty}</p>
      </Panel>
    );
  return (
    <Panel title={title}>
      {children}
      <Chart
        label={`${label}, over ${axis}`}
        height={HEIGHT}
        inputs={[series, chosen]}
        figures={{ name: `${runId}: ${title}`, axis, curves }}
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
    </Panel>
  );
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 10_000 ? `${value / 1000}k` : count(value);
}

export function spotsOf({ points }: Series, of: (point: Point) => number | undefined): readonly Spot[] {
  return points.map((point) => ({ x: point.x, y: of(point) }));
}

/**
 * Returns a curve for each line of the charts, pale if another line is highlighted. Points without a value are left
 * out, so that a line has no gaps at update batches without the arm.
 */
export function armCurves(
  { series, pens, chosen }: Shown,
  words: Curve["words"],
  of: (point: Point) => readonly (number | undefined)[],
): readonly Curve[] {
  return series.lines.map(({ name }, at) => ({
    name,
    words,
    spots: spotsOf(series, (point) => of(point)[at]).filter(({ y }) => y !== undefined),
    pen: { ...(pens[at] as Pen), opacity: chosen === undefined || chosen === name ? 1 : 0.16 },
  }));
}
