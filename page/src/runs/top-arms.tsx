/** Shows the arms that are drawn most, with the numbers from which the policy chooses. */
import type { ArmState } from "../../../clients/ts/src/public.ts";
import { hrefOf } from "../address.ts";
import { Share } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { counted, figure, percent } from "../words.ts";
import { expected, isNew, type Why } from "./why.ts";

interface TopArmsProps extends Pick<Why, "top" | "others"> {
  readonly runId: string;
}

type Column = readonly [name: string, (arm: ArmState) => string];

/** Columns for the policy `frontier`: the three factors of its interest in an arm. */
const measured: readonly Column[] = [
  ["expected success", (arm) => `${figure(expected(arm))}${isNew(arm) ? " (new)" : ""}`],
  ["rise", ({ rise }) => figure(rise)],
  ["practice", ({ practice }) => figure(practice)],
];

/** Returns the columns for the numbers that the policy estimates. Empty if the policy estimates nothing. */
function estimates(top: readonly ArmState[]): readonly Column[] {
  if (top.some(({ practice }) => practice !== undefined)) return measured;
  return top.some(({ value }) => value !== 0) ? [["value", ({ value }) => figure(value)]] : [];
}

export function TopArms({ runId, top, others }: TopArmsProps) {
  const columns: readonly Column[] = [
    ...estimates(top),
    ["weight", ({ weight }) => figure(weight)],
    ["solved", ({ recentSolvedShare: share }) => (share === undefined ? "–" : percent(share))],
  ];
  return (
    <Table label="Arms drawn most" columns={["arm", "probability", ...columns.map(([name]) => name)]} words={1}>
      {top.map((arm) => (
        <tr key={arm.armId}>
          <td class="words">
            <a href={hrefOf(["runs", runId, "samples"], { arm: arm.armId })}>{arm.armId}</a>
          </td>
          <td>
            <Share value={arm.probability} label={percent(arm.probability)} />
          </td>
          {columns.map(([name, cell]) => (
            <td key={name}>{cell(arm)}</td>
          ))}
        </tr>
      ))}
      {others.count > 0 && (
        <tr>
          <td class="words">
            <a href={hrefOf(["runs", runId, "arms"])}>{counted(others.count, "more arm")}</a>
          </td>
          <td>
            <Share value={others.probability} label={percent(others.probability)} />
          </td>
          <td colSpan={columns.length} />
        </tr>
      )}
    </Table>
  );
}
