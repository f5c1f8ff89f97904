/** Lists the runs of the server, with their state and progress. */
import type { HistoryRecord, Run } from "../../../clients/ts/src/public.ts";
import { address, hrefOf, refine } from "../address.ts";
import { type Ask, LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Heading, Search, Share, Tag } from "../ui/parts.tsx";
import { useSeen } from "../ui/sight.ts";
import { Table } from "../ui/table.tsx";
import { count, counted, percent } from "../words.ts";
import { Compared } from "./compare.tsx";
import { readHistory } from "./history.ts";
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
  const { q = "", compare = "" } = address.value.query;
  const compared = compare.split(",").filter((id) => id !== "");
  if (runs.length === 0)
    return (
      <p class="empty">
        There are no runs yet. A <a href={hrefOf(["plan"])}>plan</a> begins one, and so do trainers.
      </p>
    );
  const found = runs.filter(({ runId }) => runId.toLowerCase().includes(q.toLowerCase()));
  const choose = (runId: string, on: boolean) =>
    refine({ compare: (on ? [...compared, runId] : compared.filter((other) => other !== runId)).join(",") });
  const read = runs.map(readRun).filter((run) => run !== undefined);
  const chosen = read.filter(({ runId }) => compared.includes(runId));
  return (
    <>
      <div class="toolbar" role="search">
        <Search label="Search runs" value={q} onType={(text) => refine({ q: text })} />
        <p class="note" role="status">
          {counted(found.length, "run")}. Choose some to lay their charts over each other. Solved is over the last{" "}
          {RECENT_GROUPS} closed groups of each arm.
        </p>
      </div>
      {chosen.length > 0 && <Compared runs={chosen} />}
      <Table
        label="Runs"
        columns={["run", "state", "policy", "tasks", "arms", "solved", "over time", "open groups"]}
        words={3}
      >
        {found.map((run) => (
          <Row key={run.runId} run={run} chosen={compared.includes(run.runId)} onChoose={choose} />
        ))}
      </Table>
    </>
  );
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
        <Tag tone={tone}>{word}</Tag> <span class="note">{read && pausedWords(read.state)}</span>
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
  const { solved, groups } = state.arms.reduce(
    (sum, { recentSolvedShare, groups: closed }) => {
      if (recentSolvedShare === undefined) return sum;
      const recent = Math.min(RECENT_GROUPS, Number(closed));
      return { solved: sum.solved + recentSolvedShare * recent, groups: sum.groups + recent };
    },
    { solved: 0, groups: 0 },
  );
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
      <td>{groups === 0 ? "–" : percent(solved / groups)}</td>
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
