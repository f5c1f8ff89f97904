/** Checks the arms of a new run: each must give tasks, and none should train on data rows that an evaluation uses. */
import { nameRow } from "../../../envs/pool-finish.ts";
import { type Pool, rowCount } from "../../../envs/pool.ts";
import { overlapOf, type PoolPart } from "../../rows/overlap.ts";
import { LEVEL_SPAN, levelCount } from "../../curriculum/growth.ts";
import { type Arm, placeOf, type RunConfig } from "../../curriculum/types.ts";
import type { Requester } from "../../tasks/making/mounted-tasks.ts";
import type { Maker } from "../../tasks/making/make.ts";
import { specAt, type TaskSpec } from "../../tasks/spec.ts";
import type { MakeResult } from "../../tasks/task.ts";
import { RpcError } from "../../base/rpc.ts";
import { invalid, throwAll } from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";
import { makeError } from "../to-rpc-error.ts";

/** Number of seeds tried for an arm before the arm is refused. The first seed gives a task in nearly all arms. */
const TRIES = 3;

type TriedArm = Pick<Arm<TaskSpec>, "id" | "spec" | "source" | "grow">;

/**
 * Makes a task of each arm with generated tasks, all at once. An arm that grows is checked at its first and last level.
 * Arms that draw rows of a pool were checked when they were read.
 *
 * Throws if an arm gives no task, unless `optional` returns true for the arm. Returns the ids of such optional arms.
 */
export async function checkArms(
  { maker }: { readonly maker: Pick<Maker, "make"> },
  { arms, seed }: { readonly arms: readonly TriedArm[] } & Pick<RunConfig, "seed">,
  { caller, signal }: Requester,
  field = "config.arms",
  optional: (arm: TriedArm) => boolean = () => false,
): Promise<ReadonlySet<string>> {
  const requester = { caller, signal };
  const without = new Set<string>();
  const check = async (arm: TriedArm, i: number): Promise<void> => {
    const refusal = await checkArm(maker, arm, seed, requester, `${field}[${i}].spec`);
    if (refusal === undefined) return;
    if (!optional(arm)) throw refusal;
    without.add(arm.id);
  };
  const tried = await Promise.allSettled(arms.map(check));
  const failures = tried.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  const refusals = failures.filter((failure) => failure instanceof RpcError);
  if (refusals.length < failures.length) throw failures.find((failure) => !(failure instanceof RpcError));
  throwAll(refusals);
  return without;
}

/** Returns an error if the arm gives no tasks. */
async function checkArm(
  maker: Pick<Maker, "make">,
  arm: TriedArm,
  runSeed: bigint,
  requester: Requester,
  field: string,
): Promise<RpcError | undefined> {
  if (arm.spec.source !== "synthetic") return undefined;
  const last = arm.grow && levelCount(arm.grow) - 1;
  for (const level of new Set([arm.grow && 0, last]))
    for (let tried = 0; tried < TRIES; tried++) {
      const ordinal = tried + (level ?? 0) * LEVEL_SPAN;
      const spec = specAt(arm.spec, level);
      const [result] = await maker.make(spec, [placeOf(arm, ordinal, runSeed).seed], requester);
      if (result === undefined) throw new Error("bug: no result was returned for a seed");
      if (result.kind === "made") break;
      if (result.kind !== "exhausted") throw makeError(result);
      if (tried === TRIES - 1)
        return barren(result, level === last && level ? field.replace(/spec$/, "grow.cap") : field);
    }
  return undefined;
}

/**
 * Returns a warning for each arm that grows from axis values with fewer than 1,000 instances, because the run soon
 * repeats them.
 */
export function growthWarnings(
  { registry }: Pick<ServiceDeps, "registry">,
  arms: readonly TriedArm[],
): readonly string[] {
  return arms.flatMap(({ id, spec, grow }) => {
    const found = registry.find(spec.environment, spec.version);
    if (grow === undefined || found.kind !== "found") return [];
    const { generator, asked } = found.environment;
    const { smallThrough = 0 } = (generator ?? asked)?.axes?.find(({ name }) => name === grow.axis) ?? {};
    if (smallThrough < grow.start) return [];
    const remedy = `the run repeats them; start at ${smallThrough + 1} to avoid this`;
    return [`arm '${id}': ${grow.axis} ${grow.start} to ${smallThrough} have fewer than 1,000 tasks each: ${remedy}`];
  });
}

function barren({ message }: Extract<MakeResult, { kind: "exhausted" }>, field: string) {
  return invalid(field, `none of ${TRIES} seeds gave a task: ${message}`);
}

// The next functions find rows that an arm shares with an evaluation or with another arm.

interface DrawnArm {
  readonly id: string;
  readonly spec: TaskSpec;
}

type Pools = ReadonlyMap<string, Pool>;

/** Rows that an evaluation uses. */
interface Evaluated {
  /** Phrase that names the evaluation, e.g. "evaluation arm 'held'". */
  readonly by: string;
  readonly part: PoolPart;
}

