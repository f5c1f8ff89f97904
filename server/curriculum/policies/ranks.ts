/** Slices of pools that are ranked from easy to hard (Curriculum RLOO). */
import { create } from "@bufbuild/protobuf";
import { type RankRange as Message, RankRangeSchema } from "../../gen/gradus/v1/curriculum_pb.js";
import { invalid, type Invalid, type RankRange } from "../core/types.ts";

/** Unset and all of it are the same. */
export function rankRangeFromWire(message: Message | undefined): RankRange | undefined {
  const { min = 0, max = 1 } = message ?? {};
  return min === 0 && max === 1 ? undefined : { min, max };
}

export function rankRangeToWire(ranks: RankRange | undefined): Message | undefined {
  return ranks && create(RankRangeSchema, { ...ranks });
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
