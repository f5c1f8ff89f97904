/** Converts runs, their state and their history to protobuf messages. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TaskKey } from "../../../envs/origin.ts";
import type { GroupView } from "../../curriculum/groups.ts";
import { policyToWire } from "./read-policy.ts";
import type { ListItem } from "../../runs/listing.ts";
import type { ListedView } from "../../runs/journal.ts";
import type { RunConfig } from "../../curriculum/types.ts";
import type { HistoryEntry } from "../../curriculum/history.ts";
import type { Lengths } from "../../curriculum/lengths.ts";
import { formatWarning } from "../../curriculum/malformed-samples.ts";
import { warningToWire } from "../write-outcome.ts";
import type { EvaluationView, RunShape, StateView } from "../../curriculum/run-view.ts";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import {
  type ArmState,
  ArmStateSchema,
  BatchRecordSchema,
  CloseCause,
  CompletionLengthsSchema,
  ControlRecordSchema,
  type EvaluationRecord,
  EvaluationRecordSchema,
  type HistoryRecord as WireRecord,
  HistoryRecordSchema,
  type Run,
  type RunGroup,
  RunGroupSchema,
  RunSchema,
  type RunShape as WireShape,
  RunShapeSchema,
  type RunState,
  RunStateSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { closeCauses } from "../enums.ts";
import { pairsOf } from "../../tasks/scoring/contrast-pairs.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { runGroupId } from "../../tasks/task-id.ts";
import { runConfigToWire } from "./read-run-config.ts";

export function listedToWire(item: ListItem): Run {
  if (item.kind === "run") return runToWire(item.view);
  return create(RunSchema, { runId: item.runId, unreadable: item.message });
}

export function runToWire(run: ListedView): Run {
  return create(RunSchema, {
    runId: run.runId,
    config: runConfigToWire(run.config),
    state: stateToWire(run.state),
    createTime: timestampFromMs(run.createdAtMs),
  });
}

export function stateToWire(state: StateView): RunState {
  const { runId, incarnation, epoch, groupsOutstanding, paused, pausedBy = "", pausedAtMs = 0, done } = state;
  const warning = formatWarning(state.malformed);
  return create(RunStateSchema, {
    ...(warning && { formatWarning: warningToWire(warning) }),
    runId,
    incarnation,
    epoch,
    groupsOutstanding,
    paused,
    pausedBy,
    ...(pausedAtMs > 0 && { pausedAt: timestampFromMs(pausedAtMs) }),
    done,
    version: BigInt(state.version),
    cursor: BigInt(state.cursor),
    firstOpenCursor: BigInt(state.firstOpenCursor),
    batchesDrawn: BigInt(state.batchesDrawn),
    batchesClosed: BigInt(state.batchesClosed),
    samplesRecorded: BigInt(state.samplesRecorded),
    policy: policyToWire(state.policy, state.shape.promptsPerUpdate),
    arms: state.arms.map(armToWire),
    evaluations: state.evaluations.map(evaluationToWire),
    shape: shapeToWire(state.shape),
    pools: [...(state.pools ?? [])],
    note: state.note ?? "",
    tags: [...(state.tags ?? [])],
  });
}

function shapeToWire({ numGenerations, promptsPerUpdate, length }: RunShape): WireShape {
  return create(RunShapeSchema, { numGenerations, promptsPerUpdate, length: BigInt(length) });
}

function evaluationToWire(view: EvaluationView): EvaluationRecord {
  const { armId, round, cursor, tasks, samples, withoutReward, rewardMean, solvedShare, closed } = view;
  return create(EvaluationRecordSchema, {
    armId,
    tasks,
    samples,
    closed,
    samplesWithoutReward: withoutReward,
    round: BigInt(round),
    cursor: BigInt(cursor),
    ...(rewardMean !== undefined && { rewardMean }),
    ...(solvedShare !== undefined && { solvedShare }),
  });
}

export function lengthsToWire({ lengths }: { readonly lengths?: Lengths | undefined }) {
  if (lengths === undefined) return undefined;
  const { tokens, tokenSamples, characters, characterSamples } = lengths;
  return {
    lengths: create(CompletionLengthsSchema, {
      tokens: BigInt(tokens),
      tokenSamples: BigInt(tokenSamples),
      characters: BigInt(characters),
      characterSamples: BigInt(characterSamples),
    }),
  };
}

function armToWire(arm: StateView["arms"][number]): ArmState {
  const { armId, probability, value, weight, recentRewardMean, recentSolvedShare, maskedReason, removed, growth } = arm;
  return create(ArmStateSchema, {
    armId,
    probability,
    value,
    weight,
    removed,
    issued: BigInt(arm.issued),
    groups: BigInt(arm.groups),
    repeats: BigInt(arm.repeats),
    ...lengthsToWire(arm),
    ...arm.practised,
    ...(recentRewardMean !== undefined && { recentRewardMean }),
    ...(recentSolvedShare !== undefined && { recentSolvedShare }),
    ...(maskedReason !== undefined && { maskedReason }),
    ...(growth && { growth: { ...growth, levels: growth.levels.map((level) => ({ ...level })) } }),
  });
}

function versionOf({ policyVersion }: { readonly policyVersion?: number }) {
  return policyVersion === undefined ? undefined : { policyVersion };
}

/** Converts a group of a run to its protobuf message. `shown` is the group's task, if the client requested tasks. */
export function groupToWire(
  runId: string,
  { task, closed, missing, samples, statistics, useful, selected, handedOutAtMs }: GroupView<TaskKey>,
  { arms }: RunConfig<TaskSpec>,
  pairsMax: number,
  shown: Task | undefined,
): RunGroup {
  const scans = samples.flatMap(({ index, result }) =>
    result.kind === "reward" && result.scan !== undefined ? [{ index, ...result.scan }] : [],
  );
  return create(RunGroupSchema, {
    groupId: runGroupId({ ...task, runId }),
    cursor: BigInt(task.cursor),
    updateBatch: BigInt(task.batch),
    armId: arms[task.arm]?.id ?? "",
    ...(shown && { task: shown }),
    closed,
    missing: [...missing],
    ...(handedOutAtMs !== null && { issueTime: timestampFromMs(handedOutAtMs) }),
    useful,
    selected,
    samples: samples.map(({ index, result, rloo, grpo }) => ({
      sampleIndex: index,
      ...(result.kind === "reward"
        ? { reward: result.reward, solved: result.solved, ...versionOf(result) }
        : { noReward: result.reason }),
      ...(rloo !== undefined && { rlooAdvantage: rloo }),
      ...(grpo !== undefined && { grpoAdvantage: grpo }),
    })),
    ...(statistics && { statistics }),
    contrastPairs: closed ? pairsOf(scans, pairsMax) : [],
  });
}

