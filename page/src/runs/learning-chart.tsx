/** Draws the solved share of each arm of a run, over a window that the reader chooses. */
import { useMemo } from "preact/hooks";
import { address, refine } from "../address.ts";
import { hasValues } from "../ui/marks.ts";
import { Select } from "../ui/parts.tsx";
import { SHARES } from "../ui/plot.tsx";
import { count, counted, percent } from "../words.ts";
import { solvedShares, WINDOWS } from "./learning.ts";
import { armCurves, linesOf, Nothing, OverRun, type Shown, spotsOf } from "./run-chart.tsx";

/** Extent of one step of the charts. */
export interface Step {
  readonly batches: number;
  readonly rollouts: number;
}

interface LearningProps extends Shown {
  readonly step: Step;
}

export function LearningChart({ step, ...shown }: LearningProps) {
  const { series, chosen } = shown;
  const { smoothing } = address.value.query;
  const window = WINDOWS.find((each) => String(each) === smoothing) ?? WINDOWS[0];
  const curves = useMemo(
    () =>
      armCurves(shown, percent, (at) =>
        solvedShares(
          series.points.map(({ x, tallies }) => ({ x, ...(tallies[at] ?? { scored: 0, solved: 0 }) })),
          window,
        ),
      ),
    [series, chosen, window],
  );
  if (!hasValues(curves.flatMap(({ spots }) => spots)))
    return (
      <Nothing>
        {hasValues(spotsOf(series, ({ solved }) => solved))
          ? "This run's history has no solved samples by arm: it has more than 64 arms, or an older server wrote it."
          : "No sample is scored yet."}
      </Nothing>
    );
  const each = `${counted(step.batches, "update batch", "update batches")} (${count(step.rollouts)} rollouts of the run)`;
  return (
    <>
      <p class="note">
        {window === 0
          ? `Each point is one step: ${each}.`
          : `Each point is over the last ${count(window)} rollouts of the arm, rounded up to whole steps. A step is ${each}.`}
      </p>
      <Select
        label="Smoothing"
        value={String(window)}
        options={WINDOWS.map((rollouts) => ({
          value: String(rollouts),
          text: rollouts === 0 ? "none" : `${count(rollouts)} rollouts`,
        }))}
        onChoose={(value) => refine({ smoothing: value })}
      />
      <OverRun
        {...shown}
        name="solved share of each arm"
        label="Lines: the share of each arm's samples that are solved"
        inputs={[chosen, window]}
        y={{ ...SHARES, domain: [0, 100] }}
        curves={curves}
        marks={linesOf(curves)}
      />
    </>
  );
}
