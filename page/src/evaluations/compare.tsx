/**
 * Compares models in a table: a column for each model, a row for each part of the suite, and a confidence interval for
 * each statistic.
 */
import type { Report, ReportRow } from "../../../clients/ts/src/public.ts";
import { address, hrefOf, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { Answered, Panel, Select } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";

/** Number of standard deviations around the mean that contain 95% of a normal distribution. */
const Z = 1.96;

/** Names of the statistics to show first, the most important one in front. */
const FIRST = ["success_rate", "exact_rate", "quality_ratio", "pass@1", "mean_score", "mean_reward"];

export function Compared({ ids }: { readonly ids: readonly string[] }) {
  const answer = useAnswer(
    (gradus, options) =>
      Promise.all(ids.map(async (id) => ({ id, report: await gradus.evaluation(id).report(options) }))),
    [ids.join()],
    { everyMs: LIST_MS },
  );
  return (
    <Panel title={ids.length === 1 ? "The report" : "Side by side"}>
      <Answered answer={answer}>
        {(known) => <Reports ids={known.map(({ id }) => id)} reports={known.map(({ report }) => report)} />}
      </Answered>
    </Panel>
  );
}

export function Reports({ ids, reports }: { readonly ids: readonly string[]; readonly reports: readonly Report[] }) {
  const names = [
    ...new Set(
      reports.flatMap(({ overall, parts }) => [overall, ...parts].flatMap((row) => Object.keys(row?.figures ?? {}))),
    ),
  ];
  const ordered = [
    ...FIRST.filter((name) => names.includes(name)),
    ...names.filter((name) => !FIRST.includes(name)).sort(),
  ];
  const { figure = ordered[0] ?? "" } = address.value.query;
  const parts = reports[0]?.parts ?? [];
  const [one, two] = ids;
  return (
    <>
      <div class="toolbar">
        <Select
          label="Figure"
          value={figure}
          options={ordered.map((name) => ({ value: name, text: name.replaceAll("_", " ") }))}
          onChoose={(value) => refine({ figure: value })}
        />
        {ids.length === 2 && one !== undefined && two !== undefined && (
          <a class="button" href={hrefOf(["evaluations", one, "against", two])}>
            Task by task
          </a>
        )}
        <p class="note">{reports[0]?.baseline}</p>
      </div>
      {reports.flatMap(({ warnings }, at) =>
        warnings.map((words) => (
          <p key={`${ids[at]} ${words}`} class="failure">
            {ids.length > 1 && <b>{ids[at]}: </b>}
            {words}
          </p>
        )),
      )}
      <Table
        label="Figures"
        columns={["part", ...reports.map(({ evaluation }, at) => evaluation?.model || ids[at])]}
        words={1}
        class="report"
      >
        {parts.map(({ name }) => (
          <Figures
            key={name}
            name={name}
            rows={reports.map((report) => report.parts.find((row) => row.name === name))}
            figure={figure}
            ids={ids}
          />
        ))}
        <Figures name="overall" rows={reports.map(({ overall }) => overall)} figure={figure} ids={ids} />
      </Table>
    </>
  );
}

interface FiguresProps {
  readonly name: string;
  readonly rows: readonly (ReportRow | undefined)[];
  readonly figure: string;
  readonly ids: readonly string[];
}

function Figures({ name, rows, figure, ids }: FiguresProps) {
  return (
    <tr class={name === "overall" ? "overall" : ""}>
      <th scope="row">{name}</th>
      {rows.map((row, at) => (
        <td key={ids[at]}>
          <Interval row={row} figure={figure} />
        </td>
      ))}
    </tr>
  );
}

/** Shows a statistic with its 95% interval in digits, and as a bar if it is a share (from 0 to 1). */
function Interval({ row, figure }: { readonly row: ReportRow | undefined; readonly figure: string }) {
  const value = row?.figures[figure];
  if (value === undefined) return <>–</>;
  const half = Z * (row?.standardErrors[figure] ?? 0);
  const isShare = value >= 0 && value <= 1;
  const at = (end: number) => `${100 * Math.min(1, Math.max(0, end))}%`;
  return (
    <span class="interval">
      {isShare && (
        <span class="range" aria-hidden="true">
          <span style={{ left: at(value - half), right: at(1 - Math.min(1, value + half)) }} />
          <i style={{ left: at(value) }} />
        </span>
      )}
      <span>
        {value.toFixed(3)}
        {half > 0 && <small> ± {half.toFixed(3)}</small>}
      </span>
    </span>
  );
}
