/** Contrast pairs of a whole group: commits over what lost them, or never had one (Curriculum RLOO 3.3). */
import type { ScoredScan } from "../../../envs/score.ts";
import type { SampleScan } from "../../curriculum/batches.ts";
import type { SampleResult } from "./scorer.ts";

/** A completion to be preferred to another one of its group. The ends are UTF-16 units of their texts. */
export interface ContrastPair {
  readonly preferredSampleIndex: number;
  readonly preferredEnd: number;
  readonly rejectedSampleIndex: number;
  readonly rejectedEnd: number;
}

/** What became of a completion of the group. */
export interface ScoredCompletion {
  readonly sampleIndex: number;
  readonly result: SampleResult;
}

/** A scanned completion of the group. */
interface Sample extends SampleScan {
  readonly index: number;
}

/** What is kept of a completion's scan; undefined: not every answer was verified, so that nothing is known. */
export function scanned({ length, commit, complete }: ScoredScan): SampleScan | undefined {
  if (commit !== undefined) return { length, commitEnd: commit.end, goesOn: commit.goesOn };
  return complete ? { length, commitEnd: null, goesOn: false } : undefined;
}

/**
 * Empty where the scheme does not scan for commits. A sample without a score is in no pair, for nothing is known of it; nor
 * is one of which not every answer was verified. In the order of sample_index, so that no pair depends on who came first.
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

/** Of samples in the order of sample_index. */
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
  // Round by round, each commit against another completion, so that a few pairs are not all of the same one.
  for (let round = 0; round < without.length && pairs.length < pairsMax; round++)
    for (const [i, each] of commits.entries()) add(each, without[(i + round) % without.length] as Sample);
  return pairs;
}
