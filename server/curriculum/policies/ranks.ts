/** Slices of the rows of a run, which are ranked from easy to hard (Curriculum RLOO). */
import { invalid, type Invalid, type RankRange } from "../types.ts";
import type { Json } from "../json.ts";
import { weightIn } from "./arm-weights.ts";
import type { Fields } from "./fields.ts";

/** Unset and all of it are the same, unless it says what rows are ranked by: then arms share by their rows. */
export function readRanks(of: Fields<"ranks">): RankRange | undefined {
  const fields = of.object("ranks", ["min", "max", "by", "rows"]);
  const min = fields?.number("min") ?? 0;
  const max = fields?.number("max") ?? 1;
  const by = fields?.text("by") ?? "";
  if (fields === undefined || (min === 0 && max === 1 && by === "")) return undefined;
  const rows = fields.numbers("rows");
  return { min, max, ...(by !== "" && { by }), ...(Object.keys(rows).length > 0 && { rows }) };
}

/** In the words of the contract's JSON. */
export function writeRanks({ rows, ...range }: RankRange): Json {
  return { ...range, ...(rows && { rows: { ...rows } }) };
}

/** How many rows of an arm a slice has; of what nobody has counted each arm counts alike. */
export function rowsWithin(ranks: RankRange | undefined, id: string): number {
  return ranks?.rows === undefined ? 1 : weightIn(ranks.rows, id);
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
