/** Draws the charts of a run over its rollouts or its tokens. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Pen, pensOf } from "../ui/colours.ts";
import { type Curve, hasValues, held, line, linesOf, rings, stack } from "../ui/marks.ts";
import { SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { figure, percent } from "../words.ts";
import { AxisChoice } from "./axis-choice.tsx";
import type { Line } from "./lines.ts";
import type { Over } from "./rollouts.ts";
import { armCurves, RunChart, type Shown, spotsOf } from "./run-chart.tsx";
import type { Point, Series } from "./series.ts";

const WHOLE = { ...SHARES, domain: [0, 100] };

interface RunChartsProps extends Omit<Shown, "pens"> {
  readonly over: Over;
  readonly onChoose: (name: string | undefined) => void;
  /** Notes above the chart of the arms' solved shares. */
  readonly smoothing: ComponentChildren;
}

export function RunCharts({ runId, series, over, chosen, onChoose, smoothing }: RunChartsProps) {
  const { lines, points } = series;
  const pens = useMemo(() => pensOf(lines.length), [lines]);
  if (points.length === 0)
    return <p class="empty">Nothing is drawn yet. The charts begin with the first update batch.</p>;
  const shown = { runId, series, pens, chosen };
  return (
    <>
      {series.hasLengths && <AxisChoice over={over} />}
      <Legend lines={lines} pens={pens} chosen={chosen} onChoose={onChoose} />
      <div class="charts">
        <ArmChart
          {...shown}
          title="Solved share of each arm"
          what="the share of each arm's samples that are solved"
          of={({ solvedShares }) => solvedShares}
          words={percent}
          y={WHOLE}
          empty={emptyOf(series)}
        >
          {smoothing}
        </ArmChart>
        <SharesChart {...shown} />
        <ArmChart
          {...shown}
          title="Probability of each arm"
          what="the probability of each arm"
          of={({ probabilities }) => probabilities}
          words={percent}
          y={{ ...SHARES, zero: true }}
        />
        {points.some(({ values }) => values.some((value) => value !== 0)) && (
          <ArmChart
            {...shown}
            title="Value of each arm, to the policy"
            what="the value of each arm"
            of={({ values }) => values}
          />
        )}
        {points.some(({ frontiers }) => frontiers.some((value) => value > 0)) && <FrontierChart {...shown} />}
        <SuccessChart {...shown} />
        <RewardChart {...shown} />
        <SecondsChart {...shown} />
      </div>
    </>
  );
}

/** Returns why a run has no solved shares by arm. */
function emptyOf(series: Series): string {
  return hasValues(spotsOf(series, ({ solved }) => solved))
    ? "This run's history has no solved samples by arm: it has more than 64 arms, or an older server wrote it."
    : "No sample is scored yet.";
}

