/** Handlers of CurriculumService. Each reads a request, calls the run's code and writes the response. */
import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "../../../proto/limits.ts";
import type { FeedbackStatus } from "../../curriculum/feedback.ts";
import type { GroupSelection } from "../../curriculum/groups.ts";
import type { AppliesFrom } from "../../runs/runs.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { open, seal } from "../../tasks/keyring.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import { feedbackToWire } from "../write-outcome.ts";
import { type CallContext, RpcError, type ServiceHandlers, shuttingDown } from "../../base/rpc.ts";
import { findServedArms } from "./expand-families.ts";
import { checkingHandlers } from "./check-run.ts";
import { comparingHandlers } from "./compare-policy.ts";
import { checkEvaluatedRows, checkArms } from "./check-arms.ts";
import { countRanks } from "./rank-ranges.ts";
import { begunRatings, rowHandlers } from "./row-handlers.ts";
import {
  checkBytes,
  checkCount,
  checkId,
  checkRange,
  invalid,
  pageToken,
  readPage,
  readPlace,
  toCount,
  withLimits,
  readGroupId,
  readRunId,
  requesterOf,
} from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";
import { historiesOf } from "./read-history.ts";
import { keptSampleHandlers } from "./run-samples.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { evaluationToWire, issuedToWire } from "./write-tasks.ts";
import { grownArms } from "./read-growth.ts";
import { addedArms, runConfigToWire } from "./read-run-config.ts";
import { policyFromWire } from "./read-policy.ts";
import { groupToWire, listedToWire, runToWire, stateToWire } from "./write.ts";
import { createRun } from "./create-run.ts";
import { violationHandlers } from "./violations.ts";

const ARM_ID = LIMITS.Arm.id;
const ARMS = LIMITS.RunConfig.arms;
/** Maximum bytes of a tag, i.e. a word with which people describe a run. */
const TAG_BYTES_MAX = 32;

export function createCurriculumService(deps: ServiceDeps): ServiceHandlers<typeof wire.CurriculumService> {
  return withLimits(wire.CurriculumService, {
    ...runHandlers(deps),
    ...feedbackHandlers(deps),
    ...controlHandlers(deps),
    ...stateHandlers(deps),
    ...rowHandlers(deps),
    ...checkingHandlers(deps),
    ...comparingHandlers(deps),
    ...keptSampleHandlers(deps),
    ...violationHandlers(deps),
  });
}

type Handlers = ServiceHandlers<typeof wire.CurriculumService>;

function runHandlers(deps: ServiceDeps): Handlers {
  const { runs } = deps;
  return {
    createRun: (request, context) => createRun(deps, request, context),
    async getRun(request) {
      const run = okOrThrow(await runs.get(readRunId(request)));
      return create(wire.GetRunResponseSchema, { run: runToWire(run) });
    },
    async listRuns(request) {
      const { size, after } = readPage(request, LIMITS.ListRunsRequest.page_size);
      const { items, next } = await runs.list(after ?? "", size);
      const listed = await mapInSlices(items, listedToWire);
      return create(wire.ListRunsResponseSchema, { runs: listed, nextPageToken: pageToken(next) });
    },
    async deleteRun(request, { caller }) {
      okOrThrow(await runs.remove(readRunId(request), caller));
      return create(wire.DeleteRunResponseSchema);
    },
    async nextBatch(request, { signal }) {
      const runId = readRunId(request);
      const { count } = request;
      const cursor = request.cursor === undefined ? undefined : toCount(request.cursor, "cursor");
      const waitMs = request.wait === undefined ? LIMITS.NextBatchRequest.wait.default : durationMs(request.wait);
      const wanted = { cursor, count: count === 0 ? undefined : count, waitMs, signal };
      const { config, nextCursor, done, epoch, ...batch } = okOrThrow(await runs.nextBatch(runId, wanted));
      const tasks = await issuedToWire(deps, runId, batch.tasks, config);
      return create(wire.NextBatchResponseSchema, { tasks, nextCursor: BigInt(nextCursor), done, epoch });
    },
    async nextEvaluation(request, { signal }) {
      const runId = readRunId(request);
      const armId = checkId(request.armId, ARM_ID.max, "arm_id", "/");
      const round = toCount(request.round, "round");
      const cursor = toCount(request.cursor, "cursor");
      const count = request.count || LIMITS.NextEvaluationRequest.count.default;
      const batch = okOrThrow(await runs.nextEvaluation(runId, { armId, round, cursor, count, signal }));
      const tasks = await evaluationToWire(deps, runId, batch);
      const { nextCursor, done, epoch } = batch;
      return create(wire.NextEvaluationResponseSchema, { tasks, nextCursor: BigInt(nextCursor), done, epoch });
    },
  };
}

