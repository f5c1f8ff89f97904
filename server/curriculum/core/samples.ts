/** Samples of a task: those that have come in lists of one length, and all of them by their index. */
import type { GroupResults, SampleResult } from "./batches.ts";
import type { EvaluatedTask } from "./state.ts";

const blanks = new Map<number, EvaluatedTask>();

/** Nothing has come. One for all of a length, for a run may have a million samples open. */
export function blankSamples(numGenerations: number): EvaluatedTask {
  const known = blanks.get(numGenerations);
  if (known !== undefined) return known;
  const none = Object.freeze(new Array<null>(numGenerations).fill(null));
  const blank = Object.freeze({ digests: none, results: none });
  blanks.set(numGenerations, blank);
  return blank;
}

export function withSamples(
  before: EvaluatedTask,
  { indices, digests, results }: Omit<GroupResults, "cursor">,
): EvaluatedTask {
  if (indices.length === 0) return { digests: before.digests, results: before.results };
  // As nearly always: a whole group at once.
  if (indices.length === before.results.length && isInOrder(indices))
    return { digests: [...digests], results: [...results] };
  const next = { digests: [...before.digests], results: [...before.results] };
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    next.digests[index] = digests[i] ?? null;
    next.results[index] = results[i] ?? null;
  }
  return next;
}

/** Whether they are 0, 1, 2 and so on. */
function isInOrder(indices: readonly number[]): boolean {
  for (let i = 0; i < indices.length; i++) if (indices[i] !== i) return false;
  return true;
}

export function recordedOf({ results, digests }: EvaluatedTask): Omit<GroupResults, "cursor"> {
  const columns = { indices: [] as number[], digests: [] as string[], results: [] as SampleResult[] };
  if (digests === blanks.get(digests.length)?.digests) return columns;
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
