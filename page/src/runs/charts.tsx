/** Draws the charts of a run over its rollouts or its tokens. */
import { useMemo } from "preact/hooks";
import { type Pen, pensOf } from "../ui/colours.ts";
import type { Curve } from "../ui/figures.ts";
import { hasValues, held, line, rings, stack } from "../ui/marks.ts";
import { Panel } from "../ui/parts.tsx";
import { SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { figure, percent } from "../words.ts";
import { AxisChoice } from "./axis-choice.tsx";
import { LearningChart, type Step } from "./learning-chart.tsx";
import type { Line } from "./lines.ts";
import type { Over } from "./rollouts.ts";
import { armCurves, linesOf, Nothing, OverRun, type Shown, spotsOf } from "./run-chart.tsx";
import type { Point, Series } from "./series.ts";

interface RunChartsProps {
  readonly runId: string;
  readonly series: Series;
  readonly step: Step;
  readonly over: Over;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string | undefined) => void;
}

export function RunCharts({ runId, series, step, over, chosen, onChoose }: RunChartsProps) {
  const { lines, points, evaluations } = series;
  const pens = useMemo(() => pensOf(lines.length), [lines]);
  if (points.length === 0)
    return <p class="empty">Nothing is drawn yet. The charts begin with the first update batch.</p>;
  const shown = { runId, series, pens, chosen };
  return (
    <>
      {series.hasLengths && <AxisChoice over={over} />}
      <Legend lines={lines} pens={pens} chosen={chosen} onChoose={onChoose} />
      <div class="charts">
        <Panel title="Solved share of each arm">
          <LearningChart {...shown} step={step} />
        </Panel>
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
          <SuccessChart {...shown} />
        </Panel>
        <Panel title="Mean reward">
          <RewardChart {...shown} />
        </Panel>
        <Panel title="Waiting: seconds for an update batch">
          <SecondsChart {...shown} />
        </Panel>
      </div>
    </>
  );
}

interface LegendProps extends Omit<Shown, "series" | "runId"> {
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
  const { series, chosen } = shown;
  const curves = armCurves(shown, percent, (at) => spotsOf(series, ({ shares }) => shares[at]));
  const layers = curves.map(({ name, spots, pen: { ink, opacity = 1 } }) => ({
    name,
    ink,
    opacity: 0.92 * opacity,
    spots: held(spots, series.end),
  }));
  return (
    <OverRun
      {...shown}
      name="share of the tasks by arm"
      label="Stacked areas: the share of the tasks that each arm had"
      inputs={[chosen]}
      y={{ ...SHARES, domain: [0, 100] }}
      // The areas have no dashes.
      curves={curves.map((curve) => ({ ...curve, pen: { ink: curve.pen.ink } }))}
      marks={stack(layers)}
    />
  );
}

interface ArmChartProps extends Shown {
  readonly of: (point: Point) => readonly number[];
  readonly what: string;
  readonly isShare?: boolean;
}

function ArmChart({ of, what, isShare = false, ...shown }: ArmChartProps) {
  const { series, chosen } = shown;
  const curves = armCurves(shown, isShare ? percent : figure, (at) => spotsOf(series, (point) => of(point)[at]));
  return (
    <OverRun
      {...shown}
      name={`${what} of each arm`}
      label={`Lines: the ${what} of each arm`}
      inputs={[chosen]}
      y={{ ...(isShare && SHARES), zero: true }}
      curves={curves}
      marks={linesOf(curves)}
    />
  );
}

/** Draws the highest open level of each arm that grows, with words such as "clique: 6 → 23 vertices". */
function FrontierChart(shown: Shown) {
  const { series, chosen } = shown;
  const levels = (at: number) =>
    spotsOf(series, ({ frontiers }) => frontiers[at] || undefined).filter(({ y }) => y !== undefined);
  const curves = armCurves(shown, String, levels);
  const words = curves.flatMap(({ name, spots }, at) =>
    spots.length === 0 ? [] : [`${name}: ${spots[0]?.y} → ${spots.at(-1)?.y} ${series.lines[at]?.axis ?? ""}`],
  );
  const grown = curves.filter(({ spots }) => spots.length > 0);
  return (
    <>
      <p class="note">{words.join("; ")}</p>
      <OverRun
        {...shown}
        name="highest open level of each arm"
        label="Lines: the highest open level of each arm that grows"
        inputs={[chosen]}
        y={{ zero: true }}
        curves={grown}
        marks={grown.flatMap(({ spots, pen }) => line(held(spots, series.end), pen))}
      />
    </>
  );
}

