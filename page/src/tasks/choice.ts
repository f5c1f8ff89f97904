/** Converts between the page's address and the task that it shows. */
import type { AnswerFormatName, SourceName, SplitName, TaskChoice } from "../../../clients/ts/src/choices.ts";
import { answerFormatNames, sourceNames, splitNames } from "../../../clients/ts/src/choices.ts";
import { hrefOf } from "../address.ts";
import type { Query } from "../address.ts";

export interface ChosenTask extends TaskChoice {
  readonly seed: bigint;
}

const SEED_MAX = 2n ** 64n - 1n;

/** Parses a seed. An invalid text gives 0, and a number above the maximum gives the maximum. */
export function seedOf(text: string | undefined): bigint {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return 0n;
  const seed = BigInt(text);
  return seed > SEED_MAX ? SEED_MAX : seed;
}

function named<Name extends string>(names: readonly Name[], value: string | undefined): Name | undefined {
  return names.find((name) => name === value);
}

export function chosenTask(environment: string, query: Query): ChosenTask {
  return {
    environment,
    level: query["level"],
    seed: seedOf(query["seed"]),
    split: named<SplitName>(splitNames, query["split"]),
    source: named<SourceName>(sourceNames, query["source"]),
    pool: query["pool"],
    answerFormat: named<AnswerFormatName>(answerFormatNames, query["format"]),
    ...turnsIn(query),
  };
}

/** Returns the maximum number of calls and the tools that an address asks for. */
function turnsIn({ calls = "", tools = "" }: Query): Pick<ChosenTask, "calls" | "tools"> {
  const isNumber = /^[1-9]\d{0,4}$/.test(calls);
  return { ...(isNumber && { calls: Number(calls) }), ...(tools !== "" && { tools: tools.split(",") }) };
}

/** Returns a key that is equal only for equal tasks. */
export function keyOf({ seed, ...chosen }: ChosenTask): string {
  return JSON.stringify({ ...chosen, seed: String(seed) });
}

export function taskHref(environment: string, query: Query = {}): string {
  return hrefOf(["tasks", environment], query);
}
