/** Samples that have come, in lists of one length. */
import type { GroupResults, SampleResult } from "./batches.ts";
import type { EvaluatedTask } from "./state.ts";

export function recordedOf({ results, digests }: EvaluatedTask): Omit<GroupResults, "cursor"> {
  const columns = { indices: [] as number[], digests: [] as string[], results: [] as SampleResult[] };
  // A loop: a state may hold a million samples.
  for (let index = 0; index < results.length; index++) {
    const result = results[index];
    const digest = digests[index];
    if (result === null || result === undefined || digest === null || digest === undefined) continue;
    columns.indices.push(index);
    columns.digests.push(digest);
    columns.results.push(result);
  }
  return columns;
}
