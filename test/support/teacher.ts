/** A teacher that makes Countdown tasks of the level it is asked for, with the generator. */
import { countdown } from "../../envs/countdown/index.ts";
import { makeGenerated } from "../../envs/instances.ts";
import type { CountdownInstance } from "../../envs/countdown/instance.ts";
import type { ChatRequest } from "./chat-server.ts";

export interface Row {
  readonly nums: readonly number[];
  readonly target: number;
}

/** Returns the level that a request asks for, found by its description. */
export function levelAsked({ messages }: ChatRequest): string {
  const prompt = messages.at(-1)?.content ?? "";
  const found = countdown.levels.find(({ description }) => prompt.includes(`difficulty: ${description}.`));
  if (found === undefined) throw new Error(`no level is asked for: ${prompt}`);
  return found.name;
}

/** Returns right rows of the train split; each first seed gives other rows. */
export function rowsOf(levelName: string, count: number, firstSeed: number): readonly Row[] {
  const level = countdown.levels.find(({ name }) => name === levelName);
  return Array.from({ length: count }, (_, i) => {
    const request = { parameters: level?.parameters ?? {}, seed: BigInt(firstSeed + i), split: "train" } as const;
    const made = makeGenerated(countdown, request);
    if (made.kind !== "made") throw new Error(made.message);
    const { numbers, target }: CountdownInstance = made.instance;
    return { nums: numbers, target };
  });
}

/** Returns the index-th reply of a teacher that follows the prompt. */
export function goodReply(request: ChatRequest, index: number) {
  const content = JSON.stringify(rowsOf(levelAsked(request), 16, 1000 * (index + 1)));
  return { kind: "answer", content, usage: { prompt_tokens: 300, completion_tokens: 200 } } as const;
}
