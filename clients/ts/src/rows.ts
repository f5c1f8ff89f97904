/** Curricula over the rows of arms: how rows are chosen, and what is told and known of them. */
import { create } from "@bufbuild/protobuf";
import {
  type ListRowsResponse,
  type RowCurriculum,
  RowCurriculumSchema,
  type RowState,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";

/** How an arm chooses among its rows; with neither of the first two by learnability. See RowCurriculum in the contract. */
export interface RowChoice {
  /** Interest (4p(1 − p)) to this power, with p the pass rate; left out: 6. */
  readonly sharpness?: number | undefined;
  /** Rows near a pass rate that moves from the run's first draw to its last; left out, `end` is `start`. */
  readonly target?: { readonly start?: number; readonly end?: number; readonly width?: number } | undefined;
  /** Share of draws that goes to all rows alike; left out: 0.05. */
  readonly floor?: number | undefined;
  /** What of what is known of a row stays when a group of it is seen; left out: 0.75. */
  readonly kept?: number | undefined;
  /** A row that was solved by all samples so often in a row is drawn no more; left out: never. */
  readonly retireAfter?: number | undefined;
  /** How many rows an arm of generated tasks has. */
  readonly count?: number | undefined;
  /** Samples that a rate of the pool's column is worth; 0: it counts for nothing; left out: 8. */
  readonly columnSamples?: number | undefined;
}

/** What is known of the rows of an arm. */
export interface ArmRows {
  readonly rows: readonly RowState[];
  /** Rows that are not retired, by their expected pass rates, in 33 equal steps from 0 to 1. */
  readonly histogram: readonly number[];
  readonly retired: number;
  /** Rows that the pool has no longer: each is `gone`, and its number means nothing. */
  readonly gone: number;
  /** The digest of the pool that numbers the rows; "": they are generated tasks. */
  readonly poolDigest: string;
}

/** The message for a choice of rows. */
export function rowsOf({ sharpness, target, ...rest }: RowChoice): RowCurriculum {
  if (sharpness !== undefined && target !== undefined) throw new TypeError("rows: give sharpness or target, not both");
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const by =
    target === undefined
      ? { case: "learnability" as const, value: sharpness === undefined ? {} : { sharpness } }
      : { case: "target" as const, value: { ...target } };
  return create(RowCurriculumSchema, { ...given, by });
}

/** Pages of an arm's rows as one. */
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
