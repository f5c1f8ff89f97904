/** Shows what is wrong with the samples of a run. Each number links to its samples where the list can be filtered so. */
import {
  type ArmViolations,
  lengthFigure,
  type MissingRewards,
  NoRewardReason,
  signWords,
  Verdict,
  type ViolationCount,
} from "../../../clients/ts/src/public.ts";
import { address, hrefOf, type Query, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Panel, Select, Share, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { Table } from "../ui/table.tsx";
import { count, figure, percent } from "../words.ts";
import { ProblemsOverTime } from "./problems-chart.tsx";
import type { ReadRun } from "./state.ts";

/** Number of violations that the panel shows. */
const SHOWN = 8;
/** Distance from a bin's upper end, which belongs to the next bin. */
const BELOW = 1e-9;

/** Returns the link to the samples that a query selects. */
type Linking = (query: Query) => string;

export function ProblemsOfRun({ run: { runId, state } }: { readonly run: ReadRun }) {
  const { arm = "" } = address.value.query;
  const answer = useAnswer((client, options) => client.run(runId).violations(arm, options), [runId, arm], {
    everyMs: 2 * LIST_MS,
  });
  const names = state.arms.map(({ armId }) => ({ value: armId, text: armId }));
  return (
    <>
      <div class="toolbar">
        <Select
          label="Arm"
          value={arm}
          options={[{ value: "", text: "all" }, ...names]}
          onChoose={(value) => refine({ arm: value })}
        />
      </div>
      <Answered answer={answer}>
        {({ total, arms, counted }) => {
          const shown = arm === "" ? total : arms[0];
          if (shown === undefined || (shown.sums?.samples ?? 0n) === 0n)
            return (
              <p class="empty">
                {counted
                  ? "No samples are counted yet."
                  : "This server counts no samples of runs: start it with --keep-samples, the megabytes to keep of each run."}
              </p>
            );
          const hrefTo: Linking = (query) => hrefOf(["runs", runId, "samples"], { arm, ...query });
          return (
            <div class="stack">
              <Signs arms={arms} hrefTo={hrefTo} />
              <WhatGoesWrong counts={shown} hrefTo={hrefTo} />
              <ProblemsOverTime name={`${runId}: problems over time`} counts={shown} />
              <Rewards counts={shown} hrefTo={hrefTo} />
              {arm === "" && arms.length > 1 && <ByArm runId={runId} arms={arms} hrefTo={hrefTo} />}
            </div>
          );
        }}
      </Answered>
    </>
  );
}

interface ArmsProps {
  readonly arms: readonly ArmViolations[];
  readonly hrefTo: Linking;
}

/** Lists the signs that the policy exploits its reward. */
function Signs({ arms, hrefTo }: ArmsProps) {
  const signs = arms.flatMap(({ armId, signs: found }) => found.map((sign) => ({ armId, words: signWords(sign) })));
  return (
    <>
      {signs.map(({ armId, words }) => (
        <p key={`${armId} ${words}`}>
          <Tag tone="poor">look at samples</Tag> <a href={hrefTo({ arm: armId })}>{armId}</a>: {words}
        </p>
      ))}
    </>
  );
}

interface CountsProps {
  readonly counts: ArmViolations;
  readonly hrefTo: Linking;
}

function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number(part) / Number(whole);
}

interface Problem {
  readonly words: string;
  readonly kind: string;
  readonly number: bigint;
  /** Filter of the samples with the problem. Undefined: the list of samples has no such filter. */
  readonly query: Query | undefined;
}

function violationOf({ template, verdict, search, count: number }: ViolationCount): Problem {
  const outcome = (Verdict[verdict] ?? "").toLowerCase();
  return { words: template, kind: outcome, number, query: search === "" ? undefined : { outcome, violation: search } };
}

function missingOf({ reason, count: number }: MissingRewards, isOnly: boolean): Problem {
  const words = (NoRewardReason[reason] ?? "").toLowerCase().replaceAll("_", " ");
  // The list of samples cannot be filtered by the reason.
  return { words, kind: "no reward", number, query: isOnly ? { outcome: "no reward" } : undefined };
}

