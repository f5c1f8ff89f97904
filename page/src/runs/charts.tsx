/** Draws the charts of a run over its rollouts or its tokens. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Pen, pensOf } from "../ui/colours.ts";
import { changes, hasValues, held, line, type Marks, pointed, rings, type Spot, stack } from "../ui/marks.ts";
import { Panel } from "../ui/parts.tsx";
import { Chart, type ChartProps, SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { count, figure, percent } from "../words.ts";
import { AxisChoice } from "./axis-choice.tsx";
import { labelsOf } from "./labels.ts";
import type { Line } from "./lines.ts";
import type { Over } from "./rollouts.ts";
import type { Point, Series } from "./series.ts";

const HEIGHT = 210;
const [LEFT, RIGHT] = [46, 26];

interface Shown {
  readonly series: Series;
  readonly pens: readonly Pen[];
  /** Name of the highlighted line. If undefined, all lines look alike. */
  readonly chosen: string | undefined;
}

interface RunChartsProps {
  readonly series: Series;
  readonly over: Over;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string | undefined) => void;
}

export function RunCharts({ series, over, chosen, onChoose }: RunChartsProps) {
  const { lines, points, evaluations } = series;
  const pens = useMemo(() => pensOf(lines.length), [lines]);
  if (points.length === 0)
    return <p class="empty">Nothing is drawn yet. The charts begin with the first update batch.</p>;
  const shown = { series, pens, chosen };
  return (
    <>
      {series.hasLengths && <AxisChoice over={over} />}
      <Legend lines={lines} pens={pens} chosen={chosen} onChoose={onChoose} />
      <div class="charts">
        <Panel title="Share of the tasks, by arm">
          <SharesChart {...shown} />
        </Panel>
        <Panel title="Probability of each arm">
          <ArmChart {...shown} of={({ probabilities }) => probabilities} what="probability" isShare />
        </Panel>
        {points.some(({ values }) => values.some((value) => value !== 0)) && (
          <Panel title="Value of each arm, to the policy">
            <ArmChart {...shown} of={({ values }) => values} what="value" />
          </Panel>
        )}
        {points.some(({ frontiers }) => frontiers.some((value) => value > 0)) && (
          <Panel title="Highest open level of each arm that grows">
            <FrontierChart {...shown} />
          </Panel>
        )}
        <Panel
          title={evaluations.length === 0 ? "Solved, and useful groups" : "Solved, useful groups, and evaluations"}
        >
          <SuccessChart series={series} />
        </Panel>
        <Panel title="Mean reward">
          <RewardChart {...shown} />
        </Panel>
        <Panel title="Waiting: seconds for an update batch">
          <SecondsChart series={series} />
        </Panel>
      </div>
    </>
  );
}

interface LegendProps extends Omit<Shown, "series"> {
  readonly lines: readonly Line[];
  readonly onChoose: (name: string | undefined) => void;
}

