/** Limits on what a message of completions may hold. */
import type { Completion, CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import { checkBytes, checkCount, invalid } from "./check.ts";

export interface GroupLimits {
  /** Groups in a BatchStep or StreamSteps message. */
  readonly groupsMax: number;
  /** Completions in a group; num_generations of a run. */
  readonly completionsMax: number;
}

const GROUP_ID_BYTES_MAX = 256;

/** INVALID_ARGUMENT for what only a client's mistake explains; the rest is answered for each completion. */
export function checkGroups(groups: readonly CompletionGroup[], limits: GroupLimits): void {
  checkCount(groups.length, limits.groupsMax, "groups", 1);
  for (const [i, group] of groups.entries()) {
    checkBytes(group.groupId, GROUP_ID_BYTES_MAX, `groups[${i}].group_id`);
    checkCount(group.completions.length, limits.completionsMax, `groups[${i}].completions`, 1);
    if (!ascends(group.completions)) checkDistinct(group.completions, `groups[${i}]`);
  }
}

/** As nearly all groups do: then none stands there twice. */
function ascends(completions: readonly Completion[]): boolean {
  let before = -1;
  for (const { sampleIndex } of completions) {
    if (sampleIndex <= before) return false;
    before = sampleIndex;
  }
  return true;
}

function checkDistinct(completions: readonly Completion[], group: string): void {
  const seen = new Set<number>();
  for (const [j, { sampleIndex }] of completions.entries()) {
    if (seen.has(sampleIndex))
      throw invalid(`${group}.completions[${j}].sample_index`, `${sampleIndex} stands there twice`);
    seen.add(sampleIndex);
  }
}
