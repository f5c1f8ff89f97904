/** What is asked for: everything that fixes a task but its seed, checked and complete. Plain JSON. */
import { isDeepStrictEqual } from "node:util";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { Parameters, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Source } from "../curriculum/types.ts";

export interface TaskSpec {
  readonly environment: string;
  readonly version: number;
  /** Empty if parameters were given. */
  readonly level: string;
  readonly parameters: Parameters;
  readonly split: Split;
  readonly source: Source;
  /** Name of the pool for real tasks, else empty. */
  readonly pool: string;
  readonly answerFormat: AnswerFormat;
  readonly thinking: Thinking;
  /** Of what the task was asked of (AskedGenerator); left out: it is made here. */
  readonly digest?: string;
  readonly rewardScheme: string;
  readonly rewardParameters: Readonly<Record<string, number>>;
}

/** Returns whether two specs stand for the same tasks: they may differ in a version whose tasks the environment's newer one has. */
export function haveSameTasks({ find }: Registry): (one: TaskSpec, other: TaskSpec) => boolean {
  const judgeOf = ({ environment, version }: TaskSpec): unknown => {
    const found = find(environment, version);
    return found.kind === "found" ? found.environment : {};
  };
  return (one, other) =>
    isDeepStrictEqual(one, other) ||
    (isDeepStrictEqual({ ...one, version: other.version }, other) && judgeOf(one) === judgeOf(other));
}
