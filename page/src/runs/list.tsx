/** Lists the runs of the server, with their state and progress. */
import type { HistoryRecord, Run, RunState } from "../../../clients/ts/src/public.ts";
import { address, hrefOf, refine } from "../address.ts";
import { type Ask, LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Heading, Search, Select, Share, Tag } from "../ui/parts.tsx";
import { useSeen } from "../ui/sight.ts";
import { sorted, type SortValues } from "../ui/sorting.tsx";
import { Table } from "../ui/table.tsx";
import { count, counted, percent } from "../words.ts";
import { Compared } from "./compare.tsx";
import { ConfigDiff } from "./config-diff.tsx";
import { readHistory } from "./history.ts";
import { Tags } from "./notes.tsx";
import { Sparkline } from "./sparkline.tsx";
import { pausedWords, policyName, type ReadRun, readRun, standingOf } from "./state.ts";
import { RECENT_GROUPS } from "./why.ts";

export function RunList() {
  const answer = useAnswer((gradus, options) => gradus.listRuns(options), [], { everyMs: LIST_MS });
  return (
    <>
      <Heading title="Runs" note="What trainers are taught by: which task comes next, and why.">
        <button type="button" onClick={answer.again}>
          Look again
        </button>
      </Heading>
      <Answered answer={answer}>{(runs) => <Listed runs={runs} />}</Answered>
    </>
  );
}

function Listed({ runs }: { readonly runs: readonly Run[] }) {
  const { q = "", tag = "", compare = "" } = address.value.query;
  const compared = compare.split(",").filter((id) => id !== "");
  if (runs.length === 0)
    return (
      <p class="empty">
        There are no runs yet. A <a href={hrefOf(["plan"])}>plan</a> begins one, and so do trainers.
      </p>
    );
  const found = sorted(
    runs.filter(
      ({ runId, state }) =>
        runId.toLowerCase().includes(q.toLowerCase()) && (tag === "" || state?.tags.includes(tag) === true),
    ),
    sortable,
  );
  const tags = [...new Set([...runs.flatMap(({ state }) => state?.tags ?? []), ...(tag === "" ? [] : [tag])])].sort();
  const choose = (runId: string, on: boolean) =>
    refine({ compare: (on ? [...compared, runId] : compared.filter((other) => other !== runId)).join(",") });
  const read = runs.map(readRun).filter((run) => run !== undefined);
  const chosen = read.filter(({ runId }) => compared.includes(runId));
  return (
    <>
      <div class="toolbar" role="search">
        <Search label="Search runs" value={q} onType={(text) => refine({ q: text })} />
        {tags.length > 0 && (
          <Select
            label="Tag"
            value={tag}
            options={["", ...tags].map((value) => ({ value, text: value || "any" }))}
            onChoose={(value) => refine({ tag: value })}
          />
        )}
        <p class="note" role="status">
          {counted(found.length, "run")}. Choose some to lay their charts over each other. Solved is over the last{" "}
          {RECENT_GROUPS} closed groups of each arm.
        </p>
      </div>
      {chosen.length > 0 && <Compared runs={chosen} />}
      {chosen.length > 1 && <ConfigDiff runs={chosen} />}
      <Table
        label="Runs"
        columns={["run", "state", "policy", "tasks", "arms", "solved", "over time", "open groups"]}
        words={3}
        sortable={Object.keys(sortable)}
      >
        {found.map((run) => (
          <Row key={run.runId} run={run} chosen={compared.includes(run.runId)} onChoose={choose} />
        ))}
      </Table>
    </>
  );
}

/** Values by which the list is sorted, by column. */
const sortable: SortValues<Run> = {
  run: ({ runId }) => runId,
  state: ({ state }) => standingOf(state).word,
  policy: ({ state }) => policyName(state?.policy),
  tasks: ({ state }) => state && Number(state.cursor),
  arms: ({ state }) => state?.arms.length,
  solved: ({ state }) => state && recentlySolved(state),
  "open groups": ({ state }) => state?.groupsOutstanding,
};

/** Returns the share of solved samples in the recent groups of all arms. Undefined: there are none yet. */
function recentlySolved({ arms }: RunState): number | undefined {
  let [solved, groups] = [0, 0];
  for (const { recentSolvedShare, groups: closed } of arms) {
    if (recentSolvedShare === undefined) continue;
    const recent = Math.min(RECENT_GROUPS, Number(closed));
    solved += recentSolvedShare * recent;
    groups += recent;
  }
  return groups === 0 ? undefined : solved / groups;
}

interface RowProps {
  readonly run: Run;
  readonly chosen: boolean;
  readonly onChoose: (runId: string, on: boolean) => void;
}

function Row({ run, chosen, onChoose }: RowProps) {
  const { runId, unreadable } = run;
  const read = readRun(run);
  const { word, tone } = standingOf(read?.state);
  return (
    <tr>
      <th scope="row">
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Lay ${runId} over the others`}
            checked={chosen}
            disabled={read === undefined}
            onChange={(event) => onChoose(runId, event.currentTarget.checked)}
          />
          <a href={hrefOf(["runs", runId])}>{runId}</a>
        </label>
        <a class="aside" href={hrefOf(["runs", runId, "samples"])} aria-label={`Samples of ${runId}`}>
          samples
        </a>
      </th>
      <td class="words">
        <Tag tone={tone}>{word}</Tag> <span class="note">{read && pausedWords(read.state)}</span>{" "}
        {read && <Tags tags={read.state.tags} />}
      </td>
      {read === undefined ? (
        <td colSpan={6} class="words">
          {unreadable}
        </td>
      ) : (
        <Cells run={read} />
      )}
    </tr>
  );
}

function Cells({ run }: { readonly run: ReadRun }) {
  const { config, state } = run;
  const solved = recentlySolved(state);
  const { length } = config;
  return (
    <>
      <td class="words">{policyName(state.policy)}</td>
      <td>
        {length === 0n ? (
          count(state.cursor)
        ) : (
          <Share value={Number(state.cursor) / Number(length)} label={`${count(state.cursor)} of ${count(length)}`} />
        )}
      </td>
      <td>{count(state.arms.length)}</td>
      <td>{solved === undefined ? "–" : percent(solved)}</td>
      <td>
        <SolvedLine run={run} />
      </td>
      <td>{count(state.groupsOutstanding)}</td>
    </>
  );
}

const STEPS = 40;

function SolvedLine({ run: { runId, state } }: { readonly run: ReadRun }) {
  const { place, seen } = useSeen<HTMLSpanElement>();
  const read: Ask<readonly HistoryRecord[]> = async (gradus, { signal }) =>
    (await readHistory(gradus, undefined, { runId, state, steps: STEPS, signal })).records;
  // Fetch the history only for visible rows, because a long list of runs would keep the server busy.
  const answer = useAnswer(seen ? read : undefined, [runId, String(state.batchesDrawn)]);
  const values = (answer.value ?? []).flatMap(({ kind, rolledBack }) =>
    kind.case === "batch" && !rolledBack ? [kind.value.solvedShare ?? Number.NaN] : [],
  );
  return (
    <span ref={place}>
      <Sparkline values={values} label={`The share of samples solved in ${runId}, over time`} />
    </span>
  );
}
