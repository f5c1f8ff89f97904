/** Lists the groups of a run: the open ones, with what they wait for and since when, or those of an update batch. */
import { useEffect, useState } from "preact/hooks";
import { FeedbackStatus, type RunGroup } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { address, hrefOf, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { roleAtLeast } from "../caller.ts";
import { gradus } from "../connection.ts";
import { Answered, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { count, counted, figure, span } from "../words.ts";
import { ChangeDialog } from "./change.tsx";
import { chosenIn, rangesOf } from "./chosen.ts";
import type { ReadRun } from "./state.ts";

export function Groups({ run }: { readonly run: ReadRun }) {
  const { batch = "" } = address.value.query;
  const isNumber = /^\d{1,15}$/.test(batch);
  const version = String(run.state.version);
  const [asOf, setAsOf] = useState(version);
  const answer = useAnswer(
    (client, options) => client.run(run.runId).groups({ which: isNumber ? BigInt(batch) : "open" }, options),
    [run.runId, batch, asOf],
  );
  // Request the groups again only when the previous request is done. Otherwise a slow request would restart with every
  // change of the run and never finish.
  useEffect(() => {
    if (!answer.waiting) setAsOf(version);
  }, [answer.waiting, version]);
  const [asked, setAsked] = useState<AskedFor>();
  const leave = () => {
    setAsked(undefined);
    answer.again();
  };
  return (
    <>
      <div class="toolbar">
        <label class="field">
          <span>Update batch; empty: all open groups</span>
          <input
            inputMode="numeric"
            value={batch}
            onChange={(event) => refine({ batch: event.currentTarget.value.trim(), chosen: undefined })}
          />
        </label>
        {isNumber && <a href={hrefOf(["runs", run.runId, "samples"], { batch })}>Samples of this update batch</a>}
      </div>
      <Answered answer={answer}>{(groups) => <Listed run={run} groups={groups} onAsk={setAsked} />}</Answered>
      {asked?.what === "close" && <ClosingDialog run={run} groups={asked.groups} onClose={leave} />}
      {asked?.what === "reopen" && <ReopeningDialog run={run} groups={asked.groups} onClose={leave} />}
    </>
  );
}

/** Action that the reader chose (close or reopen), with its groups as they were when the dialog was opened. */
interface AskedFor {
  readonly what: "close" | "reopen";
  readonly groups: readonly RunGroup[];
}

function Listed({
  run,
  groups,
  onAsk,
}: {
  readonly run: ReadRun;
  readonly groups: readonly RunGroup[];
  readonly onAsk: (asked: AskedFor) => void;
}) {
  const isChosen = chosenIn(address.value.query["chosen"] ?? "");
  const now = useNow();
  if (groups.length === 0) {
    const { batch = "" } = address.value.query;
    return (
      <p class="empty">
        {batch === ""
          ? "No group is open: the run waits for nothing."
          : `The run has no groups of update batch ${batch}.`}
      </p>
    );
  }
  const may = roleAtLeast("trainer");
  const there = groups.filter((group) => isChosen(placeOf(group)));
  const choose = (chosen: readonly RunGroup[]) => refine({ chosen: rangesOf(chosen.map(placeOf)) });
  const pick = (group: RunGroup, on: boolean) =>
    choose(on ? [...there, group] : there.filter((other) => other !== group));
  const open = there.filter(({ closed }) => !closed);
  const closedOnes = there.filter(({ closed }) => closed);
  return (
    <>
      <div class="toolbar">
        <p class="note" role="status">
          {counted(groups.filter(({ closed }) => !closed).length, "open group")}, {counted(missingOf(groups), "sample")}{" "}
          missing
        </p>
        {may && (
          <>
            <button type="button" onClick={() => choose(groups)}>
              Choose all
            </button>
            <button type="button" disabled={open.length === 0} onClick={() => onAsk({ what: "close", groups: open })}>
              Close the chosen
            </button>
            <button
              type="button"
              disabled={closedOnes.length === 0}
              onClick={() => onAsk({ what: "reopen", groups: closedOnes })}
            >
              Reopen the chosen
            </button>
          </>
        )}
      </div>
      <Rows
        label="Groups"
        columns={["group", "arm", "state", "cursor", "batch", "missing", "of", "open for", "mean reward"]}
        count={groups.length}
        keyOf={(at) => groups[at]?.groupId ?? at}
        row={(at) => cellsOf(groups[at] as RunGroup, { runId: run.runId, now, isChosen, pick: may ? pick : undefined })}
      />
    </>
  );
}

interface Shown {
  readonly runId: string;
  readonly now: number;
  readonly isChosen: (place: number) => boolean;
  /** Selects (`on`) or deselects a group for an action. Undefined if the caller may not change groups. */
  readonly pick: ((group: RunGroup, on: boolean) => void) | undefined;
}

function cellsOf(group: RunGroup, { runId, now, isChosen, pick }: Shown) {
  const { groupId, armId, closed, cursor, updateBatch, missing, samples, statistics, issueTime } = group;
  const issued = issueTime === undefined ? undefined : Number(issueTime.seconds) * 1000;
  return [
    <span class="pick">
      {pick !== undefined && (
        <input
          type="checkbox"
          aria-label={`Choose group ${groupId}`}
          checked={isChosen(placeOf(group))}
          onChange={(event) => pick(group, event.currentTarget.checked)}
        />
      )}
      <a href={hrefOf(["runs", runId, "samples"], { group: groupId })}>{groupId.slice(-14)}</a>
    </span>,
    armId,
    <Tag tone={closed ? "good" : "poor"}>{closed ? "closed" : "open"}</Tag>,
    count(cursor),
    count(updateBatch),
    missing.length === 0 ? "none" : missing.join(" "),
    String(missing.length + samples.length),
    closed || issued === undefined ? "–" : span(now - issued),
    figure(statistics?.mean),
  ];
}

/** Returns the position of a group's task in the run, which is unique in the list. */
const placeOf = ({ cursor }: RunGroup): number => Number(cursor);

function missingOf(groups: readonly RunGroup[]): number {
  return groups.reduce((sum, { missing }) => sum + missing.length, 0);
}

/** Returns the current time, updated every second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

interface Chosen {
  readonly run: ReadRun;
  readonly groups: readonly RunGroup[];
  readonly onClose: () => void;
}

function ClosingDialog({ run: { runId }, groups, onClose }: Chosen) {
  const [reason, setReason] = useState("");
  const groupIds = groups.map(({ groupId }) => groupId);
  const few = groups.filter(({ samples }) => samples.filter(({ reward }) => reward !== undefined).length < 2).length;
  const change = async (validateOnly: boolean) => {
    const { groups: became } = await gradus.value.unary(CurriculumService.method.closeGroups, {
      runId,
      groupIds,
      reason,
      validateOnly,
    });
    const noEffect = became.flatMap(({ groupId, feedback }) =>
      feedback?.status === FeedbackStatus.RECORDED
        ? []
        : [`${groupId.slice(-14)}: ${feedback?.detail || "it is closed"}.`],
    );
    return { noEffect, words: wordsOf(groups.length, missingOf(groups), few) };
  };
  return (
    <ChangeDialog
      title={`Close ${counted(groups.length, "group")}`}
      words="Samples that are missing will not be waited for."
      verb="Close them"
      change={change}
      onClose={onClose}
    >
      <label class="field">
        <span>Why, for the history</span>
        <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </ChangeDialog>
  );
}

function wordsOf(groups: number, missing: number, few: number): readonly string[] {
  return [
    `${counted(groups, "group")} closed: ${counted(missing, "sample")} that are missing will not count any more.`,
    ...(few > 0
      ? [`${counted(few, "group")} of them with fewer than two rewards: the policy learns nothing from these.`]
      : []),
  ];
}

function ReopeningDialog({ run: { runId }, groups, onClose }: Chosen) {
  const groupIds = groups.map(({ groupId }) => groupId);
  const change = async (validateOnly: boolean) => {
    if (validateOnly)
      return {
        words: [
          `Missing samples of ${counted(groups.length, "group")} are waited for again, but for groups that are whole or folded in.`,
        ],
      };
    const { groups: became } = await gradus.value.unary(CurriculumService.method.reopenGroups, { runId, groupIds });
    return { words: became.map(({ groupId, feedback }) => `${groupId.slice(-14)}: ${feedback?.detail || "open"}.`) };
  };
  return (
    <ChangeDialog
      title={`Reopen ${counted(groups.length, "group")}`}
      words="Their tasks and ids are the same."
      verb="Reopen them"
      change={change}
      onClose={onClose}
    />
  );
}
