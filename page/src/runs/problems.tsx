/**
 * Shows what is wrong with the samples of a run. Problems and shares are links to the list of the samples concerned, if
 * that list has such a filter.
 */
import type { ComponentChildren } from "preact";
import {
  type ArmViolations,
  binWords,
  type CompletionLengths,
  lengthFigure,
  signWords,
  Verdict,
  type ViolationCount,
} from "../../../clients/ts/src/public.ts";
import { address, hrefOf, type Query, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Panel, Select, Share, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { Table } from "../ui/table.tsx";
import { count, percent } from "../words.ts";
import { reasonChoice } from "../samples/filter.ts";
import { ProblemsOverTime } from "./problems-chart.tsx";
import type { ReadRun } from "./state.ts";

/** Number of violations that the panel shows. */
const SHOWN = 8;
/** Amount that is subtracted from a bin's upper end for a filter, because the end itself belongs to the next bin. */
const BELOW = 1e-9;

/** Returns the link to the samples that a query selects. */
type Linking = (query: Query) => string;

export function ProblemsOfRun({ run: { runId, state } }: { readonly run: ReadRun }) {
  const { arm = "" } = address.value.query;
  const answer = useAnswer((client, options) => client.run(runId).violations(arm, options), [runId, arm], {
    everyMs: 2 * LIST_MS,
  });
  const hrefTo: Linking = (query) => hrefOf(["runs", runId, "samples"], { arm, ...query });
  return (
    <>
      <div class="toolbar">
        <Select
          label="Arm"
          value={arm}
          options={[{ value: "", text: "all" }, ...state.arms.map(({ armId }) => ({ value: armId, text: armId }))]}
          onChoose={(value) => refine({ arm: value })}
        />
      </div>
      <Answered answer={answer}>
        {({ total, arms, stretchTasks, counted }) => {
          const counts = arm === "" ? total : arms[0];
          if (!counts?.sums?.samples)
            return (
              <p class="empty">
                {counted
                  ? "No samples are counted yet."
                  : "This server counts no samples of runs: start it with --keep-samples, the megabytes to keep of each run."}
              </p>
            );
          return (
            <div class="stack">
              <Signs arms={arms} hrefTo={hrefTo} />
              <WhatGoesWrong counts={counts} hrefTo={hrefTo} />
              <ProblemsOverTime name={`${runId}: problems over time`} counts={counts} tasks={stretchTasks} />
              <Rewards counts={counts} hrefTo={hrefTo} />
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
  const signs = arms.flatMap(({ armId, signs: found }) => found.map((sign) => [armId, signWords(sign)] as const));
  return (
    <>
      {signs.map(([armId, words]) => (
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

/** Shares of an arm's samples, as percentages. */
function sharesOf({ sums }: ArmViolations) {
  const { samples = 0n, scored = 0n, solved = 0n, truncated = 0n } = sums ?? {};
  return {
    solved: percent(shareOf(solved, scored)),
    cutOff: percent(shareOf(truncated, scored)),
    noReward: percent(shareOf(samples - scored, samples)),
  };
}

interface Problem {
  readonly words: string;
  readonly kind: string;
  readonly count: bigint;
  /** Filter of the samples with the problem. Unset: there is none. */
  readonly query?: Query;
}

function problemOf({ template, verdict, count: number }: ViolationCount): Problem {
  const kind = (Verdict[verdict] ?? "").toLowerCase();
  return { words: template, kind, count: number, query: { outcome: kind, template } };
}

function problemsOf({ violations, otherViolations, missingRewards }: ArmViolations): readonly Problem[] {
  const others = violations.slice(SHOWN).reduce((sum, each) => sum + each.count, otherViolations);
  return [
    ...violations.slice(0, SHOWN).map(problemOf),
    ...(others > 0n ? [{ words: "other violations", kind: "", count: others }] : []),
    ...missingRewards.map(({ reason, count: number }) => ({
      words: reasonChoice(reason).replace("no reward: ", ""),
      kind: "no reward",
      count: number,
      query: { outcome: reasonChoice(reason) },
    })),
  ];
}

function WhatGoesWrong({ counts, hrefTo }: CountsProps) {
  const samples = counts.sums?.samples ?? 0n;
  const { solved, cutOff, noReward } = sharesOf(counts);
  return (
    <Panel
      title="What goes wrong"
      note={
        <>
          {count(samples)} samples: <a href={hrefTo({ outcome: "solved" })}>{solved} solved</a>,{" "}
          <a href={hrefTo({ outcome: "cut off" })}>{cutOff} cut off</a>,{" "}
          <a href={hrefTo({ outcome: "no reward" })}>{noReward} without a reward</a>
        </>
      }
    >
      <Table label="What goes wrong" columns={["problem", "share", "samples", "kind"]} words={1}>
        {problemsOf(counts).map(({ words, kind, count: number, query }) => (
          <tr key={`${kind} ${words}`}>
            <td class="words wraps">
              <Linked href={query && hrefTo(query)}>{words}</Linked>
            </td>
            <td>
              <Share value={shareOf(number, samples)} label={percent(shareOf(number, samples))} tone="bad" />
            </td>
            <td>{count(number)}</td>
            <td>{kind}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Rewards({ counts: { sums, rewards }, hrefTo }: CountsProps) {
  return (
    <Panel title="Rewards, with the mean length of the completions">
      <Table label="Rewards" columns={["reward", "share", "samples", "mean length"]} words={1}>
        {rewards.map((reward, at) => {
          const { lower, upper, sums: bin } = reward;
          const share = shareOf(bin?.scored ?? 0n, sums?.scored ?? 0n);
          const min = at === 0 ? undefined : String(lower);
          const max = at === rewards.length - 1 ? undefined : String(upper - BELOW);
          return (
            <tr key={lower}>
              <td class="words">
                <a href={hrefTo({ min, max })}>{binWords(reward)}</a>
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
          "arm",
          "samples",
          "solved",
          "cut off",
          "no reward",
          "mean length",
          "most frequent violation",
          "share",
        ]}
        words={[0, 6]}
        count={arms.length}
        keyOf={(at) => arms[at]?.armId ?? at}
        row={(at) => armCells(arms[at] as ArmViolations, runId, hrefTo)}
      />
    </Panel>
  );
}

function armCells(counts: ArmViolations, runId: string, hrefTo: Linking) {
  const { armId: arm, sums, violations } = counts;
  const { solved, cutOff, noReward } = sharesOf(counts);
  const [most] = violations.map(problemOf);
  return [
    <a href={hrefOf(["runs", runId, "problems"], { arm })}>{arm}</a>,
    count(sums?.samples ?? 0n),
    <a href={hrefTo({ arm, outcome: "solved" })}>{solved}</a>,
    <a href={hrefTo({ arm, outcome: "cut off" })}>{cutOff}</a>,
    <a href={hrefTo({ arm, outcome: "no reward" })}>{noReward}</a>,
    lengthWordsOf(sums?.lengths),
    most === undefined ? (
      "–"
    ) : (
      <span class="clipped" title={most.words}>
        <Linked href={most.query && hrefTo({ arm, ...most.query })}>
          {percent(shareOf(most.count, sums?.samples ?? 0n))} {most.words}
        </Linked>
      </span>
    ),
  ];
}

interface LinkedProps {
  readonly href: string | undefined;
  readonly children: ComponentChildren;
}

/** Words that are a link if they have an address. */
function Linked({ href, children }: LinkedProps) {
  return href === undefined ? <>{children}</> : <a href={href}>{children}</a>;
}

function lengthWordsOf(lengths: CompletionLengths | undefined): string {
  const length = lengthFigure(lengths);
  return length === undefined ? "–" : `${count(Math.round(length.mean))} ${length.unit}`;
}
