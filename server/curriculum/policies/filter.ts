/**
 * Reads, writes and checks the contract's TaskFilter: the rule by which a run skips some instances, e.g. solved ones,
 * under any policy.
 */
import { LIMITS } from "../../../proto/limits.ts";
import type { Json } from "../json.ts";
import type { Invalid, TaskFilter } from "../types.ts";
import { fieldsOf } from "./fields.ts";
import { inRange } from "./policy.ts";
import { checkRankRange, readRanks, writeRanks } from "./ranks.ts";

/** Reads a filter. Undefined: it is unset, or none of its fields is set. */
export function readFilter(json: Json): TaskFilter | undefined {
  const fields = fieldsOf(json, ["skip_solved", "skip_failed_after", "ranks"]);
  const skipSolved = fields.flag("skip_solved");
  const skipFailedAfter = fields.count("skip_failed_after") ?? 0;
  const ranks = readRanks(fields);
  return skipSolved || skipFailedAfter > 0 || ranks ? { skipSolved, skipFailedAfter, ranks } : undefined;
}

export function writeFilter({ skipSolved, skipFailedAfter, ranks }: TaskFilter): Json {
  return { skip_solved: skipSolved, skip_failed_after: skipFailedAfter, ...(ranks && { ranks: writeRanks(ranks) }) };
}

export function checkFilter(filter: TaskFilter | undefined): Invalid | undefined {
  if (filter === undefined) return undefined;
  const name = "policy.filter";
  return (
    inRange(`${name}.skip_failed_after`, filter.skipFailedAfter, 0, LIMITS.TaskFilter.skip_failed_after.max) ??
    checkRankRange(`${name}.ranks`, filter.ranks)
  );
}

/**
 * Returns whether the filter skips instances because of the outcomes of their earlier groups, e.g. solved instances.
 * The run then stores outcomes by instance.
 */
export function looksBack(filter: TaskFilter | undefined): boolean {
  return filter !== undefined && (filter.skipSolved || filter.skipFailedAfter > 0);
}
