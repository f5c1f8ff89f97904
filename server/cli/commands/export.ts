/** gradus export: training data for SFT and RFT, from graded completions or from the solvers' answers. */
import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { answerFormatNames, splitNames } from "../../../clients/ts/src/public.ts";
import type { AnswerFormatName, SplitName } from "../../../clients/ts/src/public.ts";
import { addConnectionOptions, addSuiteOptions, collect, localOf, withClient } from "../connection.ts";
import type { ConnectionFlags } from "../connection.ts";
import type { ExportRow, Selection } from "../export/rows.ts";
import { CliProblem, problemOf } from "../problem.ts";
import { wholeNumber } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly out: string;
  readonly evaluationId?: string;
  readonly solver?: boolean;
  readonly environment?: readonly string[];
  readonly level?: readonly string[];
  readonly count: number;
  readonly split: SplitName;
  readonly format?: AnswerFormatName;
  readonly ratioAbove: number;
  readonly perEnvironment?: number;
  readonly allowBench?: boolean;
}

function ratio(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value <= 1 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Want a number up to 1; below 0 keeps all.");
}

export function addExport(program: Command): void {
  const command = program
    .command("export")
    .description("write training data in chat format: completions of an evaluation, or the solvers' answers")
    .requiredOption("--out <file>", "where to: a name that ends in .jsonl or .parquet")
    .addOption(
      new Option("--evaluation-id <id>", "graded completions of this evaluation, see gradus eval").conflicts("solver"),
    )
    .option("--solver", "the solvers' answers to new tasks, made in this process")
    .addOption(
      new Option("--environment <id>", "with --solver; may be given several times (default: all)").argParser(collect),
    )
    .addOption(
      new Option("--level <name>", "with --solver; may be given several times (default: all)").argParser(collect),
    )
    .option("--count <n>", "with --solver: tasks of each environment", wholeNumber(1, 1_000_000), 1000)
    .addOption(new Option("--split <split>", "with --solver").choices(splitNames).default("train"))
    .addOption(new Option("--format <format>", "with --solver: how the answer is marked").choices(answerFormatNames))
    .option("--ratio-above <ratio>", "keep completions with a better ratio than this", ratio, 0.5)
    .option(
      "--per-environment <n>",
      "rows of each environment (default: as many as the scarcest has)",
      wholeNumber(1, 10_000_000),
    )
    .option(
      "--allow-bench",
      "export tasks of the bench split, which no model that is to be compared may be trained on",
    );
  addSuiteOptions(addConnectionOptions(command)).action(exportData);
}

async function exportData(flags: Flags): Promise<void> {
  const { formatOf, writeRows } = await import("../export/write.ts");
  const { selectEvenly } = await import("../export/rows.ts");
  const { out, ratioAbove, perEnvironment } = flags;
  const format = formatOf(out);
  if (format === undefined) throw new CliProblem("usage", "--out must end in .jsonl or .parquet");
  const rows = await readRows(flags);
  refuseBench(rows, flags);
  const selection = selectEvenly(rows, ratioAbove, perEnvironment);
  if (selection.rows.length === 0) throw new CliProblem("failure", nothingLeft(selection, ratioAbove));
  await writeRows(out, format, selection.rows);
  console.error(countText(selection, out));
}

async function readRows(flags: Flags): Promise<readonly ExportRow[]> {
  const { evaluationId, solver = false, environment = [], level = [], split, count, format } = flags;
  if ((evaluationId === undefined) === !solver) {
    throw new CliProblem("usage", "give either --evaluation-id or --solver");
  }
  const { rowsOfEvaluation, rowsOfSolvers } = await import("../export/sources.ts");
  if (evaluationId !== undefined) {
    return withClient(flags, (client) => rowsOfEvaluation(client.evaluation(evaluationId)), "evaluations");
  }
  const local = await localOf(flags);
  try {
    return await rowsOfSolvers(local, { environments: environment, levels: level, split, count, format });
  } catch (error) {
    throw problemOf(error, undefined);
  }
}

function refuseBench(rows: readonly ExportRow[], { allowBench }: Flags): void {
  const bench = rows.filter(({ split }) => split === "bench").length;
  if (bench === 0 || allowBench) return;
  const words = `${bench} rows are of the bench split, which benchmarks are made of: evaluate a suite of the train split, e.g. forge-train, or give --allow-bench`;
  throw new CliProblem("failure", words);
}

function nothingLeft({ available }: Selection, ratioAbove: number): string {
  const none = [...available].filter(([, count]) => count === 0).map(([name]) => name);
  if (none.length === 0) return "there are no completions to export";
  return `no completion with a ratio above ${ratioAbove} in ${none.join(", ")}: lower --ratio-above, or give --per-environment to take what there is`;
}

function countText({ rows, available }: Selection, out: string): string {
  const counts = [...available].map(([name, count]) => {
    const kept = rows.filter(({ environment }) => environment === name).length;
    return `${name} ${kept} of ${count}`;
  });
  return `${rows.length} rows in ${out}: ${counts.join(", ")}`;
}
