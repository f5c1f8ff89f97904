/** Limits on what a message of completions may hold. */
import type { CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import { checkBytes, checkCount, invalid } from "../rpc/check.ts";

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
    const seen = new Set<number>();
    for (const [j, { sampleIndex }] of group.completions.entries()) {
      if (seen.has(sampleIndex))
        throw invalid(`groups[${i}].completions[${j}].sample_index`, `${sampleIndex} stands there twice`);
      seen.add(sampleIndex);
    }
  }
}
