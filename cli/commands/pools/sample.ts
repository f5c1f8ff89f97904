/** `gradus pools sample`: writes rows of a file that hold tasks, filtered, and in proportion to their categories. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { createBar } from "../../bar.ts";
import { type Condition, readCondition } from "../../conditions.ts";
import { addColumnOption, addRegistryOptions, configOf, type RegistryFlags } from "../../connection.ts";
import type { SampleReport } from "../../pools/sample.ts";
import { print, printJson, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { wholeNumber } from "../../task-options.ts";

interface Flags extends RegistryFlags {
  readonly out: string;
  readonly environment?: string;
  readonly where?: readonly Condition[];
  readonly maxPromptBytes?: number;
  readonly column?: readonly string[];
  readonly by?: string;
  readonly count?: number;
  readonly seed: string;
  readonly json?: boolean;
}

function condition(text: string, before: readonly Condition[] = []): readonly Condition[] {
  const read = readCondition(text);
  if (read !== undefined) return [...before, read];
  throw new InvalidArgumentError(
    "Want a field, a comparison and a value, e.g. 'problem_type=Algebra', 'problem!~![](' or 'conversations.length<=4'; equal is one '=', and a value that begins with one has a space before it.",
  );
}

export function addSample(group: Command): void {
  const command = group
    .command("sample")
    .description("write a sample of a file's rows unchanged, and report what was dropped and why")
    .argument("<file>", "as for --pool, without a selection")
    .requiredOption(
      "-o, --out <file>",
      "file to write: a name that ends in .jsonl, or in .parquet if <file> is Parquet",
    )
    .option("--environment <id>", "drop rows that hold no task of this environment, or the same task as an earlier row")
    .addOption(
      new Option(
        "--where <condition>",
        "keep rows for which the condition is true: a field and =, !=, <, <=, >, >=, ~ (contains) or !~; may be given several times",
      ).argParser(condition),
    )
    .option(
      "--max-prompt-bytes <bytes>",
      "with --environment: drop rows whose prompt has more bytes of UTF-8 than this (there is no tokenizer: English has about 4 to a token, code about 3, and no token has less than one)",
      wholeNumber(1, 2 ** 30),
    )
    .option(
      "--by <field>",
      "take the same share of the rows for each value of this field, rounded by the largest remainder",
    )
    .option("-n, --count <n>", "rows to take (default: all that are left)", wholeNumber(1, 2 ** 31))
    .option("--seed <text>", "seed of the random choice; the same seed and file give the same rows", "0")
    .option("--json", "print the report as JSON");
  addColumnOption(addRegistryOptions(command)).action(sample);
}

async function sample(path: string, flags: Flags): Promise<void> {
  const { environment: id, out, where = [], maxPromptBytes: promptBytesMax, by, count = Infinity, seed, json } = flags;
  if (promptBytesMax !== undefined && id === undefined)
    throw new CliProblem(
      "usage",
      "--max-prompt-bytes measures the prompt that an environment makes: give --environment",
    );
  const [{ samplePool }, { loadEnvironments }, { ownerOf }, { namesFor }] = await Promise.all([
    import("../../pools/sample.ts"),
    import("../../../server/tasks/making/load-environments.ts"),
    import("../../../server/rows/selection.ts"),
    import("../../../server/rows/pools.ts"),
  ]);
  const { environmentFiles, columns } = configOf(flags);
  const loaded = await loadEnvironments(environmentFiles);
  if (loaded.kind === "invalid") throw new CliProblem("usage", loaded.message);
  const owner = id === undefined ? undefined : ownerOf(loaded.registry, id);
  if (owner?.kind === "invalid") throw new CliProblem("usage", `--environment: ${owner.message}`);
  let bar: ReturnType<typeof createBar> | undefined;
  let done = 0;
  const report = await samplePool({
    path,
    out,
    environment: owner?.environment,
    columns: namesFor(path, columns),
    where,
    promptBytesMax,
    by,
    count,
    seed,
    onProgress(part, total) {
      bar ??= createBar({ done: 0, total, format: "{bar} {percentage}%  {left}" });
      bar.update(part - done);
      done = part;
    },
  }).finally(() => bar?.stop());
  if (json) printJson(report);
  else print(shown(report, by));
}

function shown({ rows, taken, out, dropped, categories }: SampleReport, by: string | undefined): string {
  const left = categories.reduce((sum, category) => sum + category.rows, 0);
  const droppedRows = dropped.map((each) => [String(each.rows), each.first, each.why]);
  const categoryRows = categories.map((each) => [each.category, String(each.rows), String(each.taken)]);
  return [
    `${taken} rows in ${out}, of ${left} that were left of ${rows}`,
    ...(dropped.length === 0 ? [] : [table(["dropped", "first", "why"], droppedRows)]),
    ...(by === undefined ? [] : [table([by, "rows", "taken"], categoryRows)]),
  ].join("\n\n");
}
