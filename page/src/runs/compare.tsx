/** Compares runs: one statistic of each run in one chart, over their rollouts or their tokens. */
import { address, named, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { type Pen, pensOf } from "../ui/colours.ts";
import { hasValues, line } from "../ui/marks.ts";
import { Answered, Panel, Segments } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { readHistory, STEPS } from "./history.ts";
import { AxisChoice } from "./axis-choice.tsx";
import type { Over } from "./rollouts.ts";
import { type Point, type Series, seriesOf } from "./series.ts";
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

export function Compared({ runs }: { readonly runs: readonly ReadRun[] }) {
  const answer = useAnswer(
    (gradus, { signal }) =>
      Promise.all(
        runs.map(async (run) => {
          const { runId, state } = run;
          const history = await readHistory(gradus, undefined, { runId, state, steps: STEPS, signal });
          return { runId, rollouts: seriesOf(run, history), tokens: seriesOf(run, history, "tokens") };
        }),
      ),
    [runs.map(({ runId, state }) => `${runId} ${state.batchesDrawn} ${state.batchesClosed}`).join()],
  );
  const { measure = "solved", over } = address.value.query;
  return (
    <Panel title="Laid over each other">
      <Segments
        label="Figure"
        value={named(measures, measure) === undefined ? "solved" : measure}
        options={Object.entries(measures).map(([value, { text }]) => ({ value, text }))}
        onChoose={(value) => refine({ measure: value })}
      />
      <Answered answer={answer}>
        {(lines) => <Overlay lines={lines} measure={measure} isOverTokens={over === "tokens"} />}
      </Answered>
    </Panel>
  );
}

/**
 * Points of a run's line over each of the two axes, rollouts and tokens, with the run's id. While other runs are being
 * loaded, the previous lines stay visible.
 */
interface Line {
  readonly runId: string;
  readonly rollouts: Series;
  readonly tokens: Series;
}

interface OverlayProps {
  readonly lines: readonly Line[];
  readonly measure: string;
  readonly isOverTokens: boolean;
}

function Overlay({ lines, measure, isOverTokens }: OverlayProps) {
  const pens = pensOf(lines.length);
  const { text, of, isShare } = named(measures, measure) ?? solved;
  // A chart over lengths needs one unit: all runs count tokens, or all count characters.
  const units = new Set(lines.map(({ tokens }) => tokens.axis));
  const haveLengths = units.size === 1 && lines.every(({ tokens }) => tokens.hasLengths);
  const over: Over = isOverTokens && haveLengths ? "tokens" : "rollouts";
  const axis = lines[0]?.[over].axis ?? over;
  const spots = lines.map((line) => line[over].points.map((point) => ({ x: point.x, y: of(point) })));
  return (
    <>
      {haveLengths && <AxisChoice over={over} />}
      <ul class="legend" aria-label="Runs">
        {lines.map(({ runId }, at) => (
          <li key={runId}>
            <Swatch pen={pens[at] as Pen} /> {runId}
            {!hasValues(spots[at] ?? []) && <span class="note">(no {text} yet)</span>}
          </li>
        ))}
      </ul>
      {!hasValues(spots.flat()) ? (
        <p class="empty">None of them has a {text} yet.</p>
      ) : (
        <Chart
          label={`Lines: ${text} of each run, over ${axis}`}
          height={280}
          inputs={[lines, measure, over]}
          options={() => ({
            marginLeft: 46,
            x: { label: axis, domain: [0, Math.max(1, ...spots.flat().map(({ x }) => x))] },
            y: { label: null, grid: true, zero: true, ...(isShare && SHARES) },
            marks: spots.flatMap((each, at) => line(each, { ...(pens[at] as Pen), width: 1.8 })),
          })}
        />
      )}
    </>
  );
}
