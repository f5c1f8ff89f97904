/**
 * `gradus eval`: evaluates a model behind an OpenAI-compatible endpoint on a suite of tasks. Finished samples are kept,
 * so an evaluation can be resumed.
 */
import type { Command } from "commander";
import { createHash } from "node:crypto";
import { addCompare } from "./eval/compare.ts";
import { addEvaluations } from "./eval/look.ts";
import { join } from "node:path";
import type { GradusClient } from "../../clients/ts/src/public.ts";
import {
  addConnectionOptions,
  addSuiteOptions,
  type ConnectionFlags,
  localOf,
  VERIFIERS_HELP,
  withClient,
} from "../connection.ts";
import {
  addModelOptions,
  completeAlone,
  type ModelFlags,
  requireFlags,
  settingsOf,
  stillMissing,
} from "../evaluation/complete.ts";
import type { Picture } from "../evaluation/pictures.ts";
import type { Summary } from "../evaluation/summary.ts";
import { note } from "../notes.ts";
import { makeDirectory, writeOut } from "../out.ts";
import { print, printJson } from "../print.ts";

interface Flags extends ConnectionFlags, ModelFlags {
  readonly suite: string;
  readonly evaluationId?: string;
  readonly out?: string;
}

export function addEval(program: Command): void {
  const command = program.command("eval").option("--suite <id>", "e.g. forge-bench or countdown; required");
  addModelOptions(command, 1)
    .option("--evaluation-id <id>", "the evaluation's id (default: made from the choices above)")
    .option("-o, --out <directory>", "where report.json and report.html go (default: out/<evaluation-id>)")
    .option("--json", "print report.json, and no progress");
  addSuiteOptions(addConnectionOptions(command))
    .addHelpText("after", VERIFIERS_HELP)
    .action((flags: Flags) => {
      requireFlags(flags, "suite", "endpoint", "model");
      return withClient(flags, (client) => evaluate(client, flags), "evaluations");
    });
  addEvaluations(command);
  addCompare(command);
}

/** Returns an evaluation id with the suite, the model and a hash of all settings that decide the completions. */
function defaultId(flags: Flags): string {
  const { suite, model, samples } = flags;
  const key = JSON.stringify([suite, model, samples, settingsOf(flags)]);
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 8);
  return `${suite}-${model}`.replaceAll(/[^a-zA-Z0-9._-]+/g, "-").slice(0, 100) + `-${hash}`;
}

async function evaluate(client: GradusClient, flags: Flags): Promise<void> {
  const { suite, model, samples, answerFormat, thinking, json } = flags;
  const evaluation = client.evaluation(flags.evaluationId ?? defaultId(flags));
  const created = await evaluation.create({
    suite,
    model,
    samplesPerTask: samples,
    answerFormat,
    thinking,
  });
  const say = (words: string): void => (json ? undefined : note(words));
  say(`evaluation ${evaluation.evaluationId}: ${created.samplesScored} of ${created.samplesTotal} samples are scored`);
  const directory = flags.out ?? join("out", evaluation.evaluationId);
  makeDirectory("--out", directory);
  const { failed, reason } = await completeAlone(evaluation, flags, created);
  const { reportTable, summarize, summaryToJson } = await import("../evaluation/summary.ts");
  const summary = await summarize(evaluation, settingsOf(flags));
  await write(directory, summary, await picturesOf(flags, summary));
  if (json) printJson(summaryToJson(summary));
  else print(`${reportTable(summary.report)}\n\n${join(directory, "report.html")}`);
  if (failed > 0) throw stillMissing(failed, reason);
}

/**
 * Draws a few answers of each part of the suite for the report. Undefined if this process lacks the keys that open the
 * task ids, as usual with a remote server.
 */
async function picturesOf(flags: Flags, { specimens }: Summary): Promise<readonly Picture[] | undefined> {
  if (flags.server !== undefined && flags.keyFile === undefined && flags.dataDir === undefined) return undefined;
  const { drawSpecimens } = await import("../evaluation/pictures.ts");
  return drawSpecimens(await localOf(flags), specimens);
}

async function write(directory: string, summary: Summary, pictures: readonly Picture[] | undefined): Promise<void> {
  const { summaryToJson } = await import("../evaluation/summary.ts");
  const { reportPage } = await import("../evaluation/page.ts");
  const json = `${JSON.stringify(summaryToJson(summary), undefined, 2)}\n`;
  await writeOut("--out", join(directory, "report.json"), json);
  await writeOut("--out", join(directory, "report.html"), reportPage(summary, pictures));
}
