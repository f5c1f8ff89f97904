/** Curricula over the rows of arms: rules that choose rows, and what a run knows of its rows. */
import { create } from "@bufbuild/protobuf";
import {
  type ListRowsResponse,
  type RowCurriculum,
  RowCurriculumSchema,
  type RowState,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";

/**
 * Rule by which an arm chooses its rows. Without `sharpness` and `target` the rule is learnability. See RowCurriculum
 * in the contract.
 */
export interface RowChoice {
  /** Exponent of the interest 4p(1 − p), where p is the pass rate. Defaults to 6. */
  readonly sharpness?: number | undefined;
  /**
   * Prefers rows near a pass rate that moves from `start` at the first draw to `end` at the last. `end` defaults to
   * `start`.
   */
  readonly target?: { readonly start?: number; readonly end?: number; readonly width?: number } | undefined;
  /** Share of draws that is spread evenly over all rows. Defaults to 0.05. */
  readonly floor?: number | undefined;
  /** Share of the earlier knowledge of a row that stays when a new group is observed. Defaults to 0.75. */
  readonly kept?: number | undefined;
  /** Number of groups in succession with all samples solved after which a row is drawn no more. Defaults to never. */
  readonly retireAfter?: number | undefined;
  /** Number of rows of an arm with generated tasks. */
  readonly count?: number | undefined;
  /** Number of samples that a rate in the pool's column is worth. 0: the column is ignored. Defaults to 8. */
  readonly columnSamples?: number | undefined;
}

/** Knowledge of the rows of an arm. */
export interface ArmRows {
  readonly rows: readonly RowState[];
  /** Number of rows that are not retired, by expected pass rate, in 33 equal steps from 0 to 1. */
  readonly histogram: readonly number[];
  readonly retired: number;
  /** Number of rows that the pool no longer has. Each of them is marked `gone`, and its number has no meaning. */
  readonly gone: number;
  /** Digest of the pool that numbers the rows. "": the rows are generated tasks. */
  readonly poolDigest: string;
}

/** Returns the message for a choice of rows. */
export function rowsOf({ sharpness, target, ...rest }: RowChoice): RowCurriculum {
  if (sharpness !== undefined && target !== undefined) throw new TypeError("rows: give sharpness or target, not both");
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const by =
    target === undefined
      ? { case: "learnability" as const, value: sharpness === undefined ? {} : { sharpness } }
      : { case: "target" as const, value: { ...target } };
  return create(RowCurriculumSchema, { ...given, by });
}

/** Joins the pages of an arm's rows. */
export function joinRows(pages: readonly ListRowsResponse[]): ArmRows {
  const last = pages.at(-1);
  return {
    rows: pages.flatMap(({ rows }) => rows),
    histogram: last?.histogram ?? [],
    retired: last?.retired ?? 0,
    gone: last?.gone ?? 0,
    poolDigest: last?.poolDigest ?? "",
  };
}
