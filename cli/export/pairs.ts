/** Pairs of completions of one prompt, the better one chosen: what DPO and IPO learn from. Pure. */
import type { ChatMessage } from "../../envs/prompt.ts";
import type { ExportRow } from "./rows.ts";

/** One row, with the columns that preference trainers read. */
export type PairRow = ReturnType<typeof pairOf>;

/** A row, with where its first right answer ends, in code points; undefined: it has none, or nobody looked. */
export interface GradedRow extends ExportRow {
  readonly commitEnd: number | undefined;
}

export interface PairOptions {
  readonly perPrompt: number;
  /** The chosen reward is greater by more than this. */
  readonly rewardGap: number;
}

/**
 * Of each prompt first a commit over the whole of its completion, where that goes on (VCC 3.3), then the best over the
 * worst, the second best over the second worst, and so on while their rewards differ enough.
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

/** Rewards that are nearer to each other differ by rounding: the rows do not say what range their scheme has. */
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
    /** "reward": the chosen one has the greater reward; "commit": it is the start of the rejected one, up to its first right answer. */
    kind,
    source,
  };
}
