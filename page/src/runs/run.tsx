/** Page of one run, with its live state. */
import { useEffect, useMemo } from "preact/hooks";
import { address, hrefOf, refine } from "../address.ts";
import { SamplesOfRun } from "../samples/of-run.tsx";
import { lostSince } from "../connection.ts";
import { Facts, Failure, Heading, Search, Share, Tabs, Tag, Waiting, Warnings } from "../ui/parts.tsx";
import { loadPlot } from "../ui/plot.tsx";
import { count, counted, percent } from "../words.ts";
import { Actions } from "./actions.tsx";
import { Arms } from "./arms.tsx";
import { Changes } from "./changes.tsx";
import { RunCharts } from "./charts.tsx";
import { type Followed, useRun } from "./follow.ts";
import { Groups } from "./groups.tsx";
import { ProblemsOfRun } from "./problems.tsx";
import { armsWithRows, RowsOfRun } from "./rows.tsx";
import { Configuration } from "./run-config.tsx";
import { WINDOWS } from "./learning.ts";
import { ARMS_APART } from "./lines.ts";
import { Note, Tags } from "./notes.tsx";
import { seriesOf } from "./series.ts";
import { SignNotice } from "./sign-notice.tsx";
import { Smoothing } from "./smoothing.tsx";
import { pausedWords, policyName, type ReadRun, shapeOf, standingOf, warningsOf } from "./state.ts";
import { TopArms } from "./top-arms.tsx";
import { UndoLast } from "./undo-last.tsx";
import { mostDrawn } from "./why.ts";

const tabs = [
  ["charts", "Charts"],
  ["arms", "Arms"],
  ["rows", "Rows"],
  ["groups", "Groups"],
  ["problems", "Problems"],
  ["samples", "Samples"],
  ["changes", "Changes"],
  ["configuration", "Configuration"],
] as const;

/** Returns the tabs of a run's page. The tab "rows" is left out unless an arm chooses among its rows. */
function tabsOf(run: ReadRun) {
  return armsWithRows(run).length > 0 ? tabs : tabs.filter(([name]) => name !== "rows");
}

export function RunPage({ runId }: { readonly runId: string }) {
  const followed = useRun(runId, address.value.query["q"] ?? "");
  const { run, error } = followed;
  const current = address.value.path[2] ?? "charts";
  // Load the chart library while the server sends the run's state and history.
  useEffect(() => {
    if (current === "charts") void loadPlot();
  }, [current]);
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(["runs"])}>Runs</a> /
      </p>
      <Heading title={runId} note={run && <Standing run={run} />}>
        {run && <UndoLast run={run} records={followed.history?.records} />}
        {run && <Actions run={run} />}
      </Heading>
      {run && <Note note={run.state.note} />}
      {error !== undefined && lostSince.value === undefined && <Failure error={error} />}
      {run === undefined && error === undefined && <Waiting />}
      {run !== undefined && (
        <>
          <Progress run={run} />
          <Warnings words={warningsOf(run.state)} />
          <SignNotice runId={runId} />
          <Tabs
            label="Of this run"
            current={current}
            tabs={tabsOf(run).map(([name, text]) => ({ name, text, href: hrefOf(["runs", runId, name]) }))}
          />
          <Tab name={current} run={run} followed={followed} />
        </>
      )}
    </>
  );
}

function Tab({ name, run, followed }: { readonly name: string; readonly run: ReadRun; readonly followed: Followed }) {
  switch (name) {
    case "charts":
      return <Charts run={run} followed={followed} />;
    case "arms":
      return <Arms run={run} />;
    case "rows":
      return <RowsOfRun run={run} />;
    case "groups":
      return <Groups run={run} />;
    case "problems":
      return <ProblemsOfRun run={run} />;
    case "samples":
      return <SamplesOfRun run={run} />;
    case "changes":
      return <Changes records={followed.history?.records} />;
    case "configuration":
      return <Configuration run={run} />;
    default:
      return <p class="empty">A run has no view of this name.</p>;
  }
}

function Standing({ run: { state } }: { readonly run: ReadRun }) {
  const { word, tone } = standingOf(state);
  return (
    <>
      <Tag tone={tone}>{word}</Tag> {pausedWords(state)} <Tag>{policyName(state.policy)}</Tag>{" "}
      <Tags tags={state.tags} />
    </>
  );
}

function Progress({ run }: { readonly run: ReadRun }) {
  const { cursor, batchesDrawn, batchesClosed, groupsOutstanding, samplesRecorded } = run.state;
  const { length } = shapeOf(run);
  const share = length === 0n ? undefined : Number(cursor) / Number(length);
  return (
    <div class="progress">
      <Facts
        facts={[
          [
            "tasks",
            share === undefined ? (
              count(cursor)
            ) : (
              <Share value={share} label={`${count(cursor)} of ${count(length)} (${percent(share)})`} />
            ),
          ],
          ["update batches", `${count(batchesDrawn)} drawn, ${count(batchesClosed)} closed`],
          ["samples", count(samplesRecorded)],
          ["open groups", count(groupsOutstanding)],
        ]}
      />
    </div>
  );
}

function Charts({ run, followed: { history } }: { readonly run: ReadRun; readonly followed: Followed }) {
  const { q = "", arm, over: asked, smoothing } = address.value.query;
  const over = asked === "tokens" ? "tokens" : "rollouts";
  const window = WINDOWS.find((each) => String(each) === smoothing) ?? WINDOWS[0];
  // Compute the charts' data again only for a new history. New states of the run come more often.
  const series = useMemo(
    () => (history === undefined ? undefined : seriesOf(run, history, over, window)),
    [history, over, window],
  );
  const why = mostDrawn(run);
  const { promptsPerUpdate, numGenerations } = shapeOf(run);
  const batches = history?.merged ?? 1;
  return (
    <>
      {why !== undefined && (
        <section class="why" aria-label="Drawn most now">
          <h2>
            Drawn most now: <a href={hrefOf(["runs", run.runId, "arms"])}>{why.armId}</a> ({percent(why.probability)})
          </h2>
          <p>{why.words}</p>
          <TopArms runId={run.runId} top={why.top} others={why.others} />
        </section>
      )}
      {run.state.arms.length > ARMS_APART && (
        <div class="toolbar" role="search">
          <Search label="Arms to show" value={q} onType={(text) => refine({ q: text })} />
          <p class="note">
            {counted(run.state.arms.length, "arm")}: where more than {ARMS_APART} are shown, those of one environment
            are one line.
          </p>
        </div>
      )}
      {series === undefined ? (
        <Waiting />
      ) : (
        <RunCharts
          runId={run.runId}
          series={series}
          over={over}
          chosen={arm}
          onChoose={(name) => refine({ arm: name })}
          smoothing={
            <Smoothing window={window} step={{ batches, rollouts: batches * promptsPerUpdate * numGenerations }} />
          }
        />
      )}
    </>
  );
}
