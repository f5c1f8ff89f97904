/** gradus eval: a model behind an OpenAI-compatible endpoint on a suite. What was done is kept, so it can be resumed. */
import { type Command, InvalidArgumentError } from "commander";
import { createHash } from "node:crypto";
import { addEvaluations } from "./eval/look.ts";
import { join } from "node:path";
import {
  type AnswerFormatName,
  type Evaluation,
  type EvaluationHandle,
  type GradusClient,
  type ThinkingName,
} from "../../clients/ts/src/public.ts";
import {
  addConnectionOptions,
  addSuiteOptions,
  type ConnectionFlags,
  localOf,
  VERIFIERS_HELP,
  withClient,
} from "../connection.ts";
import type { Picture } from "../evaluation/pictures.ts";
import type { Settings, Summary } from "../evaluation/summary.ts";
import { note } from "../notes.ts";
import { makeDirectory, writeOut } from "../out.ts";
import { print, printJson } from "../print.ts";
import { CliProblem } from "../problem.ts";
import { answerFormatOption, thinkingOption, wholeNumber } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly suite: string;
  readonly endpoint: string;
  readonly model: string;
  readonly samples: number;
  readonly concurrency: number;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly answerFormat?: AnswerFormatName;
  readonly thinking?: ThinkingName;
  readonly evaluationId?: string;
  readonly out?: string;
  readonly json?: boolean;
}

function numberFrom0(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Want a number from 0.");
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return withoutOurs({ ...value });
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
  }
  throw new InvalidArgumentError('Want a JSON object, e.g. {"top_p": 0.95}.');
}

/** Fields that requests have from elsewhere, or whose replies are not one completion. */
const ours = ["model", "messages", "stream", "n"];

function withoutOurs(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const taken = ours.find((name) => name in body);
  if (taken === undefined) return body;
  throw new InvalidArgumentError(`'${taken}' is not for --body: see --model and --samples.`);
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("Want a URL, e.g. http://localhost:8000/v1.");
}

function someName(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("Want a name.");
}

/** The endpoint's key; undefined: it needs none. */
function apiKeyOf(env: NodeJS.ProcessEnv): string | undefined {
  const key = env["OPENAI_API_KEY"]?.trim() ?? "";
  if (/[^\x21-\x7e]/.test(key)) throw new CliProblem("usage", "OPENAI_API_KEY must be one word, as a header takes it");
  return key === "" ? undefined : key;
}

export function addEval(program: Command): void {
  const command = program
    .command("eval")
    .option("--suite <id>", "e.g. forge-bench or countdown; required")
    .option(
      "--endpoint <url>",
      "base URL, e.g. http://localhost:8000/v1; the key comes from OPENAI_API_KEY; required",
      httpUrl,
    )
    .option("--model <name>", "the model's name at the endpoint; required", someName)
    .option("--samples <n>", "completions of each task", wholeNumber(1, 1024), 1)
    .option("--concurrency <n>", "completions under way at once", wholeNumber(1, 4096), 16)
    .option("--temperature <t>", "sampling temperature (default: the endpoint's)", numberFrom0)
    .option("--max-tokens <n>", "longest completion (default: the endpoint's)", wholeNumber(1, 10_000_000))
    .option("--body <json>", 'further fields of each request, e.g. {"top_p": 0.95, "top_k": 20}', jsonObject)
    .option("--timeout-ms <n>", "longest that one attempt may take", wholeNumber(1, 86_400_000), 600_000)
    .option(
      "--deadline-ms <n>",
      "longest that a completion may take, retries included",
      wholeNumber(1, 86_400_000),
      1_800_000,
    )
    .addOption(answerFormatOption())
    .addOption(thinkingOption())
    .option("--evaluation-id <id>", "names the evaluation (default: made of the choices above)")
    .option("-o, --out <directory>", "where report.json and report.html go (default: out/<evaluation-id>)")
    .option("--json", "print report.json, and no progress");
  addSuiteOptions(addConnectionOptions(command))
    .addHelpText("after", VERIFIERS_HELP)
    .action((flags: Flags) => {
      // Not by commander, which would ask for them with the commands below too.
      for (const name of ["suite", "endpoint", "model"] as const)
        if ((flags as Partial<Flags>)[name] === undefined) throw new CliProblem("usage", `--${name} is required`);
      return withClient(flags, (client) => evaluate(client, flags), "evaluations");
    });
  addEvaluations(command);
}

/** What decides on the completions, and so on the default id. */
function settingsOf(flags: Flags): Settings {
  const { endpoint, temperature, maxTokens, body, answerFormat: format, thinking } = flags;
  const settings = { endpoint, temperature, max_tokens: maxTokens, ...body, format, thinking };
  return JSON.parse(JSON.stringify(settings)) as Settings;
}

/** The suite and the model in words, and a hash of all that decides on the completions. */
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
  say(`evaluation ${evaluation.evaluationId}: ${created.samplesScored} of ${created.samplesTotal} samples are there`);
  const directory = flags.out ?? join("out", evaluation.evaluationId);
  makeDirectory("--out", directory);
  const { failed, reason } = await completeAlone(evaluation, flags, created);
  const { reportTable, summarize, summaryToJson } = await import("../evaluation/summary.ts");
  const summary = await summarize(evaluation, settingsOf(flags));
  await write(directory, summary, await picturesOf(flags, summary));
  if (json) printJson(summaryToJson(summary));
  else print(`${reportTable(summary.report)}\n\n${join(directory, "report.html")}`);
  if (failed > 0) {
    const words = `${failed} samples are missing: give the same command again to try them; the last one failed so: ${reason}`;
    throw new CliProblem("failure", words);
  }
}

/** What is missing, by this command and no other at a time: two would pay for every completion twice. */
async function completeAlone(evaluation: EvaluationHandle, flags: Flags, { samplesScored, samplesTotal }: Evaluation) {
  if (samplesScored === samplesTotal) return { failed: 0, reason: "" };
  const { holdAlone } = await import("../evaluation/hold.ts");
  const hold = await holdAlone(evaluation);
  try {
    // Whoever held it before may have gone on until now.
    const now = await evaluation.get();
    return await Promise.race([
      complete(evaluation, flags, Number(now.samplesScored), Number(samplesTotal)),
      hold.lost,
    ]);
  } finally {
    hold.release();
  }
}

async function complete(evaluation: EvaluationHandle, flags: Flags, scored: number, total: number) {
  const { endpoint, model, timeoutMs, deadlineMs, temperature, maxTokens, body, concurrency, json } = flags;
  const apiKey = apiKeyOf(process.env);
  const [{ createModel }, { createProgress }, { runEvaluation }] = await Promise.all([
    import("../evaluation/endpoint.ts"),
    import("../evaluation/progress.ts"),
    import("../evaluation/run.ts"),
  ]);
  const progress = createProgress(scored, total, json !== true);
  const ended = new AbortController();
  const ask = createModel({
    endpoint,
    model,
    apiKey,
    signal: ended.signal,
    onTrouble: (words: string) => progress.trouble(words),
    timeoutMs,
    deadlineMs,
    body: {
      ...(temperature !== undefined && { temperature }),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...body,
    },
  });
  try {
    return await runEvaluation({ evaluation, model: ask, concurrency, onStep: (step) => progress.step(step) });
  } finally {
    ended.abort();
    progress.stop();
  }
}

/** A server's keys are not here, unless the flags say where they are. */
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
