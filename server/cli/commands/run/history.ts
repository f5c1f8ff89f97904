/** gradus run history: what a run drew and how it was changed, in lines, as JSON, or as a chart. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { type HistoryRecord, HistoryRecordSchema, type RunConfig } from "../../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { writeOut } from "../../out.ts";
import { jsonOf, number, print, printJson, table } from "../../print.ts";
import { drawnColumns, drawnLines } from "../../runs/lines.ts";
import { seriesOf } from "../../runs/series.ts";
import { terminalWidth } from "../../runs/terminal.ts";

interface Flags extends ConnectionFlags {
  readonly chart?: string;
  readonly records?: boolean;
  readonly json?: boolean;
}

export function addHistory(group: Command): void {
  const command = group
    .command("history")
    .description("show what a run drew, over its tasks")
    .argument("<run>", "its id")
    .option("--chart <path>", "write an SVG: shares, probabilities, values and success over the cursor")
    .option("--records", "print each update batch and each change, one on a line")
    .option("--json", "print JSON: the contract's HistoryRecords");
  addServerOptions(command).action(async (id: string, flags: Flags) => {
    const { config, history } = await withServer(flags, async (client) => {
      const run = client.run(id);
      return { config: (await run.get()).config, history: await run.history() };
    });
    if (config === undefined) throw new Error("the server gave no configuration");
    if (flags.chart !== undefined) await writeChart("--chart", flags.chart, id, config, history);
    if (flags.json) return printJson(history.map((record) => jsonOf(HistoryRecordSchema, record)));
    print(flags.records ? recordTable(history) : drawnText(config, history));
    if (flags.chart !== undefined) print(`\n${flags.chart}`);
  });
}

/** The lines of a terminal. */
export function drawnText(config: RunConfig, history: readonly HistoryRecord[]): string {
  const width = terminalWidth();
  const arms = config.arms.map(({ id }) => id);
  const series = seriesOf(config, history, drawnColumns({ arms }, width));
  return drawnLines(series, width).join("\n");
}

export async function writeChart(
  option: string,
  path: string,
  title: string,
  config: RunConfig,
  history: readonly HistoryRecord[],
): Promise<void> {
  // Loaded here: Plot takes longer to load than most commands to run.
  const { CHART_STEPS_MAX, runChart } = await import("../../runs/chart.ts");
  await writeOut(option, path, runChart(title, seriesOf(config, history, CHART_STEPS_MAX)));
}

function recordTable(history: readonly HistoryRecord[]): string {
  return table(
    ["when", "cursor", "what", "tasks", "solved", "reward", ""],
    history.map(({ kind, time, rolledBack }) => {
      const when = time === undefined ? "" : timestampDate(time).toISOString();
      const undone = rolledBack ? "undone by an import" : "";
      if (kind.case === "control") {
        const { cursor, kind: what, reason, armId, weights } = kind.value;
        const given = Object.entries(weights).map(([arm, weight]) => `${arm}=${number(weight)}`);
        return [when, String(cursor), what, "", "", "", [armId, ...given, reason, undone].filter(Boolean).join(" ")];
      }
      if (kind.case !== "batch") return [when, "", "", "", "", "", undone];
      const { cursor, batch, counts, solvedShare, rewardMean, closed } = kind.value;
      const tasks = counts.reduce((sum, count) => sum + count, 0);
      const solved = solvedShare === undefined ? "" : `${Math.round(100 * solvedShare)}%`;
      const note = [closed ? "" : "open", undone].filter(Boolean).join(", ");
      const reward = rewardMean === undefined ? "" : number(rewardMean);
      return [when, String(cursor), `batch ${batch}`, String(tasks), solved, reward, note];
    }),
  );
}
