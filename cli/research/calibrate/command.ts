/** `gradus calibrate`: chooses parameters for levels from reports. */
import { type Command, Option } from "commander";
import { type Chosen, type Setting, calibrate, settingsOf } from "./calibrate.ts";
import { collect } from "../../connection.ts";
import { print, printJson, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { reportsOf } from "../../reports.ts";

interface Flags {
  readonly report: readonly string[];
  readonly json?: boolean;
}

export function addCalibrate(program: Command): void {
  program
    .command("calibrate")
    .addOption(
      new Option("--report <file>", "report.json of gradus eval; may be given several times")
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .option("--json", "print JSON")
    .action(async ({ report: paths, json }: Flags) => {
      const chosen = calibrate(settingsOf(await reportsOf("--report", paths)));
      if (chosen.length === 0)
        throw new CliProblem(
          "failure",
          "the reports have no samples with a reward: complete the evaluations by gradus eval",
        );
      if (json) printJson(chosen);
      else print(shown(chosen));
    });
}

const percent = (value: number): string => `${Math.round(100 * value)}%`;

function settingText(setting: Setting | undefined): string {
  if (setting === undefined) return "none";
  const values = Object.entries(setting.parameters).map(([name, value]) => `${name}=${value}`);
  return values.join(" ");
}

function shown(chosen: readonly Chosen[]): string {
  const rows = chosen.flatMap(({ environment, band, setting, easier, harder }) => {
    const range = `${percent(band.min)} to ${percent(band.max)}`;
    const row = (found: string, of: Setting | undefined): readonly string[] => [
      ...[environment, band.level, range, found],
      ...[of === undefined ? "–" : `${percent(of.successRate)} of ${of.tasks}`, settingText(of)],
    ];
    return setting === undefined ? [row("none: easier", easier), row("none: harder", harder)] : [row("yes", setting)];
  });
  return table(["environment", "level", "wanted", "found", "success", "parameters"], rows);
}
