/** Lists the changes of a run by operators and by the server itself. */
import type { ControlRecord, HistoryRecord, RunShape } from "../../../clients/ts/src/public.ts";
import { hasToken } from "../connection.ts";
import { Tag } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { clock, count, counted, figure } from "../words.ts";
import { policyName } from "./state.ts";

interface ChangesProps {
  /** Undefined until the history is loaded. */
  readonly records: readonly HistoryRecord[] | undefined;
}

/** Shows the changes in a run's history. */
export function Changes({ records }: ChangesProps) {
  if (records === undefined) return <p class="waiting">Reading what was changed…</p>;
  const changes = records.filter(({ kind }) => kind.case === "control").reverse();
  if (changes.length === 0) return <p class="empty">Nothing was changed since the run was created.</p>;
  return <ListOf changes={changes} />;
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
