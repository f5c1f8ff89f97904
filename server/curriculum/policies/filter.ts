/** Which instances are passed over, under any policy: the contract's TaskFilter. */
import { create } from "@bufbuild/protobuf";
import { type TaskFilter as Message, TaskFilterSchema } from "../../gen/gradus/v1/curriculum_pb.js";
import type { Invalid, TaskFilter } from "../core/types.ts";
import { inRange } from "./policy.ts";
import { checkRankRange, rankRangeFromWire, rankRangeToWire } from "./ranks.ts";

const FAILED_MAX = 1024;

/** Unset and with nothing set are the same. */
export function filterFromWire(message: Message | undefined): TaskFilter | undefined {
  if (message === undefined) return undefined;
  const { skipSolved, skipFailedAfter } = message;
  const ranks = rankRangeFromWire(message.ranks);
  return skipSolved || skipFailedAfter > 0 || ranks ? { skipSolved, skipFailedAfter, ranks } : undefined;
}

export function filterToWire(filter: TaskFilter | undefined): Message | undefined {
  if (filter === undefined) return undefined;
  const { skipSolved, skipFailedAfter } = filter;
  const ranks = rankRangeToWire(filter.ranks);
  return create(TaskFilterSchema, { skipSolved, skipFailedAfter, ...(ranks && { ranks }) });
}

export function checkFilter(filter: TaskFilter | undefined): Invalid | undefined {
  if (filter === undefined) return undefined;
  const name = "policy.filter";
  return (
    inRange(`${name}.skip_failed_after`, filter.skipFailedAfter, 0, FAILED_MAX) ??
    checkRankRange(`${name}.ranks`, filter.ranks)
  );
}

/** Whether what groups came to is remembered for it. */
export function looksBack(filter: TaskFilter | undefined): boolean {
  return filter !== undefined && (filter.skipSolved || filter.skipFailedAfter > 0);
}
