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

export function TopArms({ runId, top, others }: TopArmsProps) {
  const isMeasured = top.some(({ practice }) => practice !== undefined);
  const isValued = !isMeasured && top.some(({ value }) => value !== 0);
  const columns = [
    ...["arm", "probability"],
    ...(isMeasured ? ["expected success", "rise", "practice"] : []),
    ...(isValued ? ["value"] : []),
    ...["weight", "solved"],
  ];
  return (
    <Table label="Arms drawn most" columns={columns} words={1}>
      {top.map((arm) => (
        <tr key={arm.armId}>
          <td class="words">
            <a href={hrefOf(["runs", runId, "samples"], { arm: arm.armId })}>{arm.armId}</a>
          </td>
          <td>
            <Share value={arm.probability} label={percent(arm.probability)} />
          </td>
          {isMeasured && <Measured arm={arm} />}
          {isValued && <td>{figure(arm.value)}</td>}
          <td>{figure(arm.weight)}</td>
          <td>{arm.recentSolvedShare === undefined ? "–" : percent(arm.recentSolvedShare)}</td>
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
          <td colSpan={columns.length - 2} />
        </tr>
      )}
    </Table>
  );
}

/** Factors of the frontier policy's interest in an arm. */
function Measured({ arm }: { readonly arm: ArmState }) {
  return (
    <>
      <td>
        {figure(expected(arm))}
        {isNew(arm) && " (new)"}
      </td>
      <td>{figure(arm.rise)}</td>
      <td>{figure(arm.practice)}</td>
    </>
  );
}
