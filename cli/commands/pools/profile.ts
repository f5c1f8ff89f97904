/**
 * `gradus pools profile`: measures how often a model behind an endpoint solves each row of a pool. Curricula that
 * choose rows by difficulty use these pass rates.
 */
import { type Command, Option } from "commander";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Split } from "../../../envs/environment.ts";
import { addLocalOptions, collect, configOf, type LocalFlags, VERIFIERS_HELP } from "../../connection.ts";
import {
  addModelOptions,
  completeAlone,
  type ModelFlags,
  requireFlags,
  settingsOf,
  stillMissing,
} from "../../evaluation/complete.ts";
import type { RowRates } from "../../../clients/ts/src/public.ts";
import type { Local } from "../../local.ts";
import { note } from "../../notes.ts";
import { refuseSame, withOut, writeOut } from "../../out.ts";
import type { Chosen, Profiled } from "../../pools/profile.ts";
import { rateCounts, rateHistogram } from "../../pools/rates.ts";
import { print, printJson } from "../../print.ts";
import { CliProblem, problemOf } from "../../problem.ts";

interface Flags extends LocalFlags, ModelFlags {
  readonly out?: string;
  readonly picture?: string;
  readonly split: Split;
  readonly level?: readonly string[];
}

/**
 * Default number of completions for each row of a pool. With eight completions, the standard error of a pass rate is at
 * most 0.18.
 */
const SAMPLES = 8;

export function addProfile(group: Command): void {
  const command = group
    .command("profile")
    .description("measure how often a model behind an OpenAI-compatible endpoint solves each row of a pool")
    .argument("<pool>", "the pool's name: from --pool NAME=FILE, or of a pool that ships with an environment");
  addModelOptions(command, SAMPLES)
    .option(
      "-o, --out <file>",
      "file to write: .csv gets row and pass_rate, .jsonl the rows with a column pass_rate; required",
    )
    .option("--picture <file>", "the histogram as SVG")
    .addOption(
      new Option("--split <split>", "the rows of this split").choices(["train", "eval", "bench"]).default("train"),
    )
    .addOption(
      new Option("--level <name>", "the rows of this level (default: all); may be given several times").argParser(
        collect,
      ),
    )
    .option("--json", "print the results as JSON, and no progress");
  addLocalOptions(command)
    .addHelpText("after", VERIFIERS_HELP)
    .action((pool: string, flags: Flags) => {
      requireFlags(flags, "endpoint", "model", "out");
      return profile({ pool, split: flags.split, levels: flags.level ?? [] }, flags, flags.out ?? "");
    });
}

async function profile(chosen: Chosen, flags: Flags, out: string): Promise<void> {
  const format = /\.(csv|jsonl)$/.exec(out)?.[1];
  if (format === undefined) throw new CliProblem("usage", `--out must end in .csv or .jsonl; got '${out}'`);
  const [{ openLocal }, { profileSuite, ratesCsv, ratesOf, writeRated }] = await Promise.all([
    import("../../local.ts"),
    import("../../pools/profile.ts"),
  ]);
  let profiled: Profiled | undefined;
  const local = await openLocal(configOf(flags), "evaluations", (pools) => {
    profiled = profileSuite(pools, chosen);
    return [profiled.suite];
  });
  try {
    const path = await pathOf(local, flags, chosen.pool);
    refuseSame("--out", path, out);
    const { suite, rows, digest } = profiled as unknown as Profiled;
    const { failed, reason, evaluation } = await complete(local, flags, suite.id);
    const rates = await ratesOf(evaluation);
    if (format === "csv") await writeOut("--out", out, ratesCsv(rates, digest));
    else {
      const { openSource } = await import("../../../server/rows/pool-files.ts");
      const source = await openSource(path);
      await withOut("--out", out, (to) => writeRated(to, source, rates));
    }
    const { warnings } = await evaluation.report();
    await tell({ chosen, flags, out, rates, rows, warnings });
    if (failed > 0) throw stillMissing(failed, reason);
  } catch (error) {
    throw problemOf(error, undefined);
  } finally {
    local.client.close();
  }
}

/**
 * Runs or resumes the evaluation. Its id contains the suite's id, which identifies the rows, and a hash of the model
 * and settings. Repeating a command therefore resumes its evaluation.
 */
async function complete({ client }: Local, flags: Flags, suite: string) {
  const { model, samples, answerFormat, thinking, json } = flags;
  const key = createHash("sha256")
    .update(JSON.stringify([model, samples, settingsOf(flags)]))
    .digest("hex");
  const evaluation = client.evaluation(`${suite}-${key.slice(0, 8)}`);
  const created = await evaluation.create({ suite, model, samplesPerTask: samples, answerFormat, thinking });
  const words = `evaluation ${evaluation.evaluationId}: ${created.samplesScored} of ${created.samplesTotal} samples are scored`;
  if (json !== true) note(words);
  return { evaluation, ...(await completeAlone(evaluation, flags, created)) };
}

/** Returns the path of the file that a pool was read from. */
async function pathOf({ deps }: Local, flags: Flags, name: string): Promise<string> {
  const { readPoolPath } = await import("../../../server/rows/selection.ts");
  const given = configOf(flags).pools.find((each) => each.name === name);
  const shipped = deps.pools.get(name)?.definition.rows?.defaultPool;
  const read = given && readPoolPath(given.path, deps.registry);
  const path = read?.kind === "ok" ? read.path : shipped && fileURLToPath(shipped.file);
  if (path === undefined) throw new Error(`bug: pool '${name}' has no file`);
  return path;
}

interface Outcome {
  readonly chosen: Chosen;
  readonly flags: Flags;
  readonly out: string;
  readonly rates: RowRates;
  /** Number of rows that should get a pass rate. */
  readonly rows: number;
  /** Warnings of the report about samples that count in no pass rate. */
  readonly warnings: readonly string[];
}

async function tell({ chosen, flags, out, rates, rows, warnings }: Outcome): Promise<void> {
  const all = [...rates.values()];
  const { picture, model, samples, json } = flags;
  if (picture !== undefined) {
    const { rateChart } = await import("../../pools/rate-chart.ts");
    await writeOut("--picture", picture, `${rateChart(`Pass rates of ${rates.size} rows of ${chosen.pool}`, all)}\n`);
  }
  const mean = all.length === 0 ? 0 : all.reduce((sum, rate) => sum + rate, 0) / all.length;
  const [never, always] = [0, 1].map((edge) => all.filter((rate) => rate === edge).length);
  if (json)
    return printJson({
      warnings: [...warnings],
      ...chosen,
      model,
      samples,
      out,
      rows,
      rated: rates.size,
      mean,
      never,
      always,
      histogram: rateCounts(all),
    });
  const found = `${rates.size} of ${rows} rows rated by ${samples} samples each: mean ${mean.toFixed(3)}, ${never} never solved, ${always} always`;
  print([...warnings.map((words) => `warning: ${words}`), found, rateHistogram(all), out].join("\n\n"));
}
