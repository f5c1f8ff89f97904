/** Reads ids of runs and of their groups from requests. */
import type { GroupRef } from "../curriculum/feedback.ts";
import { checkBytes, checkId, invalid } from "./request-checks.ts";

const RUN_ID_BYTES_MAX = 128;
export const GROUP_ID_BYTES_MAX = 256;

export function readRunId({ runId }: { readonly runId: string }): string {
  return checkId(runId, RUN_ID_BYTES_MAX, "run_id");
}

/** Reads a group id. It is the inverse of runGroupId. */
export function readGroupId(groupId: string, runId: string, field: string): GroupRef {
  checkBytes(groupId, GROUP_ID_BYTES_MAX, field);
  const [run, incarnation = "", cursor = "", ...rest] = groupId.split("/");
  if (run === runId && cursor === "e")
    throw invalid(field, "it is of an evaluation arm, whose groups take scores and nothing else");
  if (run !== runId || rest.length > 0 || !/^\d{1,16}$/.test(cursor))
    throw invalid(field, `it is not a group of run '${runId}': give back the task's group_id`);
  return { incarnation, cursor: Number(cursor) };
}
