/**
 * Contrast pairs of a complete group: completions that commit to a right answer, over those that lost it or never had
 * one (Curriculum RLOO 3.3).
 */
import type { ScoredScan } from "../../../envs/score.ts";
import type { SampleScan } from "../../curriculum/batches.ts";
import type { StepResult } from "./results.ts";

/** A completion that is preferred to another one of its group. The ends count UTF-16 units of their texts. */
export interface ContrastPair {
  readonly preferredSampleIndex: number;
  readonly preferredEnd: number;
  readonly rejectedSampleIndex: number;
  readonly rejectedEnd: number;
}

/** Result of a completion of the group. */
export interface ScoredCompletion {
  readonly sampleIndex: number;
  readonly result: StepResult;
}

/** A scanned completion of the group. */
interface Sample extends SampleScan {
  readonly index: number;
}

/** Returns the recorded part of a completion's scan. Undefined: not every answer was verified, so nothing is known. */
export function scanned({ length, commit, complete }: ScoredScan): SampleScan | undefined {
  if (commit !== undefined) return { length, commitEnd: commit.end, goesOn: commit.goesOn };
  return complete ? { length, commitEnd: null, goesOn: false } : undefined;
}

/**
 * Returns the contrast pairs of a group. Empty if its scheme does not scan for commits. Samples without a score, or
 * with unverified answers, are in no pair. Samples are taken in order of sample_index, so that pairs do not depend on
 * the order of arrival.
 */
export function contrastPairs(scored: readonly ScoredCompletion[]): readonly ContrastPair[] {
  const samples: Sample[] = [];
  let pairsMax = 0;
  for (const { sampleIndex: index, result } of scored) {
    const scan = result.kind === "score" ? result.score.scan : undefined;
    if (scan === undefined) continue;
    pairsMax = scan.pairsMax;
    const sample = scanned(scan);
    if (sample !== undefined) samples.push({ ...sample, index });
  }
  if (samples.length === 0) return [];
  samples.sort((a, b) => a.index - b.index);
  return pairsOf(samples, pairsMax);
}

/** Returns the pairs of samples that are in order of sample_index. */
export function pairsOf(samples: readonly Sample[], pairsMax: number): ContrastPair[] {
  const pairs: ContrastPair[] = [];
  const add = (preferred: Sample, rejected: Sample): void => {
    if (pairs.length >= pairsMax) return;
    pairs.push({
      preferredSampleIndex: preferred.index,
      preferredEnd: preferred.commitEnd ?? preferred.length,
      rejectedSampleIndex: rejected.index,
      rejectedEnd: rejected.length,
    });
  };
  const commits = samples.filter(({ commitEnd }) => commitEnd !== null);
  const without = samples.filter(({ commitEnd }) => commitEnd === null);
  for (const each of commits) if (each.goesOn) add(each, each);
  // In each round every commit is paired with another completion, so that a few pairs are not all with the same one.
  for (let round = 0; round < without.length && pairs.length < pairsMax; round++)
    for (const [i, each] of commits.entries()) add(each, without[(i + round) % without.length] as Sample);
  return pairs;
}
