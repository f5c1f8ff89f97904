/** Total and mean length of completions: in tokens where a trainer reports them, and otherwise in characters. */
import type { CompletionLengths, HistoryRecord } from "../../../proto/gen/gradus/v1/curriculum_pb.js";

export interface LengthFigure {
  /** "tokens" if any sample has them. Characters are UTF-16 code units. */
  readonly unit: "tokens" | "characters";
  /** Sum of the lengths of the samples that have a length in this unit. */
  readonly total: number;
  /** Mean length of the samples that `total` sums up. */
  readonly mean: number;
  /** Share of samples with a length in this unit. Below 1: a trainer reported the tokens of some samples only. */
  readonly share: number;
}

/** Returns the total and mean length of completions. Undefined: no completion has a length. */
export function lengthFigure(lengths: CompletionLengths | undefined): LengthFigure | undefined {
  if (lengths === undefined) return undefined;
  const { tokens, tokenSamples, characters, characterSamples } = lengths;
  const [unit, total, samples] =
    tokenSamples > 0n
      ? (["tokens", tokens, tokenSamples] as const)
      : (["characters", characters, characterSamples] as const);
  if (samples === 0n) return undefined;
  const share = Number(samples) / Number(tokenSamples + characterSamples);
  return { unit, total: Number(total), mean: Number(total) / Number(samples), share };
}

export interface LengthAxis extends Pick<LengthFigure, "unit" | "share"> {
  /**
   * Returns the total length of the completions of all tasks before a cursor (a task's position in the run). Within an
   * update batch all tasks count alike.
   */
  readonly at: (cursor: bigint) => number;
}

/**
 * Returns a chart's horizontal axis that counts the tokens, or characters, of a run's completions. Undefined: the
 * history has no lengths.
 */
export function lengthAxis(records: readonly HistoryRecord[]): LengthAxis | undefined {
  const batches = records.flatMap(({ kind, rolledBack }) => (rolledBack || kind.case !== "batch" ? [] : [kind.value]));
  const sums = { tokens: 0n, tokenSamples: 0n, characters: 0n, characterSamples: 0n };
  for (const { lengths } of batches)
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += lengths?.[name] ?? 0n;
  const whole = lengthFigure(sums as CompletionLengths);
  if (whole === undefined) return undefined;
  const parts = [{ from: 0n, before: 0, each: 0, tasks: 0 }];
  let before = 0;
  const at = (cursor: bigint): number => {
    const part = parts.findLast(({ from }) => from <= cursor) ?? parts[0]!;
    return part.before + Math.min(Number(cursor - part.from), part.tasks) * part.each;
  };
  for (const { cursor, counts, lengths } of batches) {
    const tasks = counts.reduce((sum, count) => sum + count, 0);
    const spent = Number(lengths?.[whole.unit] ?? 0n);
    parts.push({ from: cursor, before, each: tasks === 0 ? 0 : spent / tasks, tasks });
    before += spent;
  }
  return { unit: whole.unit, share: whole.share, at };
}

/** Returns the name of an axis or a column, e.g. "tokens", or "tokens of 40% of the samples". */
export function lengthWords({ unit, share }: Pick<LengthFigure, "unit" | "share">): string {
  return share < 1 ? `${unit} of ${Math.round(100 * share)}% of the samples` : unit;
}
