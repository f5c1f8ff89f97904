/** What a plan would draw, and what a simulated student would learn by it. */
import * as Plot from "@observablehq/plot";
import { useState } from "preact/hooks";
import type { RunConfig, SimulatedOutcome, SimulateRunResponse } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../clients/ts/src/gen/gradus/v1/curriculum_pb.js";
import { address, refine } from "../address.ts";
import { serverInfo } from "../caller.ts";
import { gradus, noteFailure } from "../session.ts";
import { lineColours } from "../ui/colours.ts";
import { Failure, Panel, Select } from "../ui/parts.tsx";
import { Chart, SHARES } from "../ui/plot.tsx";
import { Table } from "../ui/table.tsx";
import { count, percent } from "../words.ts";

/** What came of a plan, with the plan: its file may be another by now. */
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
  const families = armIds.map((id) => config.arms.find((arm) => arm.id === id)?.spec?.environment ?? id);
  const colours = lineColours(families);
  const rollouts = (cursor: bigint) => Number(cursor) * config.numGenerations;
  const shares = points.flatMap(({ cursor, counts }) => {
    const tasks = counts.reduce((sum, each) => sum + each, 0);
    return armIds.map((name, at) => ({
      rollouts: rollouts(cursor),
      name,
      value: (counts[at] ?? 0) / Math.max(1, tasks),
    }));
  });
  const success = points.flatMap(({ cursor, success: each }) =>
    armIds.map((name, at) => ({ rollouts: rollouts(cursor), name, value: each[at] ?? 0 })),
  );
  const scores = points.map(({ cursor, score }) => ({ rollouts: rollouts(cursor), value: score }));
  const colour = { domain: [...armIds], range: [...colours] };
  return (
    <div role="status" class="stack">
      <ul class="legend" aria-label="Arms">
        {armIds.map((id, at) => (
          <li key={id}>
            <i style={{ background: colours[at] ?? "" }} /> {id}
          </li>
        ))}
      </ul>
      <h3>Share of the tasks, by arm</h3>
      <Chart
        label="Stacked areas: the share of the tasks that each arm would have, over rollouts"
        height={190}
        inputs={[result]}
        options={() => ({
          marginLeft: 46,
          x: { label: "rollouts" },
          y: { label: null, ...SHARES, domain: [0, 100], grid: true, ticks: 5 },
          color: colour,
          marks: [
            Plot.areaY(shares, {
              x: "rollouts",
              y: "value",
              z: "name",
              fill: "name",
              fillOpacity: 0.92,
              order: [...armIds],
            }),
          ],
        })}
      />
      <h3>What the student can do: each arm, and their mean</h3>
      <Chart
        label="Lines: the student's success in each arm, and their mean, over rollouts"
        height={190}
        inputs={[result]}
        options={() => ({
          marginLeft: 46,
          x: { label: "rollouts" },
          y: { label: null, ...SHARES, domain: [0, 100], grid: true, ticks: 5 },
          color: colour,
          marks: [
            Plot.ruleY([target], { stroke: "var(--good)", strokeDasharray: "4 3" }),
            Plot.lineY(success, { x: "rollouts", y: "value", z: "name", stroke: "name", strokeOpacity: 0.75 }),
            Plot.lineY(scores, { x: "rollouts", y: "value", stroke: "var(--ink)", strokeWidth: 2.5 }),
          ],
        })}
      />
      <Outcomes plan={outcome} equal={equalShares} target={target} />
    </div>
  );
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
