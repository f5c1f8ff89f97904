/** Command-line options that choose a task. */
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { answerFormatNames, sourceNames, splitNames, thinkingNames } from "../clients/ts/src/public.ts";
import type { AnswerFormatName, SourceName, SplitName, TaskChoice, ThinkingName } from "../clients/ts/src/public.ts";

type Numbers = Readonly<Record<string, number>>;

export interface TaskFlags {
  readonly seed: string;
  readonly environmentVersion?: number;
  readonly level?: string;
  readonly param?: Numbers;
  readonly split?: SplitName;
  readonly source?: SourceName;
  readonly poolName?: string;
  readonly answerFormat?: AnswerFormatName;
  readonly thinking?: ThinkingName;
  readonly scheme?: string;
  readonly schemeParam?: Numbers;
  readonly calls?: number;
  readonly tool?: readonly string[];
}

/** Parses name=number, and adds the number to the values that were given before. */
function named(text: string, before: Numbers | undefined): Numbers {
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === "" || value.trim() === "" || !Number.isFinite(Number(value))) {
    throw new InvalidArgumentError(`Want name=number, e.g. cities_min=10.`);
  }
  return { ...before, [name]: Number(value) };
}

/** Returns a parser of whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Want a whole number from ${min} to ${max}.`);
  };
}

/** Returns a parser of finite numbers that meet a condition. `wanted` words the condition, e.g. "a number from 0". */
export function numberThat(isWanted: (value: number) => boolean, wanted: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isFinite(value) && isWanted(value)) return value;
    throw new InvalidArgumentError(`Want ${wanted}.`);
  };
}

export const anyNumber = numberThat(() => true, "a number");
export const numberFrom0 = numberThat((value) => value >= 0, "a number from 0");

export function thinkingOption(byDefault = "required"): Option {
  const words = `how much of its thinking a completion holds, as the chat template leaves it (default ${byDefault})`;
  return new Option("--thinking <how>", words).choices(thinkingNames);
}

export function environmentVersionOption(byDefault = "the newest"): Option {
  const words = `version of the environment (default: ${byDefault})`;
  return new Option("--environment-version <n>", words).argParser(wholeNumber(0, 2 ** 32 - 1));
}

export function schemeOptions(byDefault: string): readonly Option[] {
  return [
    new Option("--scheme <name>", `reward scheme (default: ${byDefault})`),
    new Option("--scheme-param <name=number>", "parameter of the reward scheme; may be given several times").argParser(
      named,
    ),
  ];
}

/** Returns the choice of a reward scheme that the flags describe. Undefined: the flags choose no scheme. */
export function schemeOf({ scheme, schemeParam }: Pick<TaskFlags, "scheme" | "schemeParam">) {
  if (scheme === undefined && schemeParam === undefined) return undefined;
  return { name: scheme ?? "", parameters: schemeParam ?? {} };
}

export function answerFormatOption(when = ""): Option {
  return new Option("--answer-format <format>", `${when}how the answer is marked`).choices(answerFormatNames);
}

export function addTaskOptions(command: Command): Command {
  const options = [
    new Option("--seed <n>", "seed of the task; equal seeds give equal tasks").default("0"),
    new Option("--level <name>", "level of difficulty (default: the easiest)"),
    new Option("--param <name=number>", "parameter of the generator, instead of a level; may be given several times")
      .argParser(named)
      .conflicts("level"),
    environmentVersionOption(),
    new Option("--split <split>", "split: one of three disjoint sets of instances (default train)").choices(splitNames),
    new Option(
      "--source <source>",
      "where instances come from (default synthetic; real where the environment has no generator)",
    ).choices(sourceNames),
    new Option(
      "--pool-name <name>",
      "data pool for --source real (default: the one that ships with the environment, or its only one)",
    ),
    answerFormatOption(),
    thinkingOption(),
    ...schemeOptions("the environment's"),
    new Option(
      "--calls <n>",
      "maximum number of calls of an episode, for tasks with turns (default: the environment's)",
    ).argParser(wholeNumber(1, 2 ** 32 - 1)),
    new Option("--tool <name>", "tool that the policy may call; may be given several times").argParser(
      (name, before: readonly string[] | undefined) => [...(before ?? []), name],
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup("The task:"));
  return command;
}

/** Returns the choice of a task (environment, level, seed and so on) that the flags describe. */
export function taskChoiceOf(environment: string, flags: TaskFlags): TaskChoice {
  const { environmentVersion: version, level, param: parameters, split, source, poolName: pool } = flags;
  const { answerFormat, thinking, calls, tool: tools } = flags;
  const rewardScheme = schemeOf(flags);
  return {
    environment,
    version,
    level,
    parameters,
    split,
    source,
    pool,
    answerFormat,
    thinking,
    rewardScheme,
    calls,
    tools,
  };
}
