/** Lists the changes of a run by operators and by the server itself, and undoes the last one. */
import { toJson } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { type ControlRecord, type HistoryRecord, PolicySchema, type RunShape } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { roleAtLeast } from "../caller.ts";
import { gradus, hasToken } from "../session.ts";
import { Tag } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { clock, count, counted, figure } from "../words.ts";
import { ChangeDialog, type Effect } from "./change.tsx";
import { policyName, type ReadRun } from "./state.ts";
import { type Undo, undoOf } from "./undo.ts";

interface ChangesProps {
  readonly run: ReadRun;
  /** Undefined until the history is loaded. */
  readonly records: readonly HistoryRecord[] | undefined;
}

/** Shows the changes in a run's history. */
export function Changes({ run, records }: ChangesProps) {
  if (records === undefined) return <p class="waiting">Reading what was changed…</p>;
  const changes = records.filter(({ kind }) => kind.case === "control").reverse();
  if (changes.length === 0) return <p class="empty">Nothing was changed since the run was created.</p>;
  return (
    <>
      <UndoLast run={run} records={records} />
      <ListOf changes={changes} />
    </>
  );
}

/** Button that undoes the last change, and the dialog that shows the effect before. */
function UndoLast({ run, records }: { readonly run: ReadRun; readonly records: readonly HistoryRecord[] }) {
  // Keep the change that the reader chose while the dialog is open, because the change itself is the last one then.
  const [opened, setOpened] = useState<Undo>();
  const undo = undoOf(run, records);
  if (!roleAtLeast("operator")) return null;
  return (
    <>
      {undo !== undefined && (
        <p class="toolbar">
          <button type="button" aria-haspopup="dialog" onClick={() => setOpened(undo)}>
            Undo the last change
          </button>
          <span class="note">{undo.words}.</span>
        </p>
      )}
      {opened !== undefined && (
        <ChangeDialog
          title="Undo the last change"
          words={`${opened.words}. This is a change of its own, and what was drawn meanwhile stays.`}
          verb="Undo it"
          change={(validateOnly) => madeBy(run.runId, opened, validateOnly)}
          onClose={() => setOpened(undefined)}
        >
          {"policy" in opened && opened.policy !== undefined && (
            <pre tabIndex={0}>{JSON.stringify(toJson(PolicySchema, opened.policy), undefined, 2)}</pre>
          )}
        </ChangeDialog>
      )}
    </>
  );
}

const { method } = CurriculumService;

function madeBy(runId: string, undo: Undo, validateOnly: boolean): Promise<Effect> {
  const { unary } = gradus.value;
  switch (undo.kind) {
    case "weights":
      return unary(method.setWeights, { runId, validateOnly, weights: { ...undo.weights } });
    case "policy":
      return unary(method.updatePolicy, { runId, validateOnly, policy: undo.policy });
    case "shape":
      return unary(method.updateShape, {
        runId,
        validateOnly,
        ...undo.shape,
        ...(undo.policy && { policy: undo.policy }),
      });
    case "pause":
      return unary(method.pause, { runId, validateOnly });
    case "resume":
      return unary(method.resume, { runId, validateOnly });
  }
}

function ListOf({ changes }: { readonly changes: readonly HistoryRecord[] }) {
  return (
    <Table label="Changes" columns={["change", "what", "from task", "when", "by"]} words={2}>
      {changes.map(({ kind, time, rolledBack }, at) => {
        const control = kind.value as ControlRecord;
        return (
          <tr key={at}>
            <th scope="row">{control.kind.replaceAll("_", " ")}</th>
            <td class="words">
              {detailOf(control)} {rolledBack && <Tag tone="poor">undone by an import</Tag>}
            </td>
            <td>{count(control.cursor)}</td>
            <td>{time === undefined ? "" : clock(new Date(Number(time.seconds) * 1000))}</td>
            <td>{callerOf(control)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/**
 * Returns who made a change: a caller, or the server, e.g. if it excludes an arm. Without tokens, callers have no
 * names.
 */
function callerOf({ by, kind }: ControlRecord): string {
  if (by !== "") return by;
  return hasToken.value || /mask/.test(kind) ? "the server" : "–";
}

/** Describes the sizes of a run after a change. The sizes before the change are in an earlier record. */
function shapeInWords({ numGenerations, promptsPerUpdate, length }: RunShape): string {
  const end = length === 0n ? "no end" : counted(Number(length), "task");
  return `${counted(promptsPerUpdate, "prompt")} an update, ${counted(numGenerations, "completion")} each, ${end}`;
}

function detailOf({ policy, weights, shape, reason, armId }: ControlRecord): string {
  const parts = [
    shape === undefined ? "" : shapeInWords(shape),
    policy === undefined ? "" : policyName(policy),
    ...Object.entries(weights).map(([arm, weight]) => `${arm} = ${figure(weight)}`),
    armId,
    reason,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
