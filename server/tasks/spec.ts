/** Specification of tasks: everything that fixes a task except its seed, checked and complete. Plain JSON. */
import { isDeepStrictEqual } from "node:util";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { Parameters, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Source } from "../curriculum/types.ts";

export interface TaskSpec {
  readonly environment: string;
  readonly version: number;
  /** Level. Empty if parameters were given. */
  readonly level: string;
  readonly parameters: Parameters;
  readonly split: Split;
  readonly source: Source;
  /** Name of the pool for real tasks, else empty. */
  readonly pool: string;
  readonly answerFormat: AnswerFormat;
  readonly thinking: Thinking;
  /** Digest of the mounted sources that make the task (MountedGenerator). Unset: this process makes it. */
  readonly digest?: string;
  readonly rewardScheme: string;
  readonly rewardParameters: Readonly<Record<string, number>>;
  /** Maximum number of calls of an episode. Unset: the tasks have no turns. */
  readonly calls?: number;
  /** Names of the tools that the policy may call. Unset: none. */
  readonly tools?: readonly string[];
}

/**
 * Returns a function that tells whether two specifications describe the same tasks. They may differ in a version if the
 * environment's newer version has the tasks of the older one.
 */
export function haveSameTasks({ find }: Registry): (one: TaskSpec, other: TaskSpec) => boolean {
  const judgeOf = ({ environment, version }: TaskSpec): unknown => {
    const found = find(environment, version);
    return found.kind === "found" ? found.environment : {};
  };
  return (one, other) =>
    isDeepStrictEqual(one, other) ||
    (isDeepStrictEqual({ ...one, version: other.version }, other) && judgeOf(one) === judgeOf(other));
}
