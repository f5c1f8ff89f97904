/**
 * Finds contrast pairs in a complete group: a completion that stops at a right answer is preferred to one that goes on
 * past it or never has one (Curriculum RLOO 3.3).
 */
import type { ScoredScan } from "../../../envs/score.ts";
import type { SampleScan } from "../../curriculum/batches.ts";
import type { StepResult } from "./results.ts";

/**
 * Two completions of a group, of which one is preferred. Trainers use only the beginning of each completion's text, up
 * to its end position in code points.
 */
export interface ContrastPair {
  readonly preferredSampleIndex: number;
  readonly preferredEnd: number;
  readonly rejectedSampleIndex: number;
  readonly rejectedEnd: number;
}

/** Completion of a group, with its result. */
export interface ScoredCompletion {
  readonly sampleIndex: number;
  readonly result: StepResult;
}

/** Completion of a group that was searched for its first right answer. */
interface Sample extends SampleScan {
  readonly index: number;
}

/**
 * Returns the result of searching a completion for its first right answer, in the form that runs record. Undefined: not
 * every answer was verified, so the first right answer is not known.
 */
export function scanned({ length, commit, complete }: ScoredScan): SampleScan | undefined {
  if (commit !== undefined) return { length, commitEnd: commit.end, goesOn: commit.goesOn };
  return complete ? { length, commitEnd: null, goesOn: false } : undefined;
}

/**
 * Returns the contrast pairs of a group. In each pair, the preferred text ends at the first right answer of its
 * completion. The rejected text is a whole completion that has no right answer, or that goes on after its first one.
 *
 * The list is empty if the reward scheme does not search completions for their first right answer. Samples without a
 * score are left out. A sample is also left out if no verified answer is right and some answers were not verified. The
 * order in which samples arrived does not matter, because they are sorted by sample_index.
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

/** Returns the contrast pairs among samples, at most `pairsMax`. The samples must be sorted by sample_index. */
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
  // Each round pairs every completion that has a right answer with a completion that has none, another one than in
  // earlier rounds. So even a few pairs have different rejected completions.
  for (let round = 0; round < without.length && pairs.length < pairsMax; round++)
    for (const [i, each] of commits.entries()) add(each, without[(i + round) % without.length] as Sample);
  return pairs;
}
