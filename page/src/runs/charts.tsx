/** The charts of a run over its rollouts. */
import * as Plot from "@observablehq/plot";
import { useMemo } from "preact/hooks";
import { Chart, type ChartProps, SHARES } from "../ui/plot.tsx";
import { lineColours } from "../ui/colours.ts";
import { Panel } from "../ui/parts.tsx";
import { count, percent } from "../words.ts";
import type { Line } from "./lines.ts";
import type { Point, Series } from "./series.ts";

const HEIGHT = 210;

interface Shown {
  readonly series: Series;
  readonly colours: readonly string[];
  /** The line that is looked at; undefined: all alike. */
  readonly chosen: string | undefined;
}

export function RunCharts({
  series,
  chosen,
  onChoose,
}: {
  readonly series: Series;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string | undefined) => void;
}) {
  const { lines, points, evaluations } = series;
  const colours = useMemo(() => lineColours(lines.map(({ family }) => family)), [lines]);
  if (points.length === 0)
    return <p class="empty">Nothing is drawn yet. The charts begin with the first update batch.</p>;
  const shown = { series, colours, chosen };
  const hasValues = points.some(({ values }) => values.some((value) => value !== 0));
  return (
    <>
      <Legend lines={lines} colours={colours} chosen={chosen} onChoose={onChoose} />
      <div class="charts">
        <Panel title="Share of the tasks, by arm">
          <SharesChart {...shown} />
        </Panel>
        <Panel title="Probability of each arm">
          <ArmChart {...shown} of={({ probabilities }) => probabilities} what="probability" isShare />
        </Panel>
        {hasValues && (
          <Panel title="Value of each arm, to the policy">
            <ArmChart {...shown} of={({ values }) => values} what="value" />
          </Panel>
        )}
        <Panel
          title={evaluations.length === 0 ? "Solved, and useful groups" : "Solved, useful groups, and evaluations"}
        >
          <SuccessChart series={series} />
        </Panel>
        <Panel title="Mean reward">
          <OneLine series={series} of={({ reward }) => reward} what="mean reward" />
        </Panel>
        <Panel title="Waiting: seconds for an update batch">
          <OneLine series={series} of={({ seconds }) => seconds} what="seconds" />
        </Panel>
      </div>
    </>
  );
}

