/**
 * Stages of a run that follow each other, each with its own arms. The policies staged, replay and forgetting use these
 * functions.
 */
import { LIMITS } from "../../../proto/limits.ts";
import type { Json } from "../json.ts";
import { invalid, type Invalid, type RankRange } from "../types.ts";
import { type ArmWeights, checkArmWeights, sharesOf, weightIn } from "./arm-weights.ts";
import { type Fields, UnreadField } from "./fields.ts";
import { type Advance, type ArmRecord, type Part, positive, type RankUse } from "./policy.ts";
import { checkRankRange, readRanks, rowsWithin, writeRanks } from "./ranks.ts";

export const STAGES_MAX = LIMITS.StagedPolicy.stages.max;

/** Tolerance for rounding, so that three shares of 1/3 count as 1. */
export const ROUNDING = 1e-9;

/**
 * Length of a stage, as a share of the run (in a replay, of the cycle) or as a number of tasks. "open": the RPC Advance
 * ends the stage; in a replay, open stages share the rest of the cycle evenly.
 */
export type Extent =
  | { readonly kind: "share"; readonly share: number }
  | { readonly kind: "tasks"; readonly tasks: number }
  | { readonly kind: "open" };

export interface Stage {
  readonly extent: Extent;
  /**
   * Factors of the arms' weights in the stage, by arm id. Arms without a factor are not drawn. Empty: all arms have the
   * factor 1.
   */
  readonly weights: ArmWeights;
  /** Rank range of the rows that the stage draws. Undefined: all rows. */
  readonly ranks: RankRange | undefined;
}

/** Reads a number of tasks. Undefined: it is not given. */
export function readTasks<Name extends string>(fields: Fields<Name>, name: Name): number | undefined {
  const tasks = fields.count(name);
  if (tasks === undefined || (tasks >= 1 && tasks <= Number.MAX_SAFE_INTEGER)) return tasks;
  throw new UnreadField(fields.pathOf(name), `must be in [1, 2^53 - 1], not ${BigInt(tasks)}`);
}

function readExtent(fields: Fields<"share" | "tasks">): Extent {
  const share = fields.number("share");
  const tasks = readTasks(fields, "tasks");
  if (share !== undefined && tasks !== undefined)
    throw new UnreadField(fields.pathOf("tasks"), "must not be given together with share: remove one");
  if (share !== undefined) return { kind: "share", share };
  return tasks === undefined ? { kind: "open" } : { kind: "tasks", tasks };
}

export function readStages(of: Fields<"stages">): readonly Stage[] {
  return of
    .objects("stages", ["share", "tasks", "weights", "ranks"])
    .map((fields) => ({ extent: readExtent(fields), weights: fields.numbers("weights"), ranks: readRanks(fields) }));
}

export function writeStages(stages: readonly Stage[]): Json {
  return stages.map(({ extent, weights, ranks }) => ({
    ...(extent.kind === "share" && { share: extent.share }),
    ...(extent.kind === "tasks" && { tasks: extent.tasks }),
    weights,
    ...(ranks && { ranks: writeRanks(ranks) }),
  }));
}

/**
 * Checks stages, except whether their numbers of tasks fit together. `whole` is the number of tasks that the stages'
 * shares divide. If it is 0, the run has no length, and shares are refused.
 */
export function checkStages(stages: readonly Stage[], armIds: readonly string[], whole: number): Invalid | undefined {
  if (stages.length < 1 || stages.length > STAGES_MAX)
    return invalid("stages", `must have 1 to ${STAGES_MAX} entries; got ${stages.length}`);
  let shares = 0;
  for (const [i, { extent, weights, ranks }] of stages.entries()) {
    const field = `stages[${i}]`;
    const found =
      checkArmWeights(`${field}.weights`, weights, armIds, { zero: true }) ?? checkRankRange(`${field}.ranks`, ranks);
    if (found !== undefined) return found;
    if (extent.kind !== "share") continue;
    const wrong = checkShare(`${field}.share`, extent.share, shares, whole);
    if (wrong !== undefined) return wrong;
    shares += extent.share;
  }
  return undefined;
}