function feedbackHandlers(deps: ServiceDeps): Handlers {
  const { runs } = deps;
  return {
    async getGroups(request, { signal }) {
      const runId = readRunId(request);
      const wanted = readSelection(request, runId);
      const { size, after } = readPage(request, LIMITS.GetGroupsRequest.page_size);
      const [from = 0] = readPlace(after, 1);
      const waitMs = request.wait === undefined ? 0 : durationMs(request.wait);
      const found = okOrThrow(await runs.groups(runId, { wanted, from, limit: size, waitMs, signal }));
      const { config, next } = found;
      const issued = request.tasks ? found.groups.map(({ task }) => task) : [];
      const tasks = await issuedToWire(deps, runId, issued, config);
      const groups = await mapInSlices(found.groups, (view, i) =>
        groupToWire(runId, view, config, pairsMaxOf(deps, config.arms[view.task.arm]?.spec), tasks[i]),
      );
      const closed = found.groups.every((group) => group.closed);
      return create(wire.GetGroupsResponseSchema, { groups, nextPageToken: pageToken(next), closed });
    },
    async reopenGroups(request, { caller }) {
      const runId = readRunId(request);
      const refs = request.groupIds.map((groupId, i) => readGroupId(groupId, runId, `group_ids[${i}]`));
      const statuses = okOrThrow(await runs.reopenGroups(runId, refs, caller));
      return create(wire.ReopenGroupsResponseSchema, { groups: groupFeedback(request.groupIds, statuses) });
    },
    async reportAdvantages(request) {
      const runId = readRunId(request);
      const reports = request.groups.map(({ groupId, advantages, rewardMean }, i) => ({
        ...readGroupId(groupId, runId, `groups[${i}].group_id`),
        advantages,
        rewardMean,
      }));
      const statuses = okOrThrow(await runs.reportAdvantages(runId, reports));
      const ids = request.groups.map(({ groupId }) => groupId);
      return create(wire.ReportAdvantagesResponseSchema, { groups: groupFeedback(ids, statuses) });
    },
    async closeGroups(request, { caller }) {
      const runId = readRunId(request);
      const refs = request.groupIds.map((groupId, i) => readGroupId(groupId, runId, `group_ids[${i}]`));
      const statuses = okOrThrow(await runs.closeGroups(runId, refs, request.reason, caller, request.validateOnly));
      return create(wire.CloseGroupsResponseSchema, { groups: groupFeedback(request.groupIds, statuses) });
    },
  };
}

/**
 * Returns the maximum number of contrast pairs (a preferred and a rejected text) for a group of this arm. 0: its reward
 * scheme reads only the last answer of a completion.
 */
function pairsMaxOf({ registry }: ServiceDeps, spec: TaskSpec | undefined): number {
  const found = spec && registry.find(spec.environment, spec.version);
  if (spec === undefined || found?.kind !== "found") return 0;
  const resolved = resolveScheme(found.environment, spec.rewardScheme, spec.rewardParameters, spec.calls !== undefined);
  if (resolved.kind === "invalid") return 0;
  const { scheme, parameters } = resolved.scheme;
  return scheme.scan?.pairsMax(parameters) ?? 0;
}

/** Reads which groups a request selects. Throws unless exactly one way to select groups is set. */
function readSelection({ open, updateBatch, groupIds }: wire.GetGroupsRequest, runId: string): GroupSelection {
  const ways = Number(open) + Number(updateBatch !== undefined) + Number(groupIds.length > 0);
  if (ways !== 1) throw invalid("group_ids", "set exactly one of open, update_batch and group_ids");
  if (open) return { kind: "open" };
  if (updateBatch !== undefined) return { kind: "batch", batch: toCount(updateBatch, "update_batch") };
  const refs = groupIds.map((groupId, i) => readGroupId(groupId, runId, `group_ids[${i}]`));
  return { kind: "groups", refs };
}

