/** `gradus forgetting`: orders domains for training, by how training on each changed the scores of the others. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect } from "../../connection.ts";
import { reportsOf } from "../../reports.ts";
import type { Matrix } from "./matrix.ts";
import { warn } from "../../notes.ts";
import { writeOut } from "../../out.ts";
import { print, printJson, signed, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";

interface Named {
  readonly name: string;
  readonly value: string;
}

interface Flags {
  readonly base: readonly string[];
  readonly after: readonly Named[];
  readonly domain?: readonly Named[];
  readonly figure?: string;
  readonly chart?: string;
  readonly json?: boolean;
}

function named(text: string, before: readonly Named[] | undefined): readonly Named[] {
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === "") throw new InvalidArgumentError("Want name=value, e.g. graphs=out/graphs/report.json.");
  return [...(before ?? []), { name, value }];
}

export function addForgetting(program: Command): void {
  program
    .command("forgetting")
    .addOption(
      new Option("--base <file>", "report.json of the model before any training; may be given several times")
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--after <domain=file>", "report.json after training on a domain alone; give one for each domain")
        .argParser(named)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--domain <name=rows>",
        "rows of the reports whose mean is a domain's score (default: the row of its name)",
      ).argParser(named),
    )
    .option("--figure <name>", "figure used as the score, e.g. success_rate (default: quality_ratio, else exact_rate)")
    .option("--chart <path>", "write the matrix as SVG")
    .option("--json", "print JSON: the matrix, the means and the order")
    .addHelpText(
      "after",
      `
Evaluate the model on all domains, train it on each domain alone, from the same checkpoint, and evaluate each of those
models on all domains again. For N domains that is N + 1 reports. A row is an environment, a category or a part of the
suite, or a suite's id. Backward transfer is the score after minus the score before: negative is forgetting.

Example:
  gradus forgetting --base base/report.json --after graphs=graphs/report.json --after arithmetic=arith/report.json \\
    --domain graphs=np/clique,np/coloring --domain arithmetic=countdown --chart matrix.svg`,
    )
    .action(forgetting);
}

async function forgetting({ base, after, domain = [], figure, chart, json }: Flags): Promise<void> {
  const names = [...new Set(after.map(({ name }) => name))];
  if (names.length < 2)
    throw new CliProblem(
      "usage",
      `--after: must be given for at least 2 domains, so that they can be ordered; got ${names.length}`,
    );
  const stray = domain.find(({ name }) => !names.includes(name));
  if (stray !== undefined)
    throw new CliProblem("usage", `--domain: '${stray.name}' has no --after; there are ${names.join(", ")}`);
  const { policyText, transferMatrix } = await import("./matrix.ts");
  const result = transferMatrix({
    base: await reportsOf("--base", base),
    after: await Promise.all(
      names.map(async (name) => {
        const paths = after.filter((one) => one.name === name).map(({ value }) => value);
        return { domain: name, reports: await reportsOf("--after", paths) };
      }),
    ),
    rows: rowsByDomain(domain),
    figure,
  });
  if (result.kind === "invalid") throw new CliProblem("usage", result.message);
  const { matrix, warnings } = result;
  warnings.forEach(warn);
  if (chart !== undefined) {
    const { matrixChart } = await import("./chart.ts");
    await writeOut("--chart", chart, matrixChart(matrix));
  }
  if (json) printJson({ ...matrix, policy: policyText(matrix) });
  else
    print(
      [shown(matrix), `order: ${matrix.order.join(", ")}`, policyText(matrix), ...(chart ? [chart] : [])].join("\n\n"),
    );
}

/** Returns the report rows of each domain. A domain may be given several times, with some of its rows each. */
function rowsByDomain(given: readonly Named[]): ReadonlyMap<string, readonly string[]> {
  const rows = new Map<string, readonly string[]>();
  for (const { name, value } of given)
    rows.set(name, [...(rows.get(name) ?? []), ...value.split(",").map((row) => row.trim())]);
  return rows;
}

function shown({ domains, base, transfers, means }: Matrix): string {
  return table(
    ["trained on", ...domains],
    [
      ["(score before)", ...base.map((score) => score.toFixed(4))],
      ...transfers.map(({ trained, changes }) => [
        trained,
        ...changes.map((change, i) => (domains[i] === trained ? `(${signed(change, 4)})` : signed(change, 4))),
      ]),
      ["mean over the others", ...means.map((mean) => signed(mean, 4))],
    ],
  );
}
