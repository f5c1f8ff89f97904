/**
 * Checks the ranges of ranks (e.g. the easier half of the rows) that a run's policy uses, and counts the rows in each
 * range.
 */
import type { Pool } from "../../../envs/pool.ts";
import type { RankUse } from "../../curriculum/policies/policy.ts";
import { FILTER_RANKS, rankUsesOf, withRankRanges } from "../../curriculum/policies/registry.ts";
import type { Arm, Policy, RankRange } from "../../curriculum/types.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { RpcError } from "../../base/rpc.ts";
import { invalid, throwAll } from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";

type RankedArm = Pick<Arm<TaskSpec>, "id" | "spec" | "removed" | "rankGroup">;
type RankDeps = Pick<ServiceDeps, "pools" | "ranks">;

/** An arm that draws pool rows within a range of ranks, with its pool. */
interface RowArm {
  readonly arm: RankedArm;
  readonly pool: Pool;
}

/**
 * Returns the policy with two facts added to each range of ranks: the measure that ranks the rows, and each arm's
 * number of rows in the range. Refuses a range over rows without ranks, because it would silently draw all rows.
 */
export function countRanks(deps: RankDeps, policy: Policy, arms: readonly RankedArm[], prefix = ""): Policy {
  const staying = arms.filter(({ removed }) => !removed);
  const problems: RpcError[] = [];
  const ranges = rankUsesOf(policy).map((use): RankRange => {
    const [rows, wrong] = rowArmsOf(deps, use, staying);
    const field = prefix + use.field;
    problems.push(...wrong.map((message) => invalid(field, message)));
    const counted = Object.fromEntries(
      rows.map(({ arm }) => [arm.id, deps.ranks.of(arm, staying)?.within(use.range) ?? 0]),
    );
    if (wrong.length === 0 && Object.values(counted).every((count) => count === 0))
      problems.push(invalid(field, "no row of its arms has a rank in the range: widen it"));
    const by = rows[0]?.pool.ranking.measure;
    return { ...use.range, ...(by !== undefined && { by }), rows: counted };
  });
  throwAll(problems);
  return ranges.length === 0 ? policy : withRankRanges(policy, ranges);
}

/**
 * Returns the arms that draw pool rows in a range of ranks, and error messages for arms of the range whose rows have no
 * ranks.
 */
function rowArmsOf(
  { pools }: RankDeps,
  { field, draws, range }: RankUse,
  arms: readonly RankedArm[],
): readonly [readonly RowArm[], readonly string[]] {
  const drawn = arms.filter(({ id }) => draws(id));
  const rows = drawn.flatMap((arm) => {
    const pool = arm.spec.source === "real" ? pools.get(arm.spec.pool) : undefined;
    return pool === undefined ? [] : [{ arm, pool }];
  });
  if (rows.length === 0)
    return [rows, ["none of its arms draws rows of a pool, and only rows of pools have ranks: remove the range"]];
  const isFilter = field === FILTER_RANKS;
  const generated = drawn.filter(({ id }) => !isFilter && !rows.some(({ arm }) => arm.id === id));
  return [rows, [...generated.map(ungraded), ...rows.flatMap((each) => problemOf(each, rows, range))]];
}

function ungraded({ id }: RankedArm): string {
  return `arm '${id}' draws no rows of a pool, and only rows of pools have ranks: remove the arm from the stage's weights, or remove the range`;
}

/**
 * Returns error messages if the range cannot apply to an arm, else []. The second parameter has all arms of the range;
 * all must rank rows by the same measure as the first.
 */
function problemOf({ arm, pool }: RowArm, [first]: readonly RowArm[], { by }: RankRange): readonly string[] {
  const { source, reason, measure } = pool.ranking;
  const draws = `arm '${arm.id}' draws from pool '${pool.name}'`;
  if (source === undefined) {
    const remedy = "give the pool a column pass_rate or difficulty (--column pass_rate=NAME), or take the range away";
    return [`${draws}, whose rows have no ranks, for ${reason}: ${remedy}`];
  }
  if (by !== undefined && by !== measure) return [`${draws}, which is ranked by '${measure}', and not by '${by}'`];
  if (first === undefined || first.pool.ranking.source === undefined || first.pool.ranking.source === source) return [];
  const others = `'${measure}', and arm '${first.arm.id}' before it by '${first.pool.ranking.measure}'`;
  return [
    `${draws}, which is ranked by ${others}: rows have one order only if they have one measure, so put these arms into separate stages`,
  ];
}