function Legend({ lines, pens, chosen, onChoose }: LegendProps) {
  return (
    <ul class="legend" aria-label="Arms">
      {lines.map(({ name }, at) => (
        <li key={name}>
          <button
            type="button"
            class="quiet"
            aria-pressed={name === chosen}
            onClick={() => onChoose(name === chosen ? undefined : name)}
          >
            <Swatch pen={pens[at] as Pen} />
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface OverRun extends Pick<ChartProps, "label" | "inputs"> {
  readonly series: Series;
  /** Plot options of the vertical axis. */
  readonly y: object;
  readonly marks: Marks;
}

/** Draws a chart over the whole run, with the operators' changes marked. */
function OverRun({ label, inputs, series, y, marks }: OverRun) {
  const { axis, end } = series;
  return (
    <Chart
      label={`${label}, over ${axis}`}
      height={HEIGHT}
      inputs={inputs}
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
function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 10_000 ? `${value / 1000}k` : count(value);
}

function spotsOf({ points }: Series, of: (point: Point) => number | undefined): readonly Spot[] {
  return points.map((point) => ({ x: point.x, y: of(point) }));
}

/** Returns the opacity of a line: pale if another line is highlighted. */
function opacityOf(chosen: string | undefined, name: string): number {
  return chosen === undefined || chosen === name ? 1 : 0.16;
}

function SharesChart({ series, pens, chosen }: Shown) {
  const layers = series.lines.map(({ name }, at) => ({
    name,
    ink: (pens[at] as Pen).ink,
    opacity: 0.92 * opacityOf(chosen, name),
    spots: held(
      spotsOf(series, ({ shares }) => shares[at]),
      series.end,
    ),
  }));
  return (
    <OverRun
      label="Stacked areas: the share of the tasks that each arm had"
      inputs={[series, chosen]}
      series={series}
      y={{ ...SHARES, domain: [0, 100] }}
      marks={stack(layers)}
    />
  );
}

interface ArmChartProps extends Shown {
  readonly of: (point: Point) => readonly number[];
  readonly what: string;
  readonly isShare?: boolean;
}

function ArmChart({ of, what, isShare = false, series, pens, chosen }: ArmChartProps) {
  const spots = series.lines.map((_, at) => spotsOf(series, (point) => of(point)[at]));
  const said = (value: number) => (isShare ? percent(value) : figure(value));
  return (
    <OverRun
      label={`Lines: the ${what} of each arm`}
      inputs={[series, chosen]}
      series={series}
      y={{ ...(isShare && SHARES), zero: true }}
      marks={[
        ...series.lines.flatMap(({ name }, at) =>
          line(spots[at] ?? [], { ...(pens[at] as Pen), opacity: opacityOf(chosen, name) }),
        ),
        ...pointed(
          series.lines.flatMap(({ name }, at) =>
            (spots[at] ?? []).map((spot) => ({ ...spot, title: `${name}\n${said(spot.y ?? 0)}` })),
          ),
        ),
      ]}
    />
  );
}

/** Draws the highest open level of each arm that grows, with words such as "clique: 6 → 23 vertices". */
function FrontierChart({ series, pens, chosen }: Shown) {
  const grown = series.lines.flatMap(({ name, axis = "" }, at) => {
    const spots = spotsOf(series, ({ frontiers }) => frontiers[at] || undefined).filter(({ y }) => y !== undefined);
    const words = `${name}: ${spots[0]?.y} → ${spots.at(-1)?.y} ${axis}`;
    return spots.length === 0 ? [] : [{ name, words, pen: pens[at] as Pen, spots: held(spots, series.end) }];
  });
  return (
    <>
      <p class="note">{grown.map(({ words }) => words).join("; ")}</p>
      <OverRun
        label="Lines: the highest open level of each arm that grows"
        inputs={[series, chosen]}
        series={series}
        y={{ zero: true }}
        marks={[
          ...grown.flatMap(({ name, pen, spots }) => line(spots, { ...pen, opacity: opacityOf(chosen, name) })),
          ...pointed(
            grown.flatMap(({ name, spots }) => spots.map((spot) => ({ ...spot, title: `${name}\n${spot.y}` }))),
          ),
        ]}
      />
    </>
  );
}

function SuccessChart({ series }: { readonly series: Series }) {
  const solved = spotsOf(series, (point) => point.solved);
  const useful = spotsOf(series, (point) => point.useful);
  const evaluated = series.evaluations.map(({ arm, x, solved: y }) => ({ x, y, title: arm }));
  if (!hasValues([...solved, ...useful, ...evaluated])) return <Nothing>No sample is scored yet.</Nothing>;
  return (
    <>
      <p class="note key">
        <span class="solid">solved samples</span> <span class="dashed">useful groups</span>
        {evaluated.length > 0 && <span class="dots">solved in evaluations</span>}
      </p>
      <OverRun
        label="Lines: the share of samples solved, and of groups that an update learns from"
        inputs={[series]}
        series={series}
        y={{ ...SHARES, domain: [0, 100] }}
        marks={[
          ...line(solved, { ink: "var(--best)", width: 1.8 }),
          ...line(useful, { ink: "var(--poor)", dash: "5 3" }),
          ...rings(evaluated, "var(--good)"),
        ]}
      />
    </>
  );
}

/**
 * Draws the mean rewards. The mean over all samples drops when the policy or an operator moves tasks to a harder arm.
 * The chart therefore also shows the mean of each arm, and the mean over the arms, which does not depend on their
 * shares.
 */
function RewardChart({ series, pens, chosen }: Shown) {
  const drawn = spotsOf(series, ({ reward }) => reward);
  const alike = spotsOf(series, ({ rewardAlike }) => rewardAlike);
  if (!hasValues(drawn)) return <Nothing>No sample has a reward yet.</Nothing>;
  const isByArm = hasValues(alike) && series.lines.length > 1;
  return (
    <>
      {isByArm && (
        <p class="note key">
          <span class="solid">of all samples, as drawn</span> <span class="dashed">with all arms counted alike</span>
        </p>
      )}
      <OverRun
        label="Lines: the mean reward of all samples, of each arm, and with all arms counted alike"
        inputs={[series, chosen]}
        series={series}
        y={{ zero: true }}
        marks={[
          ...(isByArm
            ? series.lines.flatMap(({ name }, at) =>
                line(
                  // Leave out update batches without samples of the arm, which have no reward for it.
                  spotsOf(series, ({ rewards }) => rewards[at]).filter(({ y }) => y !== undefined),
                  { ...(pens[at] as Pen), width: 1, opacity: 0.6 * opacityOf(chosen, name) },
                ),
              )
            : []),
          ...(isByArm ? line(alike, { ink: "var(--poor)", dash: "5 3", width: 2 }) : []),
          ...line(drawn, { ink: "var(--best)", width: 2.4 }),
        ]}
      />
    </>
  );
}

function SecondsChart({ series }: { readonly series: Series }) {
  const seconds = spotsOf(series, (point) => point.seconds);
  if (!hasValues(seconds))
    return <Nothing>The time between two update batches is known from the second one on.</Nothing>;
  return (
    <OverRun
      label="A line: seconds for an update batch"
      inputs={[series]}
      series={series}
      y={{ zero: true }}
      marks={line(seconds, { ink: "var(--best)", width: 1.8 })}
    />
  );
}