function WhatGoesWrong({ counts: { sums, violations, missingRewards }, hrefTo }: CountsProps) {
  const { samples = 0n, scored = 0n, solved = 0n, truncated = 0n } = sums ?? {};
  const problems = [
    ...violations.slice(0, SHOWN).map(violationOf),
    ...missingRewards.map((each) => missingOf(each, missingRewards.length === 1)),
  ];
  return (
    <Panel
      title="What goes wrong"
      note={
        <>
          {count(samples)} samples:{" "}
          <a href={hrefTo({ outcome: "solved" })}>{percent(shareOf(solved, scored))} solved</a>,{" "}
          {percent(shareOf(truncated, scored))} cut off,{" "}
          <a href={hrefTo({ outcome: "no reward" })}>{percent(shareOf(samples - scored, samples))} without a reward</a>
        </>
      }
    >
      <Table label="What goes wrong" columns={["problem", "kind", "share", "samples"]} words={2}>
        {problems.map(({ words, kind, number, query }) => (
          <tr key={`${kind} ${words}`}>
            <td class="words">{query === undefined ? words : <a href={hrefTo(query)}>{words}</a>}</td>
            <td class="words">{kind}</td>
            <td>
              <Share value={shareOf(number, samples)} label={percent(shareOf(number, samples))} tone="bad" />
            </td>
            <td>{count(number)}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Rewards({ counts: { sums, rewards }, hrefTo }: CountsProps) {
  const scored = sums?.scored ?? 0n;
  return (
    <Panel title="Rewards, with the mean length of the completions">
      <Table label="Rewards" columns={["reward", "share", "samples", "mean length"]} words={1}>
        {rewards.map(({ lower, upper, sums: bin }) => {
          const share = shareOf(bin?.scored ?? 0n, scored);
          return (
            <tr key={lower}>
              <td class="words">
                <a href={hrefTo({ min: String(lower), max: String(upper - BELOW) })}>
                  {figure(lower)} to {figure(upper)}
                </a>
              </td>
              <td>
                <Share value={share} label={percent(share)} />
              </td>
              <td>{count(bin?.scored ?? 0n)}</td>
              <td>{lengthWordsOf(bin?.lengths)}</td>
            </tr>
          );
        })}
      </Table>
    </Panel>
  );
}

/** Lists the arms, each with its figures and its most frequent violation. */
function ByArm({ runId, arms, hrefTo }: ArmsProps & { readonly runId: string }) {
  return (
    <Panel title="By arm">
      <Rows
        label="Problems by arm"
        columns={[
          ...["arm", "samples", "solved", "cut off", "without a reward", "mean length"],
          ...["most frequent violation", "its share"],
        ]}
        words={[0, 6]}
        count={arms.length}
        keyOf={(at) => arms[at]?.armId ?? at}
        row={(at) => armCells(arms[at] as ArmViolations, runId, hrefTo)}
      />
    </Panel>
  );
}

function armCells({ armId, sums, violations }: ArmViolations, runId: string, hrefTo: Linking) {
  const { samples = 0n, scored = 0n, solved = 0n, truncated = 0n } = sums ?? {};
  const [most] = violations.map(violationOf);
  return [
    <a href={hrefOf(["runs", runId, "problems"], { arm: armId })}>{armId}</a>,
    count(samples),
    <a href={hrefTo({ arm: armId, outcome: "solved" })}>{percent(shareOf(solved, scored))}</a>,
    percent(shareOf(truncated, scored)),
    <a href={hrefTo({ arm: armId, outcome: "no reward" })}>{percent(shareOf(samples - scored, samples))}</a>,
    lengthWordsOf(sums?.lengths),
    most?.query === undefined ? (most?.words ?? "–") : <a href={hrefTo({ arm: armId, ...most.query })}>{most.words}</a>,
    most === undefined ? "–" : percent(shareOf(most.number, samples)),
  ];
}

function lengthWordsOf(lengths: Parameters<typeof lengthFigure>[0]): string {
  const length = lengthFigure(lengths);
  return length === undefined ? "–" : `${count(Math.round(length.mean))} ${length.unit}`;
}
