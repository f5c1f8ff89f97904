/** Contrast pairs of a whole group: commits over what lost them, or never had one (Curriculum RLOO 3.3). */
import type { ScoredScan } from "../../envs/score.ts";
import type { SampleScan } from "../curriculum/core/batches.ts";
import type { Completion } from "../gen/gradus/v1/environment_pb.js";
import type { ContrastPair } from "../gen/gradus/v1/outcome_pb.js";
import type { SampleResult } from "./scorer.ts";

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
export function contrastPairs(completions: readonly Completion[], results: readonly SampleResult[]): ContrastPair[] {
  const samples: Sample[] = [];
  let pairsMax = 0;
  for (let i = 0; i < results.length; i++) {
    const result = results[i] as SampleResult;
    const scan = result.kind === "score" ? result.score.scan : undefined;
    if (scan === undefined) continue;
    pairsMax = scan.pairsMax;
    const sample = scanned(scan);
    if (sample !== undefined) samples.push({ ...sample, index: (completions[i] as Completion).sampleIndex });
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
      $typeName: "gradus.v1.ContrastPair",
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