function Legend({
  lines,
  colours,
  chosen,
  onChoose,
}: Omit<Shown, "series"> & { readonly lines: readonly Line[]; readonly onChoose: (name: string | undefined) => void }) {
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
            <i style={{ background: colours[at] ?? "" }} />
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Over rollouts, with the changes of operators as marks. */
function overRollouts(series: Series, y: object, marks: readonly unknown[]): ReturnType<ChartProps["options"]> {
  return {
    marginLeft: 46,
    marginRight: 26,
    x: { label: "rollouts", tickFormat: (value: number) => short(value), nice: false },
    y: { grid: true, ticks: 5, ...y },
    marks: [
      ...(marks as []),
      Plot.ruleX(series.marks, {
        x: "rollouts",
        stroke: "var(--poor)",
        strokeDasharray: "3 3",
        tip: false,
        title: "words",
      }),
      Plot.text(series.marks, {
        x: "rollouts",
        text: "words",
        frameAnchor: "top",
        dy: -12,
        fontSize: 11,
        fill: "var(--poor)",
      }),
    ],
  };
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 10_000 ? `${value / 1000}k` : count(value);
}

interface Long {
  readonly rollouts: number;
  readonly name: string;
  readonly value: number;
}

function longOf({ points, lines }: Series, of: (point: Point) => readonly number[]): readonly Long[] {
  return points.flatMap((point) =>
    of(point).map((value, at) => ({ rollouts: point.rollouts, name: lines[at]?.name ?? "", value })),
  );
}

function colourScale({ series, colours }: Shown) {
  return { domain: series.lines.map(({ name }) => name), range: [...colours] };
}

function faded({ chosen }: Shown, without: number) {
  return chosen === undefined ? without : ({ name }: Long) => (name === chosen ? 1 : 0.16);
}

function SharesChart(shown: Shown) {
  const { series, chosen } = shown;
  return (
    <Chart
      label="Stacked areas: the share of the tasks that each arm had, over rollouts"
      height={HEIGHT}
      inputs={[series, chosen]}
      options={() => ({
        ...overRollouts(series, { label: null, ...SHARES, domain: [0, 100] }, [
          Plot.areaY(
            longOf(series, ({ shares }) => shares),
            {
              x: "rollouts",
              y: "value",
              z: "name",
              fill: "name",
              fillOpacity: faded(shown, 0.92),
              order: series.lines.map(({ name }) => name),
              curve: "step-after",
            },
          ),
        ]),
        color: colourScale(shown),
      })}
    />
  );
}

function ArmChart({
  of,
  what,
  isShare = false,
  ...shown
}: Shown & { readonly of: (point: Point) => readonly number[]; readonly what: string; readonly isShare?: boolean }) {
  const { series, chosen } = shown;
  return (
    <Chart
      label={`Lines: the ${what} of each arm, over rollouts`}
      height={HEIGHT}
      inputs={[series, chosen]}
      options={() => {
        const long = longOf(series, of);
        return {
          ...overRollouts(series, { label: null, ...(isShare && SHARES), zero: true }, [
            Plot.lineY(long, {
              x: "rollouts",
              y: "value",
              z: "name",
              stroke: "name",
              strokeWidth: 1.6,
              strokeOpacity: faded(shown, 1),
            }),
            Plot.tip(
              long,
              Plot.pointer({
                x: "rollouts",
                y: "value",
                title: ({ name, value }: Long) =>
                  `${name}\n${isShare ? percent(value) : String(Math.round(value * 1000) / 1000)}`,
              }),
            ),
          ]),
          color: colourScale(shown),
        };
      }}
    />
  );
}

function SuccessChart({ series }: { readonly series: Series }) {
  const kinds = [
    { name: "solved", of: ({ solved }: Point) => solved },
    { name: "useful", of: ({ useful }: Point) => useful },
  ];
  const long = kinds.flatMap(({ name, of }) =>
    series.points.map((point) => ({ rollouts: point.rollouts, name, value: of(point) ?? Number.NaN })),
  );
  return (
    <>
      <p class="note key">
        <span class="solid">solved samples</span> <span class="dashed">useful groups</span>
        {series.evaluations.length > 0 && <span class="dots">solved in evaluations</span>}
      </p>
      <Chart
        label="Lines: the share of samples solved, and of groups that an update learns from, over rollouts"
        height={HEIGHT}
        inputs={[series]}
        options={() =>
          overRollouts(series, { label: null, ...SHARES, domain: [0, 100] }, [
            Plot.lineY(
              long.filter(({ name }) => name === "solved"),
              { x: "rollouts", y: "value", stroke: "var(--best)", strokeWidth: 1.8 },
            ),
            Plot.lineY(
              long.filter(({ name }) => name === "useful"),
              { x: "rollouts", y: "value", stroke: "var(--poor)", strokeWidth: 1.6, strokeDasharray: "5 3" },
            ),
            Plot.dot(series.evaluations, {
              x: "rollouts",
              y: "solved",
              stroke: "var(--good)",
              fill: "var(--panel)",
              r: 3.5,
              title: "arm",
            }),
          ])
        }
      />
    </>
  );
}

function OneLine({
  series,
  of,
  what,
}: {
  readonly series: Series;
  readonly of: (point: Point) => number | undefined;
  readonly what: string;
}) {
  const long = series.points.map((point) => ({ rollouts: point.rollouts, value: of(point) ?? Number.NaN }));
  return (
    <Chart
      label={`A line: ${what}, over rollouts`}
      height={HEIGHT}
      inputs={[series]}
      options={() =>
        overRollouts(series, { label: null, zero: true }, [
          Plot.lineY(long, { x: "rollouts", y: "value", stroke: "var(--best)", strokeWidth: 1.8 }),
        ])
      }
    />
  );
}
