/** Parts of a run that come one after the other, each with arms of its own: what staged, replay and forgetting share. */
import { create } from "@bufbuild/protobuf";
import { type Stage as Message, StageSchema } from "../../gen/gradus/v1/curriculum_pb.js";
import { invalid, type Invalid, isInvalid, type RankRange } from "../core/types.ts";
import { type ArmWeights, checkArmWeights, sharesOf, weightIn } from "./arm-weights.ts";
import { type Advance, type ArmRecord, positive, type RankUse } from "./policy.ts";
import { checkRankRange, rankRangeFromWire, rankRangeToWire } from "./ranks.ts";

const STAGES_MAX = 64;

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
  /** Of the rows of real pools; undefined: all. */
  readonly ranks: RankRange | undefined;
}

/** A number of tasks in a message. */
export function tasksFromWire(field: string, tasks: bigint): number | Invalid {
  if (tasks >= 1n && tasks <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(tasks);
  return invalid(field, `must be in [1, 2^53 - 1], not ${tasks}`);
}

function extentOf({ extent }: Message, field: string): Extent | Invalid {
  if (extent.case === undefined) return { kind: "open" };
  if (extent.case === "share") return { kind: "share", share: extent.value };
  const tasks = tasksFromWire(`${field}.tasks`, extent.value);
  return isInvalid(tasks) ? tasks : { kind: "tasks", tasks };
}

export function stagesFromWire(messages: readonly Message[]): readonly Stage[] | Invalid {
  const stages: Stage[] = [];
  for (const [i, message] of messages.entries()) {
    const extent = extentOf(message, `stages[${i}]`);
    if (isInvalid(extent)) return extent;
    const weights = Object.fromEntries(Object.entries(message.weights));
    stages.push({ extent, weights, ranks: rankRangeFromWire(message.ranks) });
  }
  return stages;
}

function stageToWire({ extent, weights, ranks }: Stage): Message {
  const extentToWire = (): Message["extent"] => {
    if (extent.kind === "open") return { case: undefined };
    if (extent.kind === "share") return { case: "share", value: extent.share };
    return { case: "tasks", value: BigInt(extent.tasks) };
  };
  const message = create(StageSchema, { extent: extentToWire(), weights: { ...weights } });
  const range = rankRangeToWire(ranks);
  if (range !== undefined) message.ranks = range;
  return message;
}

export function stagesToWire(stages: readonly Stage[]): Message[] {
  return stages.map(stageToWire);
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

/** Stages that draw in a range of ranks. */
export function rankedStages({ stages }: { readonly stages: readonly Stage[] }): readonly RankUse[] {
  return stages.flatMap((stage, i) =>
    stage.ranks === undefined ? [] : [{ field: `stages[${i}].ranks`, draws: (id) => stageWeight(stage, id) > 0 }],
  );
}

/** Each arm's share in a stage; undefined, there being none: 0. */
export function stageShares(stage: Pick<Stage, "weights"> | undefined, arms: readonly ArmRecord[]): readonly number[] {
  return sharesOf((id) => (stage === undefined ? 0 : stageWeight(stage, id)), arms);
}

/** Whether each arm is drawn in each stage. */
export function stagePhases(
  { stages }: { readonly stages: readonly Pick<Stage, "weights">[] },
  armIds: readonly string[],
): readonly (readonly boolean[])[] {
  return stages.map((stage) => armIds.map((id) => stageWeight(stage, id) > 0));
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

/** The next of `count` parts, from a cursor on; in the last there is nothing to move on to. */
export function nextPart(stage: number, count: number, what: string, cursor: number): Advance<Standing> {
  return stage < count - 1
    ? { kind: "advanced", state: { stage: stage + 1, from: cursor } }
    : { kind: "refused", message: `the policy is in the last of its ${what}, ${count} of ${count}` };
}
