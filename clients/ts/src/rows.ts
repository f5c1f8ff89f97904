/**
 * Settings of arms that choose among their rows (e.g. tasks of a data pool) by pass rate, and the pass rates that a run
 * knows.
 */
import { create } from "@bufbuild/protobuf";
import {
  type ListRowsResponse,
  type RowCurriculum,
  RowCurriculumSchema,
  type RowState,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";

/**
 * Rule by which an arm chooses its rows. Without `sharpness` and `target`, the rule prefers rows with a middle pass
 * rate (learnability). See RowCurriculum in the contract.
 */
export interface RowChoice {
  /** Exponent of 4p(1 − p), by which a row with pass rate p is preferred. Defaults to 6. */
  readonly sharpness?: number | undefined;
  /**
   * Pass rate near which rows are preferred. It moves from `start` at the first draw to `end` at the last. `end`
   * defaults to `start`.
   */
  readonly target?: { readonly start?: number; readonly end?: number; readonly width?: number } | undefined;
  /** Share of draws that is spread evenly over all rows. Defaults to 0.05. */
  readonly floor?: number | undefined;
  /** Weight that a row's earlier results keep when a new group of the row is closed, from 0 to 1. Defaults to 0.75. */
  readonly kept?: number | undefined;
  /** Number of groups in succession with all samples solved after which a row is no longer drawn. Defaults to never. */
  readonly retireAfter?: number | undefined;
  /** Number of generated tasks that are the rows of an arm without a data pool. */
  readonly count?: number | undefined;
  /**
   * Number of samples that a rate in the pool's column pass_rate is worth. 0 means that the column is ignored. Defaults
   * to 8.
   */
  readonly columnSamples?: number | undefined;
}

/** Pass rates that a run knows of the rows of an arm. */
export interface ArmRows {
  readonly rows: readonly RowState[];
  /** Number of rows by expected pass rate, in 33 equal steps from 0 to 1. Retired rows are not counted. */
  readonly histogram: readonly number[];
  readonly retired: number;
  /** Number of rows that the pool no longer has. Each of them is marked `gone`, and its row number has no meaning. */
  readonly gone: number;
  /** Digest of the pool in whose file the rows are numbered. Empty if the rows are generated tasks. */
  readonly poolDigest: string;
}

export function rowsOf({ sharpness, target, ...rest }: RowChoice): RowCurriculum {
  if (sharpness !== undefined && target !== undefined) throw new TypeError("rows: give sharpness or target, not both");
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const by =
    target === undefined
      ? { case: "learnability" as const, value: sharpness === undefined ? {} : { sharpness } }
      : { case: "target" as const, value: { ...target } };
  return create(RowCurriculumSchema, { ...given, by });
}

/** Returns an arm's rows, joined from the pages of the list. */
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
