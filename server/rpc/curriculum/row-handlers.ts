/**
 * Handles curricula over rows, i.e. rules by which an arm chooses its next data rows. Reads these rules, translates row
 * numbers, and serves RateRows and ListRows.
 */
import { create } from "@bufbuild/protobuf";
import { LIMITS } from "../../../proto/limits.ts";
import { isRate } from "../../../envs/pool-ranks.ts";
import { placeOfHash, placesOf, type Pool, rowCount, rowPlace } from "../../../envs/pool.ts";
import type { RowReport } from "../../curriculum/row-report.ts";
import { hashAt, listOf, placesIn, type RowList } from "../../curriculum/row-lists.ts";
import { type Ratings, ratedEvent, type RowsRated } from "../../curriculum/row-arms.ts";
import type { Arm, RowRule } from "../../curriculum/types.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { TaskSpec } from "../../tasks/spec.ts";
import { poolDigest } from "../../rows/digest.ts";
import { RpcError, type ServiceHandlers } from "../../base/rpc.ts";
import { checkRange, invalid, pageToken, readPage, readRunId } from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";
import { okOrThrow } from "../to-rpc-error.ts";

const ROWS_PER_CALL = LIMITS.RateRowsRequest.rows.max;

type Pools = Pick<ServiceDeps, "pools">;
type RowArm = Pick<Arm<TaskSpec>, "id" | "spec" | "source">;

function poolOf({ pools }: Pools, { spec, source }: Pick<RowArm, "spec" | "source">): Pool | undefined {
  return source === "real" ? pools.get(spec.pool) : undefined;
}

/** Reads the rule by which an arm chooses its next rows. `spec` is the arm's task specification. */
export function rowRuleFromWire(
  { by, floor = 0.05, kept = 0.75, retireAfter, count }: wire.RowCurriculum,
  spec: TaskSpec,
  deps: Pools,
  field: string,
): RowRule {
  if (spec.source === "teacher")
    throw invalid(field, "a teacher's tasks are not a fixed set: use real or synthetic ones, or leave rows out");
  const pool = poolOf(deps, { spec, source: spec.source });
  if (pool !== undefined && count > 0)
    throw invalid(`${field}.count`, `must be unset, because the rows are those of the pool; got ${count}`);
  if (pool === undefined && count === 0)
    throw invalid(`${field}.count`, "must be set for generated tasks: the number of tasks that are the arm's rows");
  const choice: RowRule["by"] =
    by.case === "target"
      ? {
          kind: "target",
          from: by.value.start ?? 0.5,
          to: by.value.end ?? by.value.start ?? 0.5,
          width: by.value.width ?? 0.15,
        }
      : { kind: "learnability", sharpness: by.value?.sharpness ?? LIMITS.RowLearnability.sharpness.default };
  return {
    rows: pool === undefined ? count : rowCount(pool, spec.level, spec.split),
    by: choice,
    floor,
    kept: Math.round(256 * kept),
    retireAfter: checkRange(retireAfter, 0, LIMITS.RowCurriculum.retire_after.max, `${field}.retire_after`),
  };
}

/** Returns the initial pass rates of arms' rows, taken from the pass_rate column of their pools. */
export function begunRatings(
  deps: Pools,
  { arms, from }: { readonly arms: readonly Arm<TaskSpec>[]; readonly from: number },
  given: readonly wire.Arm[],
  field: string,
): readonly RowsRated[] {
  return arms.flatMap((arm, i) => {
    // Arms are found by id, because their indices changed when families (e.g. "np/*") were replaced by their arms.
    const { columnSamples } = given.find(({ id }) => id === arm.id)?.rows ?? {};
    const pool = poolOf(deps, arm);
    if (arm.rows === undefined || columnSamples === 0) return [];
    const name = `${field}[${i}].rows.column_samples`;
    if (pool === undefined || !isRate(pool.ranking.measure)) {
      if (columnSamples === undefined) return [];
      throw invalid(name, "the arm has no column of pass rates: set 0, or give its pool one (--column pass_rate=NAME)");
    }
    const samples = checkSamples(columnSamples, name);
    const places = placesOf(pool, arm.spec.level, arm.spec.split);
    const rates = Float64Array.from(places, (place) => 1 - pool.columns.difficulties[place]!);
    return chunksOf(rates).map(([first, some]) => ratedEvent({ arm: from + i, rows: [], first, rates: some, samples }));
  });
}

function chunksOf(rates: Float64Array): readonly (readonly [first: number, rates: Float64Array])[] {
  return Array.from({ length: Math.ceil(rates.length / ROWS_PER_CALL) }, (_, i) => {
    const first = i * ROWS_PER_CALL;
    return [first, rates.subarray(first, first + ROWS_PER_CALL)];
  });
}

function checkSamples(samples: number | undefined, field: string): number {
  const { max, default: byDefault } = LIMITS.RowCurriculum.column_samples;
  if (samples === undefined) return byDefault;
  if (samples > 0 && samples <= max) return samples;
  throw invalid(field, `must be above 0 and at most ${max}, not ${samples}`);
}

/**
 * Row numbers of an arm as clients see them. For pool rows this is the line number in the file; generated tasks count
 * from 0.
 */
interface Numbering {
  /** Returns the row number of the arm's n-th row, counted from 0. */
  readonly of: (n: number) => number;
  /** Returns the index of the row with this number. −1: the arm has no such row. */
  readonly find: (number: number) => number;
  /** Digest of the pool. Empty: the tasks are generated. */
  readonly digest: string;
}

