/**
 * Specification of tasks: everything that decides a task except its seed. All fields are checked, and all defaults are
 * filled in. It can be stored as JSON.
 */
import { isDeepStrictEqual } from "node:util";
import type { Thinking } from "../../envs/answers/locate.ts";
import type { Parameters, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { ReplyDetail } from "../../envs/turns/turns.ts";
import type { Source } from "../curriculum/types.ts";

export interface TaskSpec {
  readonly environment: string;
  readonly version: number;
  /** Name of the level. Empty: the client gave parameters instead. */
  readonly level: string;
  readonly parameters: Parameters;
  readonly split: Split;
  readonly source: Source;
  /** Name of the pool from whose rows the tasks are made. Empty: they are not made from rows. */
  readonly pool: string;
  readonly answerFormat: AnswerFormat;
  readonly thinking: Thinking;
  /**
   * Digest of the source code of the mounted environment that makes the task. Unset: the environment is not mounted,
   * i.e. it runs within the server.
   */
  readonly digest?: string;
  readonly rewardScheme: string;
  readonly rewardParameters: Readonly<Record<string, number>>;
  /** Maximum number of calls of an episode. Unset: the tasks have no turns. */
  readonly calls?: number;
  /** Names of the tools that the policy may call. Unset: none. */
  readonly tools?: readonly string[];
  /**
   * How much a reply to an answer says: "verdict" says whether the answer is right, "reason" also what is wrong with
   * it. Unset: also how far it is from the best ("distance").
   */
  readonly detail?: Exclude<ReplyDetail, "distance">;
  /**
   * Parameters of each level, for an arm whose difficulty grows; `parameters` are those of the first level. Unset: the
   * arm does not grow.
   */
  readonly levels?: readonly Parameters[];
}

/**
 * Cache of the specifications of single levels, by the specification of an arm whose difficulty grows. Each is made
 * only once, because other caches use the object itself as a key.
 */
const ofLevels = new WeakMap<TaskSpec, Map<number, TaskSpec>>();

/**
 * Returns the specification of one level of an arm whose difficulty grows. Without a level, or if the arm does not
 * grow, returns `spec`.
 */
export function specAt(spec: TaskSpec, level: number | undefined): TaskSpec {
  if (level === undefined || spec.levels === undefined) return spec;
  const known = ofLevels.get(spec) ?? new Map<number, TaskSpec>();
  ofLevels.set(spec, known);
  const found = known.get(level);
  if (found !== undefined) return found;
  const { levels, ...rest } = spec;
  const at = { ...rest, parameters: levels[level] ?? spec.parameters };
  known.set(level, at);
  return at;
}

/**
 * Returns a function that says whether two specifications describe the same tasks. Their versions may differ if the
 * environment's newer version makes the same tasks as the older one.
 */
export function haveSameTasks({ find }: Registry): (one: TaskSpec, other: TaskSpec) => boolean {
  // Compare only the levels that both arms have, because a greater maximum adds levels and changes no other.
  const cut = ({ levels, ...spec }: TaskSpec, count: number): TaskSpec =>
    levels === undefined ? spec : { ...spec, levels: levels.slice(0, count) };
  const judgeOf = ({ environment, version }: TaskSpec): unknown => {
    const found = find(environment, version);
    return found.kind === "found" ? found.environment : {};
  };
  return (one, other) => {
    const count = Math.min(one.levels?.length ?? 0, other.levels?.length ?? 0);
    const [here, there] = [cut(one, count), cut(other, count)];
    return (
      isDeepStrictEqual(here, there) ||
      (isDeepStrictEqual({ ...here, version: there.version }, there) && judgeOf(here) === judgeOf(there))
    );
  };
}