function groupFeedback(groupIds: readonly string[], statuses: readonly FeedbackStatus[]): wire.GroupFeedback[] {
  return groupIds.map((groupId, i) =>
    create(wire.GroupFeedbackSchema, { groupId, feedback: feedbackToWire(statuses[i] as FeedbackStatus) }),
  );
}

const idsOf = (arms: readonly { readonly id: string; readonly removed: boolean }[]) =>
  arms.flatMap(({ id, removed }) => (removed ? [] : [id]));

function controlHandlers(deps: ServiceDeps): Handlers {
  const { runs } = deps;
  const from = ({ appliesFromCursor, noEffect }: AppliesFrom) => ({
    appliesFromCursor: BigInt(appliesFromCursor),
    noEffect: [...noEffect],
  });
  return {
    async updateShape(request, context) {
      const runId = readRunId(request);
      checkCount(request.addArms.length, ARMS.max, "add_arms");
      checkCount(request.removeArms.length, ARMS.max, "remove_arms");
      for (const [i, id] of request.removeArms.entries()) checkBytes(id, ARM_ID.max, `remove_arms[${i}]`);
      const { numGenerations, promptsPerUpdate } = request;
      if (numGenerations !== undefined) checkRange(numGenerations, 1, deps.limits.maxCompletions, "num_generations");
      const { configNow: config, state } = okOrThrow(await runs.get(runId));
      const isServed = await findServedArms(request.addArms, deps.registry);
      const addArms = addedArms(request.addArms, config, { ...deps, isServed });
      await checkArms(deps, { arms: addArms, seed: config.seed }, requesterOf(context), "add_arms");
      const { removeArms } = request;
      for (const id of Object.keys(request.growArms)) checkBytes(id, ARM_ID.max, "grow_arms");
      const growArms = grownArms(request.growArms, config.arms, deps);
      await checkArms(deps, { arms: growArms, seed: config.seed }, requesterOf(context), "grow_arms");
      const arms = [...config.arms.filter(({ id }) => !removeArms.includes(id)), ...addArms];
      const given = request.policy && policyFromWire(request.policy, "", idsOf(arms));
      const counted = countRanks(deps, given ?? state.policy, arms);
      // Ranks are relative to the rows of all arms, so adding or removing arms changes the ranks of the current policy.
      const policy = given === undefined && isDeepStrictEqual(counted, state.policy) ? undefined : counted;
      if (!runConfigToWire(config).trainOnEvaluated)
        await checkEvaluatedRows(deps, { arms: addArms, evaluationArms: config.evaluationArms }, "add_arms");
      const length = request.length === undefined ? undefined : toCount(request.length, "length");
      const rated = begunRatings(deps, { arms: addArms, from: config.arms.length }, request.addArms, "add_arms");
      const shape = { addArms, removeArms, growArms, numGenerations, promptsPerUpdate, length, policy, rated };
      const applied = okOrThrow(await runs.updateShape(runId, shape, context.caller, request.validateOnly));
      return create(wire.UpdateShapeResponseSchema, from(applied));
    },
    async updatePolicy(request, { caller }) {
      const runId = readRunId(request);
      const { arms } = okOrThrow(await runs.get(runId)).configNow;
      const policy = countRanks(deps, policyFromWire(request.policy, "", idsOf(arms)), arms);
      const applied = okOrThrow(await runs.updatePolicy(runId, policy, caller, request.validateOnly));
      return create(wire.UpdatePolicyResponseSchema, from(applied));
    },
    async setWeights(request, { caller }) {
      for (const id of Object.keys(request.weights)) checkBytes(id, ARM_ID.max, "weights");
      // An arm may be named "constructor", so the map of weights must not inherit properties.
      const weights = Object.setPrototypeOf({ ...request.weights }, null) as typeof request.weights;
      const applied = okOrThrow(await runs.setWeights(readRunId(request), weights, caller, request.validateOnly));
      return create(wire.SetWeightsResponseSchema, from(applied));
    },
    async advance(request, { caller }) {
      const { armId, validateOnly } = request;
      const applied = okOrThrow(await runs.advance(readRunId(request), caller, validateOnly, armId));
      return create(wire.AdvanceResponseSchema, from(applied));
    },
    async pause(request, { caller }) {
      const applied = okOrThrow(await runs.pause(readRunId(request), caller, request.validateOnly));
      return create(wire.PauseResponseSchema, from(applied));
    },
    async resume(request, { caller }) {
      const applied = okOrThrow(await runs.resume(readRunId(request), caller, request.validateOnly));
      return create(wire.ResumeResponseSchema, from(applied));
    },
    async annotateRun(request, { caller }) {
      const { note, addTags, removeTags, validateOnly } = request;
      for (const [field, tags] of Object.entries({ add_tags: addTags, remove_tags: removeTags }))
        for (const [i, tag] of tags.entries()) checkId(tag, TAG_BYTES_MAX, `${field}[${i}]`, "/");
      const annotation = { note, addTags, removeTags };
      const { noEffect, ...now } = okOrThrow(await runs.annotate(readRunId(request), annotation, caller, validateOnly));
      return create(wire.AnnotateRunResponseSchema, { ...now, tags: [...now.tags], noEffect: [...noEffect] });
    },
  };
}

