/** Pairs completions of one prompt, with the better one as chosen, as DPO and IPO need them. Pure. */
import type { ChatMessage } from "../../envs/prompt.ts";
import type { ExportRow } from "./rows.ts";

/** A pair, with the columns that preference trainers read. */
export type PairRow = ReturnType<typeof pairOf>;

/**
 * A row with the end of its first right answer, in code points. Undefined if it has none, or commits were not scanned.
 */
export interface GradedRow extends ExportRow {
  readonly commitEnd: number | undefined;
}

export interface PairOptions {
  readonly perPrompt: number;
  /** The chosen reward exceeds the rejected one by more than this. */
  readonly rewardGap: number;
}

/**
 * Returns the pairs of each prompt. First come commits over their whole completion, if it goes on after the commit (VCC
 * 3.3). Then come the best over the worst, the second best over the second worst, and so on while rewards differ
 * enough.
 */
export function pairsOf(rows: readonly GradedRow[], { perPrompt, rewardGap }: PairOptions): readonly PairRow[] {
  return [...Map.groupBy(rows, ({ group_id }) => group_id).values()].flatMap((group) =>
    [...commitPairs(group), ...rewardPairs(group, rewardGap)].slice(0, perPrompt),
  );
}

function commitPairs(group: readonly GradedRow[]): readonly PairRow[] {
  return group.flatMap((row) => {
    const text = completionOf(row);
    if (row.commitEnd === undefined) return [];
    const commit = [...text].slice(0, row.commitEnd).join("");
    return commit.trimEnd() === text.trimEnd() ? [] : [pairOf(row, row, "commit", commit)];
  });
}

/**
 * Minimum difference of two rewards. Smaller ones are rounding errors, because rows do not say the range of their
 * scheme.
 */
const ROUNDING_GAP = 1e-9;

function rewardPairs(group: readonly GradedRow[], rewardGap: number): readonly PairRow[] {
  const ranked = group.toSorted((a, b) => b.reward - a.reward || a.sample_index - b.sample_index);
  const pairs: PairRow[] = [];
  for (let i = 0, j = ranked.length - 1; i < j; i++, j--) {
    const [better, worse] = [ranked[i] as GradedRow, ranked[j] as GradedRow];
    if (better.reward - worse.reward <= Math.max(rewardGap, ROUNDING_GAP)) break;
    pairs.push(pairOf(better, worse, "reward", completionOf(better)));
  }
  return pairs;
}

function completionOf({ messages }: ExportRow): string {
  return messages.at(-1)?.content ?? "";
}

function pairOf(better: GradedRow, worse: GradedRow, kind: string, chosen: string) {
  const { environment, version, level, split, group_id, source } = better;
  const answer = (content: string): readonly ChatMessage[] => [{ role: "assistant", content }];
  return {
    prompt: better.messages.slice(0, -1),
    /** The assistant's message. */
    chosen: answer(chosen),
    rejected: answer(completionOf(worse)),
    environment,
    version,
    level,
    split,
    group_id,
    chosen_index: better.sample_index,
    rejected_index: worse.sample_index,
    chosen_reward: better.reward,
    rejected_reward: worse.reward,
    /**
     * "reward": the chosen completion has the greater reward. "commit": it is the rejected one, cut behind its first
     * right answer.
     */
    kind,
    source,
  };
}
