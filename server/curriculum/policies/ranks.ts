/**
 * Reads, checks and applies rank ranges: slices of a run's rows, which are ranked from easy to hard (Curriculum RLOO).
 */
import { invalid, type Invalid, type RankRange } from "../types.ts";
import type { Json } from "../json.ts";
import { weightIn } from "./arm-weights.ts";
import type { Fields } from "./fields.ts";

/**
 * Reads a rank range. Undefined: the range is unset, or it covers all ranks and its field `by` is empty. If `by` is
 * set, even a range over all ranks is kept, because arms then share draws by their numbers of rows.
 */
export function readRanks(of: Fields<"ranks">): RankRange | undefined {
  const fields = of.object("ranks", ["min", "max", "by", "rows"]);
  const min = fields?.number("min") ?? 0;
  const max = fields?.number("max") ?? 1;
  const by = fields?.text("by") ?? "";
  if (fields === undefined || (min === 0 && max === 1 && by === "")) return undefined;
  const rows = fields.numbers("rows");
  return { min, max, ...(by !== "" && { by }), ...(Object.keys(rows).length > 0 && { rows }) };
}

/** Writes a rank range in the field names of the contract's JSON. */
export function writeRanks({ rows, ...range }: RankRange): Json {
  return { ...range, ...(rows && { rows: { ...rows } }) };
}

/**
 * Returns the number of an arm's rows in a rank range. If the rows were not counted, it returns 1, which changes no
 * share.
 */
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

/**
 * Returns whether a task of this rank may be drawn. A task without a known rank always may. If `max` is 1, the range
 * has no upper limit.
 */
export function isWithin(ranks: RankRange | undefined, rank: number | undefined): boolean {
  if (ranks === undefined || rank === undefined) return true;
  return rank >= ranks.min && (rank < ranks.max || ranks.max === 1);
}
