/** Runs laid over each other: one figure of each, over their rollouts. */
import * as Plot from "@observablehq/plot";
import { address, named, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { lineColours } from "../ui/colours.ts";
import { Answered, Panel, Segments } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { readHistory, STEPS } from "./history.ts";
import { type Point, seriesOf } from "./series.ts";
import type { ReadRun } from "./state.ts";

interface Measure {
  readonly text: string;
  readonly of: (point: Point) => number | undefined;
  readonly isShare: boolean;
}

const solved: Measure = { text: "solved share", of: ({ solved: share }) => share, isShare: true };

const measures: Readonly<Record<string, Measure>> = {
  solved,
  reward: { text: "mean reward", of: ({ reward }) => reward, isShare: false },
  useful: { text: "useful groups", of: ({ useful }) => useful, isShare: true },
};

/** Runs are told apart by their lines as well as by their colours. */
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

export function Compared({ runs }: { readonly runs: readonly ReadRun[] }) {
  const ids = runs.map(({ runId }) => runId);
  const answer = useAnswer(
    (gradus, { signal }) =>
      Promise.all(
        runs.map(async (run) => {
          const { runId, state } = run;
          const history = await readHistory(gradus, undefined, { runId, state, steps: STEPS, signal });
          return { runId, points: seriesOf(run, history).points };
        }),
      ),
    [ids.join()],
  );
  const { measure = "solved" } = address.value.query;
  return (
    <Panel title="Laid over each other">
      <Segments
        label="Figure"
        value={measure in measures ? measure : "solved"}
        options={Object.entries(measures).map(([value, { text }]) => ({ value, text }))}
        onChoose={(value) => refine({ measure: value })}
      />
      <Answered answer={answer}>{(lines) => <Overlay lines={lines} measure={measure} />}</Answered>
    </Panel>
  );
}

/** A run's, with its name: while other runs are asked for, those of before are shown. */
interface Line {
  readonly runId: string;
  readonly points: readonly Point[];
}

function Overlay({ lines, measure }: { readonly lines: readonly Line[]; readonly measure: string }) {
  const ids = lines.map(({ runId }) => runId);
  const colours = lineColours(ids);
  const { text, of, isShare } = named(measures, measure) ?? solved;
  return (
    <>
      <ul class="legend" aria-label="Runs">
        {ids.map((id, at) => (
          <li key={id}>
            <i style={{ background: colours[at] ?? "" }} /> {id}
          </li>
        ))}
      </ul>
      <Chart
        label={`Lines: ${text} of each run, over rollouts`}
        height={280}
        inputs={[lines, measure]}
        options={() => ({
          marginLeft: 46,
          x: { label: "rollouts" },
          y: { label: null, grid: true, zero: true, ...(isShare && SHARES) },
          marks: lines.map(({ points }, at) =>
            Plot.lineY(
              points.map((point) => ({ rollouts: point.rollouts, value: of(point) ?? Number.NaN })),
              {
                x: "rollouts",
                y: "value",
                stroke: colours[at] ?? "currentColor",
                strokeWidth: 1.8,
                strokeDasharray: DASHES[at % DASHES.length] ?? "",
              },
            ),
          ),
        })}
      />
    </>
  );
}
