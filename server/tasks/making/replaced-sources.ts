/**
 * Closes groups whose tasks came from a mounted environment with other source code than now. Their answers cannot be
 * scored, so the groups would keep the run waiting. They stay open for a grace period, in which the old source code may
 * come back.
 */
import { LRUCache } from "lru-cache";
import { changedSources } from "../../../envs/mounted-tasks.ts";
import type { TaskKey } from "../../../envs/origin.ts";
import type { Registry } from "../../../envs/registry.ts";
import { openGroups, type RunState } from "../../curriculum/state.ts";
import type { TaskSpec } from "../spec.ts";
import type { RunEvent } from "../../curriculum/events.ts";

/**
 * Maximum number of remembered environments whose source code was replaced. If one is forgotten, its grace period
 * starts anew.
 */
const MISSED_MAX = 4096;

export interface Replaced {
  /**
   * Returns why this server cannot make or score tasks of a specification: the mounted environment now has other source
   * code than the specification names. Undefined: it can.
   */
  readonly whyMissing: (spec: TaskSpec) => string | undefined;
  /**
   * Returns why the source code that a specification names is missing. Undefined: it is not missing, its grace period
   * is not over, or this process never had the environment.
   */
  why(spec: TaskSpec): string | undefined;
  /** Returns the events that close a run's groups whose environment's source code was replaced. */
  closing(state: RunState<TaskSpec, TaskKey>): readonly Closed[];
}

type Closed = Extract<RunEvent, { readonly kind: "closed" }>;

export function createReplaced(registry: Registry, graceMs: number): Replaced {
  /** Time at which the source code of each environment was first found missing, from performance.now(). */
  const missed = new LRUCache<string, number>({ max: MISSED_MAX });
  /**
   * Cache of the indices of arms whose environment's source code is missing, by the list of arms. An entry is valid for
   * one list of environments (`of`).
   */
  const found = new WeakMap<object, { readonly of: Registry["environments"]; readonly arms: readonly number[] }>();
  const why: Replaced["why"] = (spec) => {
    const name = `${spec.environment} ${spec.version} ${spec.digest}`;
    const words = whyMissing(registry, spec);
    // An environment that this process never had does not count as replaced, because the operator may have forgotten
    // the option that mounts it.
    const isReplaced = registry.find(spec.environment).kind === "found" || registry.had?.(spec.environment) === true;
    if (words === undefined || !isReplaced) return void missed.delete(name);
    const sinceMs = missed.get(name) ?? performance.now();
    missed.set(name, sinceMs);
    return performance.now() - sinceMs >= graceMs ? words : undefined;
  };
  const missingOf = (arms: RunState<TaskSpec>["config"]["arms"]): readonly number[] => {
    const known = found.get(arms);
    if (known?.of === registry.environments) return known.arms;
    const missing = arms.flatMap(({ spec }, i) => (whyMissing(registry, spec) === undefined ? [] : [i]));
    found.set(arms, { of: registry.environments, arms: missing });
    return missing;
  };
  return {
    whyMissing: (spec) => whyMissing(registry, spec),
    why,
    closing(state) {
      const { arms } = state.config;
      const lost = new Map(missingOf(arms).map((arm) => [arm, arms[arm] && why(arms[arm].spec)]));
      if (lost.values().every((words) => words === undefined)) return [];
      const open = openGroups(state).flatMap(({ group: { task } }) => {
        const words = lost.get(task.arm);
        return words === undefined ? [] : [{ words, cursor: task.cursor }];
      });
      return [...Map.groupBy(open, ({ words }) => words)].map(([words, groups]) => ({
        kind: "closed",
        cursors: groups.map(({ cursor }) => cursor),
        reason: `replaced: ${words}`,
        cause: "replaced",
      }));
    },
  };
}

function whyMissing(registry: Registry, { environment: id, version, digest }: TaskSpec): string | undefined {
  if (digest === undefined) return undefined;
  const found = registry.find(id, version);
  if (found.kind !== "found") return found.message;
  return found.environment.asked?.digest === digest ? undefined : changedSources(found.environment, digest);
}
