/** Clients' knowledge of groups (GetGroups), and the checks that every server's answer must pass. */
import type { SampleResult } from "../../server/curriculum/batches.ts";

/** A result as far as a client knows it. */
export type KnownResult =
  | Extract<SampleResult, { readonly kind: "terminal" }>
  /** Undefined: a reply does not say whether a sample counts as solved. */
  | { readonly kind: "reward"; readonly reward: number; readonly solved: boolean | undefined };

/** A group as a client was told of it. */
export interface ToldGroup {
  readonly incarnation: string;
  readonly cursor: number;
  readonly batch: number;
  readonly closed: boolean;
  readonly useful: boolean;
  readonly selected: boolean;
  readonly missing: readonly number[];
  readonly samples: readonly {
    readonly index: number;
    readonly result: KnownResult;
    readonly rloo: number | undefined;
  }[];
}

/** An answer about all groups of an update batch. */
export interface Selection {
  readonly incarnation: string;
  readonly batch: number;
  /** Whether the run has dynamic sampling. */
  readonly sampling: boolean;
  readonly groups: readonly Pick<ToldGroup, "cursor" | "closed" | "useful" | "selected">[];
}

/** The state of knowledge when a question was asked. */
export interface Asked {
  readonly askedAt: number;
  /** Acknowledgements before this one had come. */
  readonly known: number;
}

export function alike(one: KnownResult, other: KnownResult): boolean {
  if (one.kind === "terminal" || other.kind === "terminal")
    return one.kind === other.kind && "reason" in one && "reason" in other && one.reason === other.reason;
  const known = one.solved !== undefined && other.solved !== undefined;
  return one.reward === other.reward && (!known || one.solved === other.solved);
}

/** RLOO: each reward less the mean of the others. */
export function checkAdvantages({ samples }: ToldGroup, wrong: (what: string) => void): void {
  const rewards = samples.flatMap(({ result }) => (result.kind === "reward" ? [result.reward] : []));
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  for (const { index, result, rloo } of samples) {
    if (result.kind !== "reward") continue;
    const expected = rewards.length < 2 ? 0 : result.reward - (sum - result.reward) / (rewards.length - 1);
    if (rloo === undefined || Math.abs(rloo - expected) > 1e-9) wrong(`with advantage ${rloo} of sample ${index}`);
  }
}
