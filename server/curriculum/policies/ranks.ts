/** Slices of pools that are ranked from easy to hard (Curriculum RLOO). */
import { invalid, type Invalid, type RankRange } from "../core/types.ts";
import type { Fields } from "./fields.ts";

/** Unset and all of it are the same. */
export function readRanks(of: Fields<"ranks">): RankRange | undefined {
  const fields = of.object("ranks", ["min", "max"]);
  const min = fields?.number("min") ?? 0;
  const max = fields?.number("max") ?? 1;
  return min === 0 && max === 1 ? undefined : { min, max };
}

export function checkRankRange(field: string, ranks: RankRange | undefined): Invalid | undefined {
  if (ranks === undefined) return undefined;
  const { min, max } = ranks;
  if (!(min >= 0 && min < 1)) return invalid(`${field}.min`, `must be at least 0 and below 1, not ${min}`);
  if (!(max > min && max <= 1)) return invalid(`${field}.max`, `must be above min, ${min}, and at most 1, not ${max}`);
  return undefined;
}

/** Whether a task may be drawn; those of no pool, whose rank is not known, may. The hardest row's rank is 1. */
export function isWithin(ranks: RankRange | undefined, rank: number | undefined): boolean {
  if (ranks === undefined || rank === undefined) return true;
  return rank >= ranks.min && (rank < ranks.max || ranks.max === 1);
}
