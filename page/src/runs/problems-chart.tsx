/** Draws over a run which share of its samples has each problem. */
import type { ArmViolations } from "../../../clients/ts/src/public.ts";
import { type Pen, pensOf } from "../ui/colours.ts";
import type { Curve } from "../ui/figures.ts";
import { line } from "../ui/marks.ts";
import { Panel } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { count, percent } from "../words.ts";

/** Number of violations with a line in the chart. */
const SHOWN = 5;

interface ProblemsProps {
  readonly name: string;
  readonly counts: ArmViolations;
}

export function ProblemsOverTime({ name, counts }: ProblemsProps) {
  const curves = curvesOf(counts);
  return (
    <Panel
      title="Problems over time"
      note={`Shares of the samples in each of ${count(counts.stretches.length)} stretches of equally many tasks.`}
    >
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
          x: { label: "tasks" },
          y: { label: null, grid: true, ticks: 5, zero: true, ...SHARES },
          marks: curves.flatMap(({ spots, pen }) => line(spots, pen)),
        })}
      />
    </Panel>
  );
}

/** Returns a curve for each of the most frequent violations, for samples cut off, and for those without a reward. */
function curvesOf({ stretches, violations }: ArmViolations): readonly Curve[] {
  const lines: readonly { readonly name: string; readonly at: (stretch: number) => bigint }[] = [
    ...violations.slice(0, SHOWN).map(({ template, stretches: counts }) => ({
      name: template,
      at: (stretch: number) => counts[stretch] ?? 0n,
    })),
    { name: "cut off", at: (stretch) => stretches[stretch]?.sums?.truncated ?? 0n },
    {
      name: "without a reward",
      at: (stretch) => (stretches[stretch]?.sums?.samples ?? 0n) - (stretches[stretch]?.sums?.scored ?? 0n),
    },
  ];
  const pens = pensOf(lines.length);
  return lines.map(({ name, at }, index) => ({
    name,
    words: percent,
    pen: pens[index] as Pen,
    spots: stretches.map(({ cursor, sums }, stretch) => {
      const samples = Number(sums?.samples ?? 0n);
      return { x: Number(cursor), y: samples === 0 ? undefined : Number(at(stretch)) / samples };
    }),
  }));
}
