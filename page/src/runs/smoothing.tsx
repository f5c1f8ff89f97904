/** Lets a person choose the window of the arms' solved shares, and says what a point of the chart covers. */
import { refine } from "../address.ts";
import { Segments } from "../ui/parts.tsx";
import { count, counted } from "../words.ts";
import { WINDOWS } from "./learning.ts";

interface SmoothingProps {
  /** Length of the window, in rollouts of an arm. 0: each point of the chart covers only its own step. */
  readonly window: number;
  /** Size of one step of the chart: the number of its update batches, and of the run's rollouts in all of them. */
  readonly step: { readonly batches: number; readonly rollouts: number };
}

export function Smoothing({ window, step }: SmoothingProps) {
  const each = `${counted(step.batches, "update batch", "update batches")} (${count(step.rollouts)} rollouts of the run)`;
  return (
    <>
      <p class="note">
        {window === 0
          ? `Each point is one step: ${each}.`
          : `Each point is over the arm's last ${count(window)} rollouts, rounded up to whole steps of ${each}.`}
      </p>
      <Segments
        label="Smoothing, in rollouts of the arm"
        value={String(window)}
        options={WINDOWS.map((rollouts) => ({
          value: String(rollouts),
          text: rollouts === 0 ? "none" : count(rollouts),
        }))}
        onChoose={(value) => refine({ smoothing: value })}
      />
    </>
  );
}
