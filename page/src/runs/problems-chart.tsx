/** Charts the share of samples with each problem, over the run. */
import type { ArmViolations, SampleSums } from "../../../clients/ts/src/public.ts";
import { type Pen, pensOf } from "../ui/colours.ts";
import { type Curve, linesOf } from "../ui/marks.ts";
import { Panel } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { counted, percent } from "../words.ts";

/** Number of violations with a line in the chart. */
const SHOWN = 5;

interface ProblemsProps {
  readonly name: string;
  readonly counts: ArmViolations;
  /** Number of consecutive tasks that each point of the chart covers. */
  readonly tasks: bigint;
}

export function ProblemsOverTime({ name, counts, tasks }: ProblemsProps) {
  const curves = curvesOf(counts);
  return (
    <Panel title="Problems over time" note={`Each point is over the samples of ${counted(tasks, "task")}.`}>
      <ul class="legend" aria-label="Problems">
        {curves.map(({ name: words, pen }, at) => (
          <li key={at}>
            <Swatch pen={pen} /> {words}
          </li>
        ))}
      </ul>
      <Chart
        label="Lines: the share of the samples with each problem, over tasks"
        height={210}
        inputs={[counts]}
        figures={{ name, axis: "tasks", curves }}
        options={() => ({
          marginLeft: 46,
          x: { label: "tasks", zero: true, tickFormat: "~s" },
          y: { label: null, grid: true, ticks: 5, zero: true, ...SHARES },
          marks: [...linesOf(curves)],
        })}
      />
    </Panel>
  );
}

/** Returns a curve for each of the most frequent violations, for samples cut off, and for those without a reward. */
function curvesOf({ stretches, violations }: ArmViolations): readonly Curve[] {
  const lines: readonly (readonly [name: string, (sums: SampleSums | undefined, stretch: number) => bigint])[] = [
    ...violations
      .slice(0, SHOWN)
      .map(({ template, stretches: counts }) => [template, (_: unknown, at: number) => counts[at] ?? 0n] as const),
    ["cut off", (sums) => sums?.truncated ?? 0n],
    ["without a reward", (sums) => (sums?.samples ?? 0n) - (sums?.scored ?? 0n)],
  ];
  const pens = pensOf(lines.length);
  return lines.map(([name, countIn], line) => ({
    name,
    words: percent,
    pen: pens[line] as Pen,
    spots: stretches.map(({ cursor, sums }, at) => {
      return { x: Number(cursor), y: Number(countIn(sums, at)) / Number(sums?.samples ?? 0n) };
    }),
  }));
}
