/** `gradus run history`: shows what a run drew and how it was changed, in lines, as JSON, or as a chart. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Command, Option } from "commander";
import { type HistoryRecord, HistoryRecordSchema, lengthAxis, type RunHandle } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { writeOut } from "../../out.ts";
import { CliProblem } from "../../problem.ts";
import { jsonOf, number, print, printJson, table, terminalWidth } from "../../print.ts";
import { drawnColumns, drawnLines } from "../../runs/lines.ts";
import { type DrawnArm, overLengths, type Series, seriesOf } from "../../runs/series.ts";

interface Flags extends ConnectionFlags {
  readonly chart?: string;
  readonly over?: string;
  readonly records?: boolean;
  readonly json?: boolean;
}

export function addHistory(group: Command): void {
  const command = group
    .command("history")
    .description("show what a run drew, over its tasks")
    .argument("<run>", "its id")
    .option("--chart <file>", "write an SVG: shares, probabilities, values and success over the cursor")
    .addOption(
      new Option("--over <axis>", "axis of the charts; tokens are characters if the trainer reports none")
        .choices(["tasks", "tokens"])
        .default("tasks"),
    )
    .option("--records", "print each update batch and each change, one on a line")
    .option("--json", "print JSON: the contract's HistoryRecords");
  addServerOptions(command).action(async (id: string, flags: Flags) => {
    const drawn = await withServer(flags, (client) => drawnBy(client.run(id)));
    const { history } = drawn;
    if (flags.over === "tokens" && lengthAxis(history) === undefined)
      throw new CliProblem("usage", `--over tokens: the history of run '${id}' has no lengths of completions yet`);
    const asked = { ...drawn, isOverTokens: flags.over === "tokens" };
    if (flags.chart !== undefined) await writeChart("--chart", flags.chart, id, asked);
    if (flags.json) return printJson(history.map((record) => jsonOf(HistoryRecordSchema, record)));
    print(flags.records ? recordTable(history) : drawnText(asked));
    if (flags.chart !== undefined) print(`\n${flags.chart}`);
  });
}

export interface RunHistory {
  /** Arms in the order of the run's state. */
  readonly arms: readonly DrawnArm[];
  readonly history: readonly HistoryRecord[];
  /**
   * Whether the horizontal axis of charts is the length of completions, instead of the cursor, which counts tasks.
   * Defaults to false.
   */
  readonly isOverTokens?: boolean;
}

/** Returns what the run drew as data of a chart, in at most `stepsMax` steps. */
function chartSeries({ arms, history, isOverTokens = false }: RunHistory, stepsMax: number): Series {
  const series = seriesOf(arms, history, stepsMax);
  return (isOverTokens ? overLengths(series, history) : undefined) ?? series;
}

export async function drawnBy(run: RunHandle): Promise<RunHistory> {
  const { state, config } = await run.get();
  const environments = new Map(config?.arms.map(({ id, spec }) => [id, spec?.environment]));
  const arms = (state?.arms ?? []).map(({ armId: id, growth }) => {
    return { id, environment: environments.get(id), axis: growth?.axis };
  });
  return { arms, history: await run.history() };
}

const idsOf = (arms: readonly DrawnArm[]): readonly string[] => arms.map(({ id }) => id);

/** Returns the tasks that the run drew as a text chart for a terminal. */
export function drawnText(drawn: RunHistory): string {
  const width = terminalWidth();
  return drawnLines(chartSeries(drawn, drawnColumns(idsOf(drawn.arms), width)), width).join("\n");
}

export async function writeChart(option: string, path: string, title: string, drawn: RunHistory): Promise<void> {
  // Load the chart module only here, because Plot takes longer to load than most commands take to run.
  const { CHART_STEPS_MAX, runChart } = await import("../../runs/chart.ts");
  await writeOut(option, path, runChart(title, chartSeries(drawn, CHART_STEPS_MAX)));
}

function means(solvedShare: number | undefined, rewardMean: number | undefined): readonly string[] {
  const solved = solvedShare === undefined ? "" : `${Math.round(100 * solvedShare)}%`;
  return [solved, rewardMean === undefined ? "" : number(rewardMean)];
}

function recordTable(history: readonly HistoryRecord[]): string {
  return table(
    ["when", "cursor", "what", "tasks", "solved", "reward", ""],
    history.map(({ kind, time, rolledBack }) => {
      const when = time === undefined ? "" : timestampDate(time).toISOString();
      const undone = rolledBack ? "undone by an import" : "";
      if (kind.case === "control") {
        const { cursor, kind: what, reason, armId, weights, by } = kind.value;
        const given = Object.entries(weights).map(([arm, weight]) => `${arm}=${number(weight)}`);
        return [
          when,
          String(cursor),
          what,
          "",
          "",
          "",
          [armId, ...given, reason, by && `by ${by}`, undone].filter(Boolean).join(" "),
        ];
      }
      if (kind.case === "evaluation") {
        const { cursor, armId, round, samples, rewardMean, solvedShare, tasks, closed } = kind.value;
        const note = [closed ? "" : `${samples} samples so far`, undone].filter(Boolean).join(", ");
        return [
          when,
          String(cursor),
          `${armId} round ${round}`,
          String(tasks),
          ...means(solvedShare, rewardMean),
          note,
        ];
      }
      if (kind.case !== "batch") return [when, "", "", "", "", "", undone];
      const { cursor, batch, counts, solvedShare, rewardMean, closed } = kind.value;
      const tasks = counts.reduce((sum, count) => sum + count, 0);
      const note = [closed ? "" : "open", undone].filter(Boolean).join(", ");
      return [when, String(cursor), `batch ${batch}`, String(tasks), ...means(solvedShare, rewardMean), note];
    }),
  );
}
