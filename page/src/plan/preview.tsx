/**
 * Shows which arms the run of a plan (a run file in the making) would draw tasks from, and how much a simulated student
 * would learn.
 */
import { useState } from "preact/hooks";
import type { RunConfig, SimulatedOutcome, SimulateRunResponse } from "../../../clients/ts/src/public.ts";
import { CurriculumService, type SimulatedPoint } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { address, refine } from "../address.ts";
import { serverInfo } from "../caller.ts";
import { gradus, noteFailure } from "../connection.ts";
import { type Pen, pensOf } from "../ui/colours.ts";
import { held, level, line, stack } from "../ui/marks.ts";
import { Failure, Panel, Select } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { Swatch } from "../ui/swatch.tsx";
import { Table } from "../ui/table.tsx";
import { count, percent } from "../words.ts";

/** Result of a simulation, with its configuration, because the plan's text may have changed since then. */
interface Played {
  readonly config: RunConfig;
  readonly result: SimulateRunResponse;
}

export function Preview({ config }: { readonly config: RunConfig }) {
  const { student = "", luck = "0", updates = "" } = address.value.query;
  const [played, setPlayed] = useState<Played>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const students = serverInfo.value?.students ?? [];
  const play = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const seed = BigInt(/^\d{1,19}$/.test(luck) ? luck : "0");
      const asked = { config, student, seed, updates: Number(updates) || 0 };
      setPlayed({ config, result: await gradus.value.unary(CurriculumService.method.simulateRun, asked) });
    } catch (thrown) {
      setError(noteFailure(thrown));
    }
    setBusy(false);
  };
  return (
    <Panel title="Try it on a simulated student" note="Figures compare policies; they foretell no model's success.">
      <form class="toolbar" onSubmit={(event) => void play(event)}>
        <Select
          label="Student"
          value={student || (students[0]?.name ?? "")}
          options={students.map(({ name, models }) => ({ value: name, text: `${name}: ${models}` }))}
          onChoose={(value) => refine({ student: value })}
        />
        <label class="field narrow">
          <span>Luck</span>
          <input inputMode="numeric" value={luck} onInput={(event) => refine({ luck: event.currentTarget.value })} />
        </label>
        <label class="field narrow">
          <span>Update batches</span>
          <input
            inputMode="numeric"
            placeholder="all"
            value={updates}
            onInput={(event) => refine({ updates: event.currentTarget.value })}
          />
        </label>
        <button type="submit" disabled={busy}>
          {busy ? "Playing…" : "Play it"}
        </button>
      </form>
      {error !== undefined && <Failure error={error} />}
      {played !== undefined && <PlayedShown played={played} />}
    </Panel>
  );
}

function PlayedShown({ played: { config, result } }: { readonly played: Played }) {
  const { points, armIds, outcome, equalShares, target } = result;
  const pens = pensOf(armIds.length);
  const spots = (of: (point: SimulatedPoint) => number) =>
    points.map((point) => ({ x: Number(point.cursor) * config.numGenerations, y: of(point) }));
  const last = points.at(-1);
  const end = (Number(last?.cursor ?? 0n) + total(last?.counts ?? [])) * config.numGenerations;
  const layers = armIds.map((name, at) => ({
    name,
    ink: (pens[at] as Pen).ink,
    opacity: 0.92,
    spots: held(
      spots(({ counts }) => (counts[at] ?? 0) / Math.max(1, total(counts))),
      end,
    ),
  }));
  const axes = {
    marginLeft: 46,
    x: { label: "rollouts", domain: [0, end] },
    y: { label: null, ...SHARES, domain: [0, 100], grid: true, ticks: 5 },
  };
  return (
    <div role="status" class="stack">
      <ul class="legend" aria-label="Arms">
        {armIds.map((id, at) => (
          <li key={id}>
            <Swatch pen={pens[at] as Pen} /> {id}
          </li>
        ))}
      </ul>
      <h3>Share of the tasks, by arm</h3>
      <Chart
        label="Stacked areas: the share of the tasks that each arm would have, over rollouts"
        height={190}
        inputs={[result]}
        options={() => ({ ...axes, marks: [...stack(layers)] })}
      />
      <h3>What the student can do: each arm, and their mean</h3>
      <Chart
        label="Lines: the student's success in each arm, and their mean, over rollouts"
        height={190}
        inputs={[result]}
        options={() => ({
          ...axes,
          marks: [
            ...level(target, { ink: "var(--good)" }),
            ...pens.flatMap((pen, at) =>
              line(
                spots(({ success }) => success[at] ?? 0),
                { ...pen, opacity: 0.75 },
              ),
            ),
            ...line(
              spots(({ score }) => score),
              { ink: "var(--ink)", width: 2.5 },
            ),
          ],
        })}
      />
      <Outcomes plan={outcome} equal={equalShares} target={target} />
    </div>
  );
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, each) => sum + each, 0);
}

interface OutcomesProps {
  readonly plan: SimulatedOutcome | undefined;
  readonly equal: SimulatedOutcome | undefined;
  readonly target: number;
}

function Outcomes({ plan, equal, target }: OutcomesProps) {
  const figures: readonly (readonly [string, (outcome: SimulatedOutcome) => string])[] = [
    [
      `rollouts to ${percent(target)}`,
      ({ rolloutsToTarget }) => (rolloutsToTarget === undefined ? "never" : count(rolloutsToTarget)),
    ],
    ["success at the end", ({ success }) => percent(success)],
    ["success on the way", ({ successMean }) => percent(successMean)],
    ["useful groups", ({ useful }) => percent(useful)],
    ["rollouts on what cannot be learnt", ({ wasted }) => percent(wasted)],
  ];
  return (
    <Table
      label="What it comes to"
      columns={[<span class="hidden">figure</span>, "this plan", "equal shares"]}
      words={1}
    >
      {figures.map(([name, of]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{plan === undefined ? "–" : of(plan)}</td>
          <td>{equal === undefined ? "–" : of(equal)}</td>
        </tr>
      ))}
    </Table>
  );
}