function partOf(pools: Pools, { source, pool: name, level, split }: TaskSpec): PoolPart | undefined {
  const pool = source === "real" ? pools.get(name) : undefined;
  return pool && { pool, level, split };
}

/**
 * Returns the rows that evaluation arms and suites use. Suites of the train split are left out, because a run may train
 * on them.
 */
function evaluatedBy({ pools, evaluations }: RowDeps, evaluationArms: readonly DrawnArm[]): readonly Evaluated[] {
  const named = [
    ...evaluationArms.map(({ id, spec }) => ({ by: `evaluation arm '${id}'`, spec })),
    ...evaluations
      .suites()
      .flatMap(({ definition: { id, version }, parts }) =>
        parts.map(({ name, spec }) => ({ by: `part '${name}' of suite '${id}' version ${version}`, spec })),
      ),
  ];
  return named.flatMap(({ by, spec }) => {
    const part = spec.split === "train" && !by.startsWith("evaluation arm") ? undefined : partOf(pools, spec);
    return part === undefined ? [] : [{ by, part }];
  });
}

type RowDeps = Pick<ServiceDeps, "pools" | "evaluations">;

/** The arms that a run trains on, and the arms that it is evaluated on. */
export interface TrainingRows {
  readonly arms: readonly DrawnArm[];
  readonly evaluationArms: readonly DrawnArm[];
}

/** Problem with the rows that a training arm draws, e.g. an evaluation uses some of them. */
interface RowProblem {
  readonly arm: number;
  readonly message: string;
}

async function trainedOnEvaluated(
  deps: RowDeps,
  { arms, evaluationArms }: TrainingRows,
): Promise<readonly RowProblem[]> {
  const problems: RowProblem[] = [];
  const evaluated = evaluatedBy(deps, evaluationArms);
  for (const [arm, { spec }] of arms.entries()) {
    const own = partOf(deps.pools, spec);
    if (own === undefined) continue;
    for (const { by, part } of evaluated) {
      const { rows, of, first } = await overlapOf(own, part);
      if (rows === 0) continue;
      const example = first && ` (${placed(own.pool, first[0])} is ${placed(part.pool, first[1])})`;
      problems.push({ arm, message: `${rows} of its ${of} rows are evaluated by ${by}${example ?? ""}` });
    }
  }
  return problems;
}

const placed = ({ name, lines }: Pool, row: number): string => `${nameRow(lines, row)} of pool '${name}'`;

/** Throws an error if a run would train on rows that an evaluation uses. */
export async function checkEvaluatedRows(deps: RowDeps, rows: TrainingRows, field: string): Promise<void> {
  const problems = await trainedOnEvaluated(deps, rows);
  const remedy = "leave them out (--pool name=FILE@train[…]), or set train_on_evaluated";
  throwAll(problems.map(({ arm, message }) => invalid(`${field}[${arm}].spec`, `${message}: ${remedy}`)));
}

/**
 * Returns warnings about a run's rows: rows that an evaluation also uses, problems that two arms draw from different
 * pools, and shipped rows that an arm draws although the server has others.
 */
export async function rowWarnings(deps: RowDeps, rows: TrainingRows): Promise<readonly string[]> {
  const trained = (await trainedOnEvaluated(deps, rows)).map(
    ({ arm, message }) => `arm '${rows.arms[arm]?.id}': ${message}`,
  );
  const twice: string[] = [];
  const parts = rows.arms.flatMap(({ id, spec }) => {
    const part = partOf(deps.pools, spec);
    return part === undefined ? [] : [{ id, part }];
  });
  for (const [i, one] of parts.entries())
    for (const other of parts.slice(i + 1)) {
      if (one.part.pool === other.part.pool) continue;
      const { rows: shared, of, contradicting } = await overlapOf(one.part, other.part);
      const apart = contradicting === 0 ? "" : `, ${contradicting} of them with another answer`;
      if (shared > 0)
        twice.push(`arms '${one.id}' and '${other.id}' share ${shared} of the ${of} problems of the first arm${apart}`);
    }
  return [...trained, ...twice, ...shippedWarnings(deps, [...rows.arms, ...rows.evaluationArms])];
}

/**
 * Returns warnings for arms that draw the few rows shipped with an environment, although the operator gave the server
 * another pool of that environment with suitable rows.
 */
function shippedWarnings({ pools }: RowDeps, arms: readonly DrawnArm[]): readonly string[] {
  return arms.flatMap(({ id, spec }) => {
    const { pool: own, level, split } = partOf(pools, spec) ?? {};
    if (own === undefined || own.definition.rows?.defaultPool?.name !== own.name) return [];
    const others = [...pools.values()].filter(
      (pool) => pool !== own && pool.definition === own.definition && rowCount(pool, spec.level, spec.split) > 0,
    );
    if (others.length === 0) return [];
    const names = others.map(({ name }) => `'${name}'`).join(", ");
    const what = `arm '${id}' draws the rows of ${own.definition.id} that ship with Gradus, and this server has pool ${names}`;
    return [`${what} with rows of level ${level} in split ${split}: set its pool (--pool ${own.definition.id}=NAME)`];
  });
}