/** Returns the row numbers of an arm. `list` is the run's own list of the arm's rows. */
function numberingOf(deps: Pools, arm: Arm<TaskSpec>, list: RowList | undefined): Numbering {
  const pool = poolOf(deps, arm);
  const size = arm.rows?.rows ?? 0;
  if (pool === undefined || list === undefined)
    return { of: (n) => n, find: (number) => (number < size ? number : -1), digest: "" };
  const of = (n: number): number => pool.columns.rows[placeOfHash(pool, hashAt(list, n))] ?? 0;
  return { of, find: (number) => listedAt(pool, list)[rowPlace(pool, number)] ?? -1, digest: poolDigest(pool) };
}

const listed = new WeakMap<RowList, Int32Array>();

/** Returns the index in a run's list for each row of the pool. −1: the list does not contain the row. */
function listedAt(pool: Pool, list: RowList): Int32Array {
  const known = listed.get(list);
  if (known !== undefined) return known;
  const places = new Int32Array(pool.size).fill(-1);
  for (let n = 0; n < placesIn(list); n++) if (!list.gone.has(n)) places[placeOfHash(pool, hashAt(list, n))] = n;
  listed.set(list, places);
  return places;
}

/** Throws if the client's row numbers are those of another version of the pool than the server has. */
function checkDigest(
  given: string,
  digest: string,
  { pool, firstDigest }: Pick<RowList, "pool" | "firstDigest">,
): void {
  if (given === digest || (given === "" && digest === firstDigest)) return;
  const rates =
    given === "" ? "do not name the pool whose rows they are for" : `are of pool "${pool}" with the digest ${given}`;
  const remedy =
    "rate the rows of the file as it is now (gradus pools profile), and give the digest that comes with the rates";
  throw new RpcError(
    "FAILED_PRECONDITION",
    `pool_digest: the rates ${rates}, and pool "${pool}" has the digest ${digest} now: ${remedy}`,
    { field: "pool_digest" },
  );
}

type Handlers = Pick<ServiceHandlers<typeof wire.CurriculumService>, "rateRows" | "listRows">;

export function rowHandlers(deps: ServiceDeps): Handlers {
  const { runs } = deps;
  const armIn = async (request: { readonly runId: string; readonly armId: string }) => {
    const runId = readRunId(request);
    const { configNow: config } = okOrThrow(await runs.get(runId));
    const index = config.arms.findIndex(({ id }) => id === request.armId);
    const arm = config.arms[index];
    if (arm === undefined) throw invalid("arm_id", `'${request.armId}' is not an arm of the run`);
    if (arm.rows === undefined) throw invalid("arm_id", `'${arm.id}' has no curriculum over its rows (Arm.rows)`);
    const list = listOf(okOrThrow(await runs.lists(runId)), arm.id);
    return { runId, index, list, numbering: numberingOf(deps, arm, list), arm };
  };
  return {
    async rateRows(request, { caller }) {
      const samples = checkSamples(request.samples, "samples");
      const { runId, index, list, numbering, arm } = await armIn(request);
      if (list !== undefined) checkDigest(request.poolDigest, numbering.digest, list);
      const ratings = { arm: index, first: 0, samples, ...ratingsOf(request.rows, numbering, arm.id) };
      const applied = okOrThrow(await runs.rateRows(runId, ratings, caller, request.validateOnly));
      return create(wire.RateRowsResponseSchema, { appliesFromCursor: BigInt(applied.appliesFromCursor) });
    },
    async listRows(request) {
      const { size, after = "0" } = readPage(request, LIMITS.ListRowsRequest.page_size);
      const from = Number(after);
      if (!Number.isSafeInteger(from) || from < 0)
        throw invalid("page_token", "this server did not issue it: give back next_page_token unchanged");
      const { runId, index, numbering } = await armIn(request);
      const report = okOrThrow(await runs.rows(runId, index, from, size));
      return reportToWire(report, numbering, from);
    },
  };
}

function ratingsOf(
  rows: readonly wire.RowRating[],
  numbering: Numbering,
  armId: string,
): Pick<Ratings, "rows" | "rates"> {
  const seen = new Set<number>();
  const places = rows.map(({ row, passRate }, i) => {
    const place = numbering.find(row);
    if (place < 0) throw invalid(`rows[${i}].row`, `${row} is no row of arm '${armId}'`);
    if (seen.has(place)) throw invalid(`rows[${i}].row`, `${row} is listed twice: give each row once`);
    seen.add(place);
    if (!(passRate >= 0 && passRate <= 1)) throw invalid(`rows[${i}].pass_rate`, `must be in [0, 1], not ${passRate}`);
    return place;
  });
  return { rows: places, rates: rows.map(({ passRate }) => passRate) };
}

function reportToWire(
  { rows, total, histogram, retired, gone }: RowReport,
  numbering: Numbering,
  from: number,
): wire.ListRowsResponse {
  const next = from + rows.length;
  return create(wire.ListRowsResponseSchema, {
    rows: rows.map(({ rate, streak, ...row }, i) => ({
      row: row.gone ? 0 : numbering.of(from + i),
      passRate: rate,
      samples: row.samples,
      solvedStreak: streak,
      retired: row.retired,
      gone: row.gone,
    })),
    nextPageToken: pageToken(next < total ? next : undefined),
    histogram: [...histogram],
    retired,
    gone,
    poolDigest: numbering.digest,
  });
}