interface LegendProps extends Pick<Shown, "pens" | "chosen"> {
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

function SharesChart(shown: Shown) {
  const curves = armCurves(shown, percent, ({ shares }) => shares);
  const layers = curves.map(({ name, spots, pen: { ink, opacity = 1 } }) => ({
    name,
    ink,
    opacity: 0.92 * opacity,
    spots: held(spots, shown.series.end),
  }));
  return (
    <RunChart
      {...shown}
      title="Share of the tasks, by arm"
      label="Stacked areas: the share of the tasks that each arm had"
      y={WHOLE}
      // Leave out the dashes of the arms' curves, because areas have none.
      curves={curves.map((curve) => ({ ...curve, pen: { ink: curve.pen.ink } }))}
      marks={stack(layers)}
    />
  );
}

interface ArmChartProps extends Shown {
  readonly title: string;
  /** Description of the lines, e.g. "the value of each arm". */
  readonly what: string;
  readonly of: (point: Point) => readonly (number | undefined)[];
  readonly words?: Curve["words"];
  readonly y?: object;
  readonly empty?: string;
  readonly children?: ComponentChildren;
}

function ArmChart({ what, of, words = figure, y = { zero: true }, ...shown }: ArmChartProps) {
  return <RunChart {...shown} label={`Lines: ${what}`} y={y} curves={armCurves(shown, words, of)} />;
}

/** Draws the highest open level of each arm that grows, with words such as "clique: 6 → 23 vertices". */
function FrontierChart(shown: Shown) {
  const { lines, end } = shown.series;
  const curves = armCurves(shown, String, ({ frontiers }) => frontiers.map((level) => level || undefined));
  const words = curves.flatMap(({ name, spots }, at) =>
    spots.length === 0 ? [] : [`${name}: ${spots[0]?.y} → ${spots.at(-1)?.y} ${lines[at]?.axis ?? ""}`],
  );
  return (
    <RunChart
      {...shown}
      title="Highest open level of each arm that grows"
      label="Lines: the highest open level of each arm that grows"
      y={{ zero: true }}
      curves={curves.filter(({ spots }) => spots.length > 0)}
      marks={curves.flatMap(({ spots, pen }) => line(held(spots, end), pen))}
    >
      <p class="note">{words.join("; ")}</p>
    </RunChart>
  );
}

function SuccessChart(shown: Shown) {
  const { series } = shown;
  const curves: readonly Curve[] = [
    {
      name: "solved samples",
      words: percent,
      spots: spotsOf(series, ({ solved }) => solved),
      pen: { ink: "var(--best)", width: 1.8 },
    },
    {
      name: "useful groups",
      words: percent,
      spots: spotsOf(series, ({ useful }) => useful),
      pen: { ink: "var(--poor)", dash: "5 3" },
    },
  ];
  const evaluated = series.evaluations.map(({ arm, x, solved: y }) => ({ x, y, title: arm }));
  const rounds = [...Map.groupBy(evaluated, ({ title }) => title)].map(([arm, spots]): Curve => ({
    name: `evaluation ${arm}`,
    words: percent,
    spots,
    pen: { ink: "var(--good)" },
  }));
  return (
    <RunChart
      {...shown}
      title={evaluated.length === 0 ? "Solved, and useful groups" : "Solved, useful groups, and evaluations"}
      label="Lines: the share of samples solved, and of groups that an update learns from"
      y={WHOLE}
      curves={[...curves, ...rounds]}
      marks={[...linesOf(curves), ...rings(evaluated, "var(--good)")]}
      empty="No sample is scored yet."
    >
      <p class="note key">
        <span class="solid">solved samples</span> <span class="dashed">useful groups</span>
        {evaluated.length > 0 && <span class="dots">solved in evaluations</span>}
      </p>
    </RunChart>
  );
}

/**
 * Draws the mean rewards. The mean over all samples drops when the policy or an operator moves tasks to a harder arm.
 * The chart therefore also shows the mean of each arm, and the mean over the arms, which does not depend on their
 * shares.
 */
function RewardChart(shown: Shown) {
  const { series } = shown;
  const alike = spotsOf(series, ({ rewardAlike }) => rewardAlike);
  const isByArm = hasValues(alike) && series.lines.length > 1;
  const arms = armCurves(shown, figure, ({ rewards }) => rewards).map((arm) => {
    return { ...arm, pen: { ...arm.pen, width: 1, opacity: 0.6 * (arm.pen.opacity ?? 1) } };
  });
  const ofAll: Curve = {
    name: "all samples",
    words: figure,
    spots: spotsOf(series, ({ reward }) => reward),
    pen: { ink: "var(--best)", width: 2.4 },
  };
  const ofArms: Curve = {
    name: "all arms alike",
    words: figure,
    spots: alike,
    pen: { ink: "var(--poor)", dash: "5 3", width: 2 },
  };
  return (
    <RunChart
      {...shown}
      title="Mean reward"
      label="Lines: the mean reward of all samples, of each arm, and with all arms counted alike"
      y={{ zero: true }}
      curves={isByArm ? [...arms, ofArms, ofAll] : [ofAll]}
      empty="No sample has a reward yet."
    >
      {isByArm && (
        <p class="note key">
          <span class="solid">of all samples, as drawn</span> <span class="dashed">with all arms counted alike</span>
        </p>
      )}
    </RunChart>
  );
}

function SecondsChart(shown: Shown) {
  const spots = spotsOf(shown.series, ({ seconds }) => seconds);
  return (
    <RunChart
      {...shown}
      title="Waiting: seconds for an update batch"
      label="A line: seconds for an update batch"
      y={{ zero: true }}
      curves={[{ name: "seconds", words: figure, spots, pen: { ink: "var(--best)", width: 1.8 } }]}
      empty="The time between two update batches is known from the second one on."
    />
  );
}
