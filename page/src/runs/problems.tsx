/** Shows what is wrong with the samples of a run. Each number links to its samples. */
import {
  type ArmViolations,
  lengthFigure,
  NoRewardReason,
  signWords,
  Verdict,
} from "../../../clients/ts/src/public.ts";
import { address, hrefOf, type Query, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Panel, Select, Share, Tag } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { count, figure, percent } from "../words.ts";
import type { ReadRun } from "./state.ts";

/** Number of violations that the panel shows. */
const SHOWN = 8;
/** Distance from a bin's upper end, which belongs to the next bin. */
const BELOW = 1e-9;

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
          if ((shown?.sums?.samples ?? 0n) === 0n)
            return (
              <p class="empty">
                {counted
                  ? "No samples are counted yet."
                  : "This server counts no samples of runs: start it with --keep-samples, the megabytes to keep of each run."}
              </p>
            );
          const hrefTo = (query: Query) => hrefOf(["runs", runId, "samples"], { arm, ...query });
          return (
            <div class="stack">
              <Signs arms={arms} />
              <Panels counts={shown as ArmViolations} hrefTo={hrefTo} />
            </div>
          );
        }}
      </Answered>
    </>
  );
}

/** Lists the signs that the policy exploits its reward. */
function Signs({ arms }: { readonly arms: readonly ArmViolations[] }) {
  const signs = arms.flatMap(({ armId, signs: found }) => found.map((sign) => `${armId}: ${signWords(sign)}`));
  return (
    <>
      {signs.map((words) => (
        <p key={words}>
          <Tag tone="poor">look at samples</Tag> {words}
        </p>
      ))}
    </>
  );
}

interface PanelsProps {
  readonly counts: ArmViolations;
  /** Returns the link to the samples that a query selects. */
  readonly hrefTo: (query: Query) => string;
}

function Panels({ counts: { sums, violations, missingRewards, rewards }, hrefTo }: PanelsProps) {
  const { samples = 0n, scored = 0n, solved = 0n, truncated = 0n } = sums ?? {};
  const share = (part: bigint, whole = samples): number => (whole === 0n ? 0 : Number(part) / Number(whole));
  const problems = [
    ...violations.slice(0, SHOWN).map(({ template, verdict, search, count: number }) => {
      const outcome = (Verdict[verdict] ?? "").toLowerCase();
      return { words: template, kind: outcome, number, query: { outcome, violation: search } };
    }),
    ...missingRewards.map(({ reason, count: number }) => {
      const words = (NoRewardReason[reason] ?? "").toLowerCase().replaceAll("_", " ");
      return { words, kind: "no reward", number, query: { outcome: "no reward" } };
    }),
  ];
  return (
    <>
      <Panel
        title="What goes wrong"
        note={`${count(samples)} samples: ${percent(share(solved, scored))} solved, ${percent(share(truncated, scored))} cut off, ${percent(share(samples - scored))} without a reward`}
      >
        <Table label="What goes wrong" columns={["problem", "kind", "share", "samples"]} words={2}>
          {problems.map(({ words, kind, number, query }) => (
            <tr key={`${kind} ${words}`}>
              <td class="words">
                <a href={hrefTo(query)}>{words}</a>
              </td>
              <td class="words">{kind}</td>
              <td>
                <Share value={share(number)} label={percent(share(number))} tone="bad" />
              </td>
              <td>{count(number)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
      <Panel title="Rewards, with the mean length of the completions">
        <Table label="Rewards" columns={["reward", "share", "samples", "mean length"]} words={1}>
          {rewards.map(({ lower, upper, sums: of }) => (
            <tr key={lower}>
              <td class="words">
                <a href={hrefTo({ min: String(lower), max: String(upper - BELOW) })}>
                  {figure(lower)} to {figure(upper)}
                </a>
              </td>
              <td>
                <Share value={share(of?.scored ?? 0n, scored)} label={percent(share(of?.scored ?? 0n, scored))} />
              </td>
              <td>{count(of?.scored ?? 0n)}</td>
              <td>{lengthWordsOf(of?.lengths)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
    </>
  );
}

function lengthWordsOf(lengths: Parameters<typeof lengthFigure>[0]): string {
  const length = lengthFigure(lengths);
  return length === undefined ? "–" : `${count(Math.round(length.mean))} ${length.unit}`;
}
