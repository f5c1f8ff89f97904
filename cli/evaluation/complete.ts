/** Completes an evaluation with a model, and defines the flags that choose the model. */
import { type Command, InvalidArgumentError } from "commander";
import type { AnswerFormatName, Evaluation, EvaluationHandle, ThinkingName } from "../../clients/ts/src/public.ts";
import { CliProblem } from "../problem.ts";
import { answerFormatOption, numberFrom0, thinkingOption, wholeNumber } from "../task-options.ts";
import type { Step } from "./play-sample.ts";
import type { Settings } from "./summary.ts";

/** Values of the options that addModelOptions adds. */
export interface ModelFlags {
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
  readonly textTools?: boolean;
  readonly json?: boolean;
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

/** Fields of a request to the model that --body may not set, each with the option to use instead. */
const ours: Readonly<Record<string, string>> = {
  model: "use --model",
  n: "use --samples",
  messages: "gradus sets it",
  stream: "gradus sets it",
};

function withoutOurs(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const [name, remedy] of Object.entries(ours))
    if (name in body) throw new InvalidArgumentError(`'${name}' must not be in --body: ${remedy}.`);
  return body;
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("Want a URL, e.g. http://localhost:8000/v1.");
}

function someName(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("Want a name.");
}

/** Returns the endpoint's API key. Undefined if the variable is empty, for an endpoint that needs no key. */
function apiKeyOf(env: NodeJS.ProcessEnv): string | undefined {
  const key = env["OPENAI_API_KEY"]?.trim() ?? "";
  if (/[^\x21-\x7e]/.test(key))
    throw new CliProblem("usage", "OPENAI_API_KEY must be one word of printable ASCII, to fit in an HTTP header");
  return key === "" ? undefined : key;
}

/**
 * Adds options that choose the model and its settings. `samples` is the default of --samples, the number of completions
 * of each task.
 */
export function addModelOptions(command: Command, samples: number): Command {
  return command
    .option(
      "--endpoint <url>",
      "base URL, e.g. http://localhost:8000/v1; the key comes from OPENAI_API_KEY; required",
      httpUrl,
    )
    .option("--model <name>", "the model's name at the endpoint; required", someName)
    .option("--samples <n>", "completions of each task", wholeNumber(1, 1024), samples)
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
    .option("--text-tools", "describe tools in the prompt and read calls from the text, for models without tool calls")
    .addOption(answerFormatOption())
    .addOption(thinkingOption());
}

/**
 * Refuses a command that lacks one of the named flags. Commander's own check of mandatory options would apply to
 * subcommands too.
 */
export function requireFlags(flags: object, ...names: readonly string[]): void {
  for (const name of names)
    if ((flags as Readonly<Record<string, unknown>>)[name] === undefined)
      throw new CliProblem("usage", `--${name} is required`);
}

/** Returns the settings that decide the completions, and therefore the evaluation's default id. */
export function settingsOf(flags: ModelFlags): Settings {
  const { endpoint, temperature, maxTokens, body, answerFormat: format, thinking, textTools } = flags;
  const settings = { endpoint, temperature, max_tokens: maxTokens, ...body, format, thinking, text_tools: textTools };
  return JSON.parse(JSON.stringify(settings)) as Settings;
}

/**
 * Completes the missing samples of an evaluation under a lock. Without the lock, a second command at the same time
 * could pay for every completion again.
 */
export async function completeAlone(
  evaluation: EvaluationHandle,
  flags: ModelFlags,
  { samplesScored, samplesTotal }: Evaluation,
) {
  if (samplesScored === samplesTotal) return { failed: 0, reason: "" };
  const { holdAlone } = await import("./hold.ts");
  const hold = await holdAlone(evaluation);
  try {
    // Read the counts again, because the command that held the lock before may have completed samples until now.
    const now = await evaluation.get();
    return await Promise.race([
      complete(evaluation, flags, Number(now.samplesScored), Number(samplesTotal)),
      hold.lost,
    ]);
  } finally {
    hold.release();
  }
}

async function complete(evaluation: EvaluationHandle, flags: ModelFlags, scored: number, total: number) {
  const { endpoint, model, timeoutMs, deadlineMs, temperature, maxTokens, body, concurrency, json } = flags;
  const { textTools = false } = flags;
  const apiKey = apiKeyOf(process.env);
  const [{ createModel }, { createProgress }, { runEvaluation }] = await Promise.all([
    import("./endpoint.ts"),
    import("./progress.ts"),
    import("./run.ts"),
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
    const onStep = (step: Step): void => progress.step(step);
    return await runEvaluation({ evaluation, model: ask, textTools, concurrency, onStep });
  } finally {
    ended.abort();
    progress.stop();
  }
}

/** Returns the error for samples that got no completion, with the remedy. */
export function stillMissing(failed: number, reason: string): CliProblem {
  const words = `${failed} samples are missing: repeat the command to try them again; the last failure: ${reason}`;
  return new CliProblem("failure", words);
}