function stateHandlers(deps: ServiceDeps): Handlers {
  const { runs, keyring } = deps;
  const history = historiesOf(runs);
  return {
    async exportRun(request) {
      const { state, epoch, cursor } = okOrThrow(await runs.export(readRunId(request)));
      return create(wire.ExportRunResponseSchema, {
        state: seal(keyring, "run", state),
        epoch,
        cursor: BigInt(cursor),
      });
    },
    async importRun(request, { caller, role }) {
      if (request.restoreControl && role !== "operator") {
        const message = `restore_control needs a token with the role operator, and '${caller}' has the role ${role}`;
        throw new RpcError("PERMISSION_DENIED", message, { field: "restore_control" });
      }
      const runId = request.runId === "" ? undefined : readRunId(request);
      if (request.state.length === 0) throw invalid("state", "must be set");
      const opened = open(keyring, "run", request.state);
      if (opened.kind === "invalid")
        throw new RpcError("FAILED_PRECONDITION", `state: ${opened.detail}`, { field: "state" });
      const { run, config, outstanding } = okOrThrow(
        await runs.import(opened.payload, runId, caller, request.restoreControl),
      );
      const tasks = await issuedToWire(deps, run.runId, outstanding, config);
      return create(wire.ImportRunResponseSchema, { run: runToWire(run), outstanding: tasks });
    },
    watchRun(request, context) {
      const intervalMs = request.intervalMs || LIMITS.WatchRunRequest.interval_ms.default;
      return watch(deps, { runId: readRunId(request), intervalMs }, context);
    },
    async getHistory(request) {
      const { size, after } = readPage(request, LIMITS.GetHistoryRequest.page_size);
      const [from = 0] = readPlace(after, 1);
      const merge = request.mergeBatches || 1;
      const { withoutArms, armGroups } = request;
      checkCount(armGroups.length, ARMS.max, "arm_groups");
      armGroups.forEach((group, at) => checkRange(group, 0, armGroups.length - 1, `arm_groups[${at}]`));
      return history(readRunId(request), { from, size, merge, isByArm: !withoutArms, armGroups });
    },
  };
}

/**
 * Streams the states of a run. The stream ends without an error only if the run is deleted. A shutdown ends it with an
 * error, so that the client calls again.
 */
async function* watch(
  deps: ServiceDeps,
  { runId, intervalMs }: { readonly runId: string; readonly intervalMs: number },
  { signal, draining }: CallContext,
) {
  const states = okOrThrow(await deps.runs.watch(runId, AbortSignal.any([signal, draining]), intervalMs));
  for await (const state of states) yield create(wire.WatchRunResponseSchema, { state: stateToWire(okOrThrow(state)) });
  if (draining.aborted) throw shuttingDown();
}
