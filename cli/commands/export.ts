/** `gradus export`: writes training data for SFT and RFT, from graded completions or from the solvers' answers. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type AnswerFormatName, type GradusClient, type SplitName, splitNames } from "../../clients/ts/src/public.ts";
import {
  addConnectionOptions,
  addSuiteOptions,
  collect,
  type ConnectionFlags,
  localOf,
  withClient,
} from "../connection.ts";
import { createBar } from "../bar.ts";
import { readFilter, type ScoreFilter } from "../export/filter.ts";
import type { ExportRow } from "../export/rows.ts";
import type { RowWriter } from "../export/write.ts";
import { note, warn } from "../notes.ts";
import { withOut } from "../out.ts";
import { printJson } from "../print.ts";
import { CliProblem, problemOf } from "../problem.ts";
import { answerFormatOption, numberFrom0, numberThat, wholeNumber } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly out: string;
  readonly evaluationId?: string;
  readonly solver?: boolean;
  readonly environment?: readonly string[];
  readonly level?: readonly string[];
  readonly count: number;
  readonly split: SplitName;
  readonly answerFormat?: AnswerFormatName;
  readonly ratioAbove?: number;
  readonly where?: readonly ScoreFilter[];
  readonly pairs?: boolean;
  readonly pairsPerPrompt: number;
  readonly rewardGap: number;
  readonly perEnvironment?: number;
  readonly allowBench?: boolean;
  readonly json?: boolean;
}

const ratio = numberThat((value) => value <= 1, "a number up to 1; below 0 keeps all");

function condition(text: string, before: readonly ScoreFilter[] = []): readonly ScoreFilter[] {
  const filter = readFilter(text);
  if (filter !== undefined) return [...before, filter];
  throw new InvalidArgumentError("Want a component, a comparison and a number, e.g. 'correctness>=1' or 'reward>0.1'.");
}

export function addExport(program: Command): void {
  const command = program
    .command("export")
    .requiredOption("-o, --out <file>", "file to write: a name that ends in .jsonl or .parquet")
    .addOption(
      new Option("--evaluation-id <id>", "graded completions of this evaluation, see gradus eval").conflicts("solver"),
    )
    .option("--solver", "the solvers' answers to new tasks, made in this process")
    .addOption(
      new Option("--environment <id>", "only of this one; may be given several times (default: all)").argParser(
        collect,
      ),
    )
    .addOption(
      new Option("--level <name>", "only of this one; may be given several times (default: all)").argParser(collect),
    )
    .addOption(
      new Option("-n, --count <n>", "with --solver: tasks of each environment")
        .argParser(wholeNumber(1, 1_000_000))
        .default(1000)
        .conflicts("evaluationId"),
    )
    .addOption(
      new Option("--split <split>", "with --solver").choices(splitNames).default("train").conflicts("evaluationId"),
    )
    .addOption(answerFormatOption("with --solver: ").conflicts("evaluationId"))
    .option(
      "--ratio-above <ratio>",
      "keep completions with a ratio above this (default: 0.5; with --where: no minimum)",
      ratio,
    )
    .addOption(
      new Option(
        "--where <condition>",
        "keep completions by a component of their reward, or by reward or ratio, e.g. 'format=1'; may be given several times",
      )
        .argParser(condition)
        .conflicts("solver"),
    )
    .addOption(
      new Option(
        "--pairs",
        "write pairs of completions of one prompt, chosen and rejected (DPO, IPO); --ratio-above and --per-environment do not apply",
      ).conflicts("solver"),
    )
    .option("--pairs-per-prompt <n>", "with --pairs: maximum number of pairs", wholeNumber(1, 1024), 4)
    .option("--reward-gap <gap>", "with --pairs: minimum difference in reward, exclusive", numberFrom0, 0)
    .option(
      "--per-environment <n>",
      "number of rows of each environment (default: as many as the environment with the fewest rows has)",
      wholeNumber(1, 10_000_000),
    )
    .option(
      "--allow-bench",
      "export tasks of the bench split, too; benchmarks cannot compare a model that was trained on them",
    )
    .option("--json", "print JSON: the rows of each environment, or the pairs");
  addSuiteOptions(addConnectionOptions(command)).action(exportData);
}

async function exportData(flags: Flags): Promise<void> {
  const { createWriter, formatOf, rowColumns } = await import("../export/write.ts");
  const { out, solver = false, evaluationId } = flags;
  const format = formatOf(out);
  if (format === undefined) throw new CliProblem("usage", `--out must end in .jsonl or .parquet; got '${out}'`);
  if ((evaluationId === undefined) === !solver)
    throw new CliProblem("usage", "give either --evaluation-id or --solver");
  if (flags.pairs === true && evaluationId === undefined)
    throw new CliProblem("usage", "--pairs needs an evaluation's completions: give --evaluation-id");
  const written = await withOut("--out", out, (path) => {
    if (flags.pairs === true && evaluationId !== undefined) return exportPairs(flags, evaluationId, path);
    return exportRows(flags, createWriter(path, format, rowColumns));
  });
  if (flags.json) printJson({ file: out, ...written.figures });
  else note(written.words);
}

/** Result of an export: words for a person, and JSON for a program. */
interface Written {
  readonly words: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

async function exportRows(flags: Flags, writer: RowWriter): Promise<Written> {
  const { evaluationId } = flags;
  const made = await (evaluationId === undefined ? addSolved(flags, writer) : addGraded(flags, evaluationId, writer));
  if (Math.max(...made.kept.values(), 0) === 0) throw new CliProblem("failure", nothingLeft(made, flags));
  writer.finish();
  const environments = [...made.available].map(([id, available]) => ({ id, available, rows: made.kept.get(id) ?? 0 }));
  const rows = environments.reduce((sum, each) => sum + each.rows, 0);
  const counts = environments.map(({ id, ...each }) => `${id} ${each.rows} of ${each.available}`);
  return { words: `${rows} rows in ${flags.out}: ${counts.join(", ")}`, figures: { rows, environments } };
}

async function exportPairs(flags: Flags, evaluationId: string, path: string): Promise<Written> {
  const [{ createWriter, formatOf, pairColumns }, { pairsOf }] = await Promise.all([
    import("../export/write.ts"),
    import("../export/pairs.ts"),
  ]);
  const rows = await gradedRows(flags, evaluationId);
  refuseBench(rows, flags);
  const pairs = pairsOf(rows, { perPrompt: flags.pairsPerPrompt, rewardGap: flags.rewardGap });
  if (pairs.length === 0)
    throw new CliProblem(
      "failure",
      `among ${rows.length} completions, no two of the same prompt differ enough in reward`,
    );
  const writer = createWriter(path, formatOf(flags.out) ?? "jsonl", pairColumns);
  for (const pair of pairs) writer.add(pair);
  writer.finish();
  const prompts = new Set(pairs.map(({ group_id }) => group_id)).size;
  return {
    words: `${pairs.length} pairs of ${prompts} prompts in ${flags.out}`,
    figures: { pairs: pairs.length, prompts },
  };
}

async function gradedRows(flags: Flags, evaluationId: string) {
  const { environment = [], level = [], where = [] } = flags;
  const { rowsOfEvaluation } = await import("../export/sources.ts");
  const read = (client: GradusClient) => rowsOfEvaluation(client.evaluation(evaluationId), environment, level, where);
  const { rows, warnings } = await withClient(flags, read, "evaluations");
  warnings.forEach(warn);
  return rows;
}

/** Number of rows of each environment, before and after the selection. */
interface RowCounts {
  readonly available: ReadonlyMap<string, number>;
  readonly kept: ReadonlyMap<string, number>;
}

async function addGraded(flags: Flags, evaluationId: string, writer: RowWriter): Promise<RowCounts> {
  const { perEnvironment } = flags;
  const { selectEvenly } = await import("../export/rows.ts");
  const graded = await gradedRows(flags, evaluationId);
  const rows = graded.map(({ commitEnd: _, isConversation: __, ...row }): ExportRow => row);
  refuseBench(rows, flags);
  const { rows: selected, available } = selectEvenly(rows, ratioAboveOf(flags), perEnvironment);
  const kept = new Map<string, number>();
  for (const row of selected) add(writer, row, kept);
  return { available, kept };
}

function add(writer: RowWriter, row: ExportRow, kept: Map<string, number>): void {
  writer.add(row);
  kept.set(row.environment, (kept.get(row.environment) ?? 0) + 1);
}

async function addSolved(flags: Flags, writer: RowWriter): Promise<RowCounts> {
  const { environment = [], level = [], split, count, answerFormat: format, perEnvironment, allowBench } = flags;
  if (split === "bench" && !allowBench)
    throw new CliProblem("usage", `--split bench is for benchmarks, not for training: ${benchWords}`);
  const [{ solverSources }, { takeEvenly }] = await Promise.all([
    import("../export/sources.ts"),
    import("../export/rows.ts"),
  ]);
  const local = await localOf(flags);
  const sources = solverSources(local, { environments: environment, levels: level, split, count, format });
  const available = new Map<string, number>();
  const kept = new Map<string, number>();
  const total = sources.length * Math.min(count, perEnvironment ?? count);
  const bar = createBar({ done: 0, total, format: "{bar} {value}/{total} rows  {left}" });
  try {
    for await (const row of takeEvenly(sources, available, ratioAboveOf(flags), perEnvironment)) {
      add(writer, row, kept);
      bar.update(1);
    }
  } catch (error) {
    throw problemOf(error, undefined);
  } finally {
    bar.stop();
  }
  return { available, kept };
}

const benchWords = "train on another split, e.g. by evaluating the suite forge-train, or give --allow-bench";

function refuseBench(rows: readonly ExportRow[], { allowBench }: Flags): void {
  const bench = rows.filter(({ split }) => split === "bench").length;
  if (bench > 0 && !allowBench)
    throw new CliProblem(
      "failure",
      `${bench} rows are of the bench split, which is for benchmarks, not for training: ${benchWords}`,
    );
}

/**
 * Default of --ratio-above, the minimum ratio of an answer to the best one. It does not apply with --where, which then
 * is the only filter.
 */
const RATIO_DEFAULT = 0.5;

function ratioAboveOf({ ratioAbove, where = [] }: Flags): number {
  return ratioAbove ?? (where.length > 0 ? -Infinity : RATIO_DEFAULT);
}

function nothingLeft({ available }: RowCounts, flags: Flags): string {
  const none = [...available].filter(([, count]) => count === 0).map(([name]) => name);
  if (none.length === 0)
    return flags.where === undefined ? "there are no completions to export" : "no completion meets every --where";
  const ratioAbove = ratioAboveOf(flags);
  return `no completion with a ratio above ${ratioAbove} in ${none.join(", ")}: lower --ratio-above, or give --per-environment to take what there is`;
}
