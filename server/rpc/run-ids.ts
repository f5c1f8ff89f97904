/** Reads ids of runs and of their groups from requests. */
import { LIMITS } from "../../proto/limits.ts";
import type { GroupRef } from "../curriculum/feedback.ts";
import { checkBytes, checkId, invalid } from "./request-checks.ts";

export function readRunId({ runId }: { readonly runId: string }): string {
  return checkId(runId, LIMITS.CreateRunRequest.run_id.max, "run_id");
}

/** Reads a group id. It is the inverse of runGroupId. */
export function readGroupId(groupId: string, runId: string, field: string): GroupRef {
  checkBytes(groupId, LIMITS.CompletionGroup.group_id.max, field);
  const [run, incarnation = "", cursor = "", ...rest] = groupId.split("/");
  if (run === runId && cursor === "e")
    throw invalid(field, "it is of an evaluation arm, whose groups take scores and nothing else");
  if (run !== runId || rest.length > 0 || !/^\d{1,16}$/.test(cursor))
    throw invalid(field, `it is not a group of run '${runId}': give back the task's group_id`);
  return { incarnation, cursor: Number(cursor) };
}