/** Checks a stage's share of `whole` tasks. `before` is the sum of the earlier stages' shares. */
export function checkShare(field: string, share: number, before: number, whole: number): Invalid | undefined {
  if (whole === 0) return invalid(field, "is a share of the run's length, which is 0: set the length, or give tasks");
  const wrong = positive(field, share, 1);
  if (wrong !== undefined) return wrong;
  const shares = before + share;
  return shares > 1 + ROUNDING
    ? invalid(field, `must not be above 1 together with the shares before it; got ${shares}`)
    : undefined;
}

/** Returns the stage's factor for an arm. The arm's weight in the run is multiplied by it. */
export function stageWeight({ weights }: Pick<Stage, "weights">, id: string): number {
  for (const _ in weights) return weightIn(weights, id);
  return 1;
}

/** Fields of a stage that decide which arms it draws. */
type Sharing = Pick<Stage, "weights"> & Partial<Pick<Stage, "ranks">>;

/**
 * Returns an arm's weight in a stage: the stage's factor times the number of the arm's rows in the stage's rank range.
 */
function drawnWeight(stage: Sharing, id: string): number {
  return stageWeight(stage, id) * rowsWithin(stage.ranks, id);
}

/** Returns the rank ranges of stages. Stages without a rank range are left out. */
export function rankedStages({ stages }: { readonly stages: readonly Stage[] }): readonly RankUse[] {
  return stages.flatMap((stage, i) =>
    stage.ranks === undefined
      ? []
      : [{ field: `stages[${i}].ranks`, range: stage.ranks, draws: (id) => stageWeight(stage, id) > 0 }],
  );
}

/**
 * Returns the configuration with its stages' rank ranges replaced by `ranges`. They are the same ranges in the same
 * order, but say how many rows each has.
 */
export function withCounted<Config extends { readonly stages: readonly Stage[] }>(
  config: Config,
  ranges: readonly RankRange[],
): Config {
  const counted = ranges.values();
  const stages = config.stages.map((stage) =>
    stage.ranks === undefined ? stage : { ...stage, ranks: counted.next().value },
  );
  return { ...config, stages };
}

/** Returns each arm's share of draws in a stage. If `stage` is undefined, all shares are 0. */
export function stageShares(stage: Sharing | undefined, arms: readonly ArmRecord[]): readonly number[] {
  return sharesOf((id) => (stage === undefined ? 0 : drawnWeight(stage, id)), arms);
}

/** Returns whether each arm is drawn in each stage. */
export function stagePhases(
  { stages }: { readonly stages: readonly Sharing[] },
  armIds: readonly string[],
): readonly (readonly boolean[])[] {
  return stages.map((stage) => armIds.map((id) => drawnWeight(stage, id) > 0));
}

/** Index of a stage, counted from 0, and the cursor (number of prompts drawn) at which the stage began. */
export interface Standing {
  readonly stage: number;
  readonly from: number;
}

/** Returns the stage at a cursor. `lasts` has the number of tasks of each stage; the last stage never ends. */
export function standingAt(lasts: readonly number[], standing: Standing, cursor: number): Standing {
  let { stage, from } = standing;
  for (; stage < lasts.length - 1; stage++) {
    const end = from + (lasts[stage] ?? Infinity);
    if (cursor < end) break;
    from = end;
  }
  return { stage, from };
}

/** Returns the parts of a run (stages or domains), where the last one lasts until the run's end. */
export function toTheEnd(parts: readonly Part[], length: number): readonly Part[] {
  const before = parts.slice(0, -1).reduce((sum, { tasks }) => sum + tasks, 0);
  const left = length === 0 || before === Infinity ? Infinity : Math.max(0, length - before);
  return parts.map((part, i) => (i === parts.length - 1 ? { ...part, tasks: left } : part));
}

/** Moves from stage `stage` to the next of `count` stages, beginning at `cursor`. It refuses in the last stage. */
export function nextPart(stage: number, count: number, what: string, cursor: number): Advance<Standing> {
  return stage < count - 1
    ? { kind: "advanced", state: { stage: stage + 1, from: cursor } }
    : { kind: "refused", message: `the policy is already in the last of its ${count} ${what}` };
}