export function recordToWire(record: HistoryEntry): WireRecord {
  const { epoch, rolledBack } = record;
  const wire = create(HistoryRecordSchema, { epoch, time: timestampFromMs(record.atMs), rolledBack });
  if (record.kind === "batch") {
    const { batch, cursor, probabilities, values, counts, closed, rewardMean, solvedShare } = record;
    const { rewardSums = [], rewardCounts = [], solvedCounts = [], frontiers = [] } = record;
    const value = create(BatchRecordSchema, {
      batch: BigInt(batch),
      cursor: BigInt(cursor),
      probabilities: [...probabilities],
      values: [...values],
      counts: [...counts],
      rewardSums: [...rewardSums],
      rewardCounts: [...rewardCounts],
      solvedCounts: [...solvedCounts],
      frontiers: [...frontiers],
      closed,
      prompts: record.prompts,
      released: record.released,
      useful: record.useful,
      ...(rewardMean !== undefined && { rewardMean }),
      ...(solvedShare !== undefined && { solvedShare }),
      ...lengthsToWire(record),
    });
    wire.kind = { case: "batch", value };
  } else if (record.kind === "evaluation") {
    wire.kind = { case: "evaluation", value: evaluationToWire(record) };
  } else {
    const { control, cursor, policy, weights, shape, armId = "", reason, cause, by = "" } = record;
    const value = create(ControlRecordSchema, {
      kind: control,
      cursor: BigInt(cursor),
      armId,
      reason,
      closeCause: closeCauses.toWire[cause as keyof typeof closeCauses.toWire] ?? CloseCause.UNSPECIFIED,
      by,
      weights: { ...weights },
      ...(policy && { policy: policyToWire(policy, shape?.promptsPerUpdate) }),
      ...(shape && { shape: shapeToWire(shape) }),
    });
    wire.kind = { case: "control", value };
  }
  return wire;
}
