/**
 * `gradus pools check`: reports which rows of a file a server would use as tasks, with the code by which a server reads
 * its pools.
 */
import { type Command, Option } from "commander";
import { join } from "node:path";
import type { Registry } from "../../../envs/registry.ts";
import type { OpenPorts } from "../../../server/rows/checks.ts";
import type { PoolReport } from "../../../server/rows/read.ts";
import type { PoolFile } from "../../../server/rows/selection.ts";
import type { Config } from "../../../server/runtime/config.ts";
import { columnRemedy, type ExampleView, type PoolReportView } from "../../../server/rows/report.ts";
import { addColumnOption, addRegistryOptions, configOf, type RegistryFlags } from "../../connection.ts";
import { poolBars } from "../../pool-bars.ts";
import type { CheckedRow } from "../../pools/check.ts";
import { fields, jsonText, print, printed, printJson, table } from "../../print.ts";
import { CliProblem, fileProblem } from "../../problem.ts";

interface Flags extends RegistryFlags {
  readonly environment?: string;
  readonly column?: readonly string[];
  readonly rows?: boolean;
  readonly json?: boolean;
}

export function addCheck(group: Command): void {
  const command = group
    .command("check")
    .description("report what a server would make of a pool's file; exit code 1 if no row holds a task")
    .argument(
      "<file>",
      "JSONL, JSON, CSV, TSV, Parquet, Arrow or a folder of save_to_disk, as for --pool: FILE, FILE@train[200:],eval[:200], or qa:FILE for one environment's",
    )
    .option("--environment <id>", "the environment of the rows (default: the one that can read them)")
    .addOption(new Option("--rows", "row by row, before the report"))
    .option("--json", "print the report as JSON; with --rows a line of JSON for each row, and one for the report");
  addColumnOption(addRegistryOptions(command)).action(check);
}

async function check(given: string, flags: Flags): Promise<void> {
  const config = configOf(flags);
  const [{ systemClock }, { loadEnvironments }, { openPorts }, { createPoolReader }, { exampleOf, reportOf }] =
    await Promise.all([
      import("../../../server/base/system-clock.ts"),
      import("../../../server/tasks/making/load-environments.ts"),
      import("../../../server/outside/open-ports.ts"),
      import("../../../server/rows/read.ts"),
      import("../../../server/rows/report.ts"),
    ]);
  const loaded = await loadEnvironments(config.environmentFiles);
  if (loaded.kind === "invalid") throw new CliProblem("usage", loaded.message);
  const file = await fileOf(given, flags, config.columns, loaded.registry);
  let opened: ReturnType<typeof openPorts> | undefined;
  const asked = () => (opened ??= openPorts(config, { clock: systemClock }));
  const bars = poolBars();
  const { workers: threads, environmentFiles, dataDir } = config;
  const reader = createPoolReader(loaded.registry, {
    openPorts: asked,
    threads,
    environmentFiles,
    folder: join(dataDir, "pools"),
    onProgress: bars.onProgress,
  });
  try {
    const read = await reader.read(file.path, file).finally(bars.stop);
    if (typeof read === "string") throw fileProblem(`${file.path}: ${read}`, "failure");
    const { pool: _, ...report } = reportOf(read.pool);
    if (flags.rows) await printRows(file, read, asked, flags.json ?? false);
    const example = exampleOf(read.pool);
    const whole = {
      ...report,
      ...(example && { example }),
      ...(read.failure !== undefined && { failure: read.failure }),
    };
    if (flags.json) (flags.rows ? (value: unknown) => print(JSON.stringify(value)) : printJson)(whole);
    else print(shown(report, example, read.failure));
    if (report.rows > 0) return;
    const remedy = columnRemedy(report.rejections[0]?.reason ?? "");
    throw new CliProblem("failure", `${file.path}: no row holds a task${remedy}`);
  } finally {
    await reader.close();
    await (await opened)?.close();
  }
}

async function fileOf(
  given: string,
  { environment: id }: Flags,
  columns: Config["columns"],
  registry: Registry,
): Promise<PoolFile> {
  const [{ ownerOf, readPoolPath }, { namesFor }] = await Promise.all([
    import("../../../server/rows/selection.ts"),
    import("../../../server/rows/pools.ts"),
  ]);
  const file = readPoolPath(given, registry, namesFor(given, columns));
  if (file.kind === "invalid") throw new CliProblem("usage", `${given}: ${file.message}`);
  if (id === undefined) return file;
  const owner = ownerOf(registry, id);
  if (owner.kind === "invalid") throw new CliProblem("usage", `--environment: ${owner.message}`);
  return { ...file, environment: owner.environment };
}

async function printRows(file: PoolFile, read: PoolReport, openPorts: OpenPorts, json: boolean): Promise<void> {
  const [{ checkedRows }, { openSource }] = await Promise.all([
    import("../../pools/check.ts"),
    import("../../../server/rows/pool-files.ts"),
  ]);
  for await (const row of checkedRows(await openSource(file.path), read, file, openPorts))
    await printed(`${json ? jsonText(row) : lineOf(row)}\n`);
}

function lineOf(row: CheckedRow): string {
  switch (row.kind) {
    case "task":
      return `${row.row}: ${row.level}, ${row.split}${row.remark === undefined ? "" : `; ${row.remark}`}`;
    case "rejected":
      return `${row.row}: rejected, ${row.reason}`;
    case "left_out":
      return `${row.row}: left out`;
  }
}

function shown(
  report: Omit<PoolReportView, "pool">,
  example: ExampleView | undefined,
  failure: string | undefined,
): string {
  const { environment, version, rows, groups, rejected, rejections, repeats, leftOut, unchecked } = report;
  const { contradictions, ranks, taken, instructions } = report;
  const head = fields([
    ["environment", `${environment}, version ${version}`],
    ["rows", String(rows)],
    ["rejected", `${rejected}${repeats === 0 ? "" : `, of which ${repeats} hold a task that came before`}`],
    ["left out", leftOut === 0 ? undefined : String(leftOut)],
    [
      "unchecked",
      unchecked === 0 ? undefined : `${unchecked} (${failure ?? "the service that checks them did not answer"})`,
    ],
    [
      "contradictions",
      contradictions.rows === 0
        ? undefined
        : `${contradictions.rows} rows have the question of another row but a different answer, such as ${contradictions.first}`,
    ],
    ["ranked by", ranks.by ?? `nothing: ${ranks.none}`],
  ]);
  const takenRows = taken.map((each) => [each.field, each.from, String(each.rows)]);
  const groupRows = groups.map((group) => [group.level, group.split, String(group.rows)]);
  const counted = (rows: PoolReportView["rejections"]) =>
    rows.map((each) => [String(each.rows), each.first, each.reason]);
  return [
    head,
    ...(taken.length === 0 ? [] : [table(["field", "taken from", "rows"], takenRows)]),
    ...(groups.length === 0 ? [] : [table(["level", "split", "rows"], groupRows)]),
    ...(rejections.length === 0 ? [] : [table(["rejected", "first", "why"], counted(rejections))]),
    ...(instructions.length === 0
      ? []
      : [table(["rows", "first", "instruction on the form of the answer"], counted(instructions))]),
    ...(example === undefined ? [] : [exampleText(example)]),
  ].join("\n\n");
}

function exampleText({ row, prompt, answer }: ExampleView): string {
  const messages = prompt.map(({ role, content }) => `--- ${role}\n${content}`);
  return [
    `An example, ${row}, as a policy is asked it:`,
    ...messages,
    `--- its answer\n${answer ?? "(none to show)"}`,
  ].join("\n\n");
}
