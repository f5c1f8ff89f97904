/** Parts of a run that come one after the other, each with arms of its own: what staged, replay and forgetting share. */
import type { Json } from "../json.ts";
import { invalid, type Invalid, type RankRange } from "../types.ts";
import { type ArmWeights, checkArmWeights, sharesOf, weightIn } from "./arm-weights.ts";
import { type Fields, UnreadField } from "./fields.ts";
import { type Advance, type ArmRecord, type Part, positive, type RankUse } from "./policy.ts";
import { checkRankRange, readRanks, rowsWithin, writeRanks } from "./ranks.ts";

export const STAGES_MAX = 64;

/** Shares such as a third three times are 1 together, whatever rounding says. */
export const ROUNDING = 1e-9;

/** How long a stage lasts; "open": for as long as nothing ends it. */
export type Extent =
  | { readonly kind: "share"; readonly share: number }
  | { readonly kind: "tasks"; readonly tasks: number }
  | { readonly kind: "open" };

export interface Stage {
  readonly extent: Extent;
  /** Empty: all arms. */
  readonly weights: ArmWeights;
  /** Of the run's rows; undefined: all. */
  readonly ranks: RankRange | undefined;
}

/** A number of tasks, where it is given. */
export function readTasks<Name extends string>(fields: Fields<Name>, name: Name): number | undefined {
  const tasks = fields.count(name);
  if (tasks === undefined || (tasks >= 1 && tasks <= Number.MAX_SAFE_INTEGER)) return tasks;
  throw new UnreadField(fields.pathOf(name), `must be in [1, 2^53 - 1], not ${BigInt(tasks)}`);
}

function readExtent(fields: Fields<"share" | "tasks">): Extent {
  const share = fields.number("share");
  const tasks = readTasks(fields, "tasks");
  if (share !== undefined && tasks !== undefined)
    throw new UnreadField(fields.pathOf("tasks"), "share is given too: give one of them");
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

/** All of stages but how long they last together. `whole`: what shares are of, in tasks; 0: there is no such thing. */
export function checkStages(stages: readonly Stage[], armIds: readonly string[], whole: number): Invalid | undefined {
  if (stages.length < 1 || stages.length > STAGES_MAX)
    return invalid("stages", `there are ${stages.length}, and there must be 1 to ${STAGES_MAX}`);
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

/** A share of a run's length after those that have `before` of it together. */
export function checkShare(field: string, share: number, before: number, whole: number): Invalid | undefined {
  if (whole === 0) return invalid(field, "is of the run's length, which is 0: set it, or give tasks");
  const wrong = positive(field, share, 1);
  if (wrong !== undefined) return wrong;
  const shares = before + share;
  return shares > 1 + ROUNDING ? invalid(field, `makes ${shares} with those before, which is above 1`) : undefined;
}

/** What a stage adds to an arm's own weight. */
export function stageWeight({ weights }: Pick<Stage, "weights">, id: string): number {
  for (const _ in weights) return weightIn(weights, id);
  return 1;
}

/** What of a stage says which arms it draws. */
type Sharing = Pick<Stage, "weights"> & Partial<Pick<Stage, "ranks">>;

/** The same by the rows that an arm has in the stage's range of ranks. */
function drawnWeight(stage: Sharing, id: string): number {
  return stageWeight(stage, id) * rowsWithin(stage.ranks, id);
}

/** Stages that draw in a range of ranks. */
export function rankedStages({ stages }: { readonly stages: readonly Stage[] }): readonly RankUse[] {
  return stages.flatMap((stage, i) =>
    stage.ranks === undefined
      ? []
      : [{ field: `stages[${i}].ranks`, range: stage.ranks, draws: (id) => stageWeight(stage, id) > 0 }],
  );
}

/** The configuration with the ranges of its stages, in their order, as they were counted. */
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

/** Each arm's share in a stage; undefined, there being none: 0. */
export function stageShares(stage: Sharing | undefined, arms: readonly ArmRecord[]): readonly number[] {
  return sharesOf((id) => (stage === undefined ? 0 : drawnWeight(stage, id)), arms);
}

/** Whether each arm is drawn in each stage. */
export function stagePhases(
  { stages }: { readonly stages: readonly Sharing[] },
  armIds: readonly string[],
): readonly (readonly boolean[])[] {
  return stages.map((stage) => armIds.map((id) => drawnWeight(stage, id) > 0));
}

/** A stage, counted from 0, and the cursor where it began. */
export interface Standing {
  readonly stage: number;
  readonly from: number;
}

/** The stage that a cursor lies in, of stages that last so many tasks each; the last one has no end. */
export function standingAt(lasts: readonly number[], standing: Standing, cursor: number): Standing {
  let { stage, from } = standing;
  for (; stage < lasts.length - 1; stage++) {
    const end = from + (lasts[stage] ?? Infinity);
    if (cursor < end) break;
    from = end;
  }
  return { stage, from };
}

/** How long parts last of which the last one goes on to the run's end, whatever it says itself. */
export function toTheEnd(parts: readonly Part[], length: number): readonly Part[] {
  const before = parts.slice(0, -1).reduce((sum, { tasks }) => sum + tasks, 0);
  const left = length === 0 || before === Infinity ? Infinity : Math.max(0, length - before);
  return parts.map((part, i) => (i === parts.length - 1 ? { ...part, tasks: left } : part));
}

/** The next of `count` parts, from a cursor on; in the last there is nothing to move on to. */
export function nextPart(stage: number, count: number, what: string, cursor: number): Advance<Standing> {
  return stage < count - 1
    ? { kind: "advanced", state: { stage: stage + 1, from: cursor } }
    : { kind: "refused", message: `the policy is in the last of its ${what}, ${count} of ${count}` };
}
