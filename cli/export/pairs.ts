/**
 * Pairs completions of one prompt for training by preferences (DPO, IPO). The better completion of a pair is the chosen
 * one.
 */
import type { ChatMessage } from "../../envs/prompt.ts";
import type { ExportRow } from "./rows.ts";

/** Row of a preference data set: a pair of completions, in the columns that trainers read. */
export type PairRow = ReturnType<typeof pairOf>;

/**
 * Row of training data. `commitEnd` is the position, in code points, at which the completion's first right answer ends.
 * Undefined if the completion has no right answer, or if the server did not search for it.
 */
export interface GradedRow extends ExportRow {
  readonly commitEnd: number | undefined;
  /**
   * Whether the row is an episode of several messages. Two episodes have no common prompt, so they are never paired.
   */
  readonly isConversation: boolean;
}

export interface PairOptions {
  readonly perPrompt: number;
  /** Minimum difference of the rewards of a pair, exclusive. */
  readonly rewardGap: number;
}

/**
 * Returns the preference pairs of each prompt. First come pairs made of one completion: its text up to its first right
 * answer is chosen over its whole text (VCC 3.3). Then the best completion is chosen over the worst, the second best
 * over the second worst, and so on while rewards differ enough.
 */
export function pairsOf(rows: readonly GradedRow[], { perPrompt, rewardGap }: PairOptions): readonly PairRow[] {
  const alone = rows.filter(({ isConversation }) => !isConversation);
  return [...Map.groupBy(alone, ({ group_id }) => group_id).values()].flatMap((group) =>
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

/** Minimum difference of two rewards. Smaller differences may be rounding errors. */
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
    /** Completions, each as a list with one message of the assistant. */
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
     * Reason for the pair. "reward": the chosen completion has the greater reward. "commit": the chosen completion is
     * the rejected one, cut after its first right answer.
     */
    kind,
    source,
  };
}