function SuccessChart(shown: Shown) {
  const { series } = shown;
  const solved = spotsOf(series, (point) => point.solved);
  const useful = spotsOf(series, (point) => point.useful);
  const evaluated = series.evaluations.map(({ arm, x, solved: y }) => ({ x, y, title: arm }));
  if (!hasValues([...solved, ...useful, ...evaluated])) return <Nothing>No sample is scored yet.</Nothing>;
  const curves: readonly Curve[] = [
    { name: "solved samples", words: percent, spots: solved, pen: { ink: "var(--best)", width: 1.8 } },
    { name: "useful groups", words: percent, spots: useful, pen: { ink: "var(--poor)", dash: "5 3" } },
  ];
  const rounds = [...Map.groupBy(evaluated, ({ title }) => title)].map(([arm, spots]): Curve => ({
    name: `evaluation ${arm}`,
    words: percent,
    spots,
    pen: { ink: "var(--good)" },
  }));
  return (
    <>
      <p class="note key">
        <span class="solid">solved samples</span> <span class="dashed">useful groups</span>
        {evaluated.length > 0 && <span class="dots">solved in evaluations</span>}
      </p>
      <OverRun
        {...shown}
        name="solved samples and useful groups"
        label="Lines: the share of samples solved, and of groups that an update learns from"
        inputs={[]}
        y={{ ...SHARES, domain: [0, 100] }}
        curves={[...curves, ...rounds]}
        marks={[...linesOf(curves), ...rings(evaluated, "var(--good)")]}
      />
    </>
  );
}

/**
 * Draws the mean rewards. The mean over all samples drops when the policy or an operator moves tasks to a harder arm.
 * The chart therefore also shows the mean of each arm, and the mean over the arms, which does not depend on their
 * shares.
 */
function RewardChart(shown: Shown) {
  const { series, chosen } = shown;
  const drawn = spotsOf(series, ({ reward }) => reward);
  const alike = spotsOf(series, ({ rewardAlike }) => rewardAlike);
  if (!hasValues(drawn)) return <Nothing>No sample has a reward yet.</Nothing>;
  const isByArm = hasValues(alike) && series.lines.length > 1;
  const arms = armCurves(shown, figure, (at) =>
    // Leave out update batches without samples of the arm, which have no reward for it.
    spotsOf(series, ({ rewards }) => rewards[at]).filter(({ y }) => y !== undefined),
  );
  const thin = arms.map((arm) => ({ ...arm, pen: { ...arm.pen, width: 1, opacity: 0.6 * (arm.pen.opacity ?? 1) } }));
  const ofAll: Curve = { name: "all samples", words: figure, spots: drawn, pen: { ink: "var(--best)", width: 2.4 } };
  const alikePen: Pen = { ink: "var(--poor)", dash: "5 3", width: 2 };
  const ofArms: Curve = { name: "all arms alike", words: figure, spots: alike, pen: alikePen };
  const curves = isByArm ? [...thin, ofArms, ofAll] : [ofAll];
  return (
    <>
      {isByArm && (
        <p class="note key">
          <span class="solid">of all samples, as drawn</span> <span class="dashed">with all arms counted alike</span>
        </p>
      )}
      <OverRun
        {...shown}
        name="mean reward"
        label="Lines: the mean reward of all samples, of each arm, and with all arms counted alike"
        inputs={[chosen]}
        y={{ zero: true }}
        curves={curves}
        marks={linesOf(curves)}
      />
    </>
  );
}

function SecondsChart(shown: Shown) {
  const spots = spotsOf(shown.series, (point) => point.seconds);
  if (!hasValues(spots)) return <Nothing>The time between two update batches is known from the second one on.</Nothing>;
  const curves: readonly Curve[] = [{ name: "seconds", words: figure, spots, pen: { ink: "var(--best)", width: 1.8 } }];
  return (
    <OverRun
      {...shown}
      name="seconds for an update batch"
      label="A line: seconds for an update batch"
      inputs={[]}
      y={{ zero: true }}
      curves={curves}
      marks={linesOf(curves)}
    />
  );
}
