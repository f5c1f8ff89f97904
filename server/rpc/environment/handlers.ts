/**
 * Handlers of EnvironmentService. Each reads a request, calls the code for tasks and writes the response. They keep no
 * state between calls.
 */
import { LIMITS } from "../../../proto/limits.ts";
import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import type { Environment } from "../../../envs/environment.ts";
import {
  BatchResetResponseSchema,
  type Completion,
  type CompletionGroup,
  type Environment as WireEnvironment,
  type EnvironmentService,
  FinishReason,
  GetEnvironmentResponseSchema,
  type ListEnvironmentsResponse,
  ListEnvironmentsResponseSchema,
  ResetResponseSchema,
  ResetResultSchema,
  type StepResponse,
  type StreamStepsRequest,
  type StreamStepsResponse,
  StreamStepsResponseSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { GroupOutcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import type { Caller } from "../../tasks/scoring/async-scorer.ts";
import { presentTask } from "../write-task.ts";
import {
  isLarge,
  type ScoredGroup,
  scoreGroup,
  scoreGroupAsync,
  scoreLargeGroup,
} from "../../tasks/scoring/score-group.ts";
import type { NoReward } from "../../tasks/scoring/results.ts";
import type { OpenTask } from "../../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import type { MakeResult } from "../../tasks/task.ts";
import { codes, freeTexts, LONG_MESSAGE_BYTES, RpcError, type ServiceHandlers, textSizes } from "../../base/rpc.ts";
import {
  checkBytes,
  checkCount,
  checkGroups,
  checkStep,
  invalid,
  isHermes,
  pageOf,
  readPage,
  requesterOf,
} from "../request-checks.ts";
import { mapConcurrently } from "../map-concurrently.ts";
import type { ServiceDeps } from "../deps.ts";
import { giveFeedback } from "../record-feedback.ts";
import { keepGroup } from "../curriculum/run-samples.ts";
import { makeError } from "../to-rpc-error.ts";
import { reissueHandlers } from "./reissue-handlers.ts";
import { serverInfo } from "./server-info.ts";
import { serverStatus } from "./server-status.ts";
import { showingHandlers } from "./inspect-handlers.ts";
import { lookUpEnvironment, readSpec } from "../read-task-spec.ts";
import { groupToWire } from "../write-outcome.ts";
import { environmentToWire } from "./write.ts";

/**
 * Maximum bytes of a StreamSteps message that packs several requests (`more`). The texts of longer messages are decoded
 * lazily, which works only for a single request.
 */
const MORE_BYTES_MAX = LONG_MESSAGE_BYTES - 1;
const LISTS_KEPT = 64;

/**
 * Returns the sort key of an environment: by id, then by version, the newest first. A space sorts before all characters
 * of an id, so "a" comes before "a-b".
 */
function keyOf({ id, version }: WireEnvironment): string {
  return `${id} ${1e9 - version}`;
}

/** Returns the handlers that describe environments. Descriptions are cached until an environment is mounted again. */
function createDirectory(
  deps: ServiceDeps,
): Pick<
  ServiceHandlers<typeof EnvironmentService>,
  "getServerInfo" | "getServerStatus" | "listEnvironments" | "getEnvironment"
> {
  const describe = (environments: readonly Environment[]) => ({
    environments,
    /** Descriptions of all environments, ordered by id. */
    all: mapInSlices(environments, (environment) => environmentToWire(environment, deps)).then((all) =>
      all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    ),
    /**
     * Cache of the responses to the ListEnvironments requests that came last. The messages are frozen, so the transport
     * encodes each only once, which saves 2 ms a call.
     */
    lists: new LRUCache<string, ListEnvironmentsResponse>({ max: LISTS_KEPT }),
  });
  let known: ReturnType<typeof describe> | undefined;
  /** Returns the descriptions of the environments that are served now. They are made once. */
  const described = (): ReturnType<typeof describe> => {
    const { environments } = deps.registry;
    if (known?.environments !== environments) known = describe(environments);
    return known;
  };
  return {
    getServerInfo: (_, context) => serverInfo(deps, context),
    getServerStatus: (_, context) => serverStatus(deps, context),
    async listEnvironments({ category, pageSize, pageToken }) {
      const limits = LIMITS.ListEnvironmentsRequest;
      checkBytes(category, limits.category.max, "category");
      const asked = readPage({ pageSize, pageToken }, limits.page_size);
      const key = JSON.stringify([category, pageSize, pageToken]);
      const { all, lists } = described();
      const list = lists.get(key);
      if (list !== undefined) return list;
      const wanted = (await all).filter((each) => category === "" || category === each.category);
      const { items: environments, nextPageToken } = pageOf(wanted, keyOf, asked);
      const mounting = [...(deps.registry.mounting?.() ?? [])];
      const made = create(ListEnvironmentsResponseSchema, { environments: [...environments], nextPageToken, mounting });
      lists.set(key, Object.freeze(made));
      return made;
    },
    async getEnvironment(request) {
      const { id, version } = lookUpEnvironment(deps.registry, request.id, request.version, "id");
      const environment = (await described().all).find((each) => each.id === id && each.version === version);
      if (environment === undefined) throw new Error(`bug: ${id} version ${version} is served but has no description`);
      return create(GetEnvironmentResponseSchema, { environment });
    },
  };
}

export function createEnvironmentService(deps: ServiceDeps): ServiceHandlers<typeof EnvironmentService> {
  const { limits } = deps;
  const toTask = (spec: TaskSpec, result: MakeResult | undefined): Task => {
    if (result === undefined) throw new Error("bug: no result was returned for a seed");
    if (result.kind !== "made") throw makeError(result);
    return presentTask(deps, spec, result.task);
  };
  return {
    ...createDirectory(deps),
    ...showingHandlers(deps),
    ...reissueHandlers(deps),
    async reset(request, context) {
      const spec = readSpec(request.spec, deps, "spec");
      const [result] = await deps.maker.make(spec, [request.seed], requesterOf(context));
      return create(ResetResponseSchema, { task: toTask(spec, result) });
    },
    async batchReset(request, context) {
      const spec = readSpec(request.spec, deps, "spec");
      checkCount(request.seeds.length, limits.maxBatchSeeds, "seeds", 1);
      const results = await deps.maker.make(spec, request.seeds, requesterOf(context));
      const toResult = (result: MakeResult, i: number) => {
        const wire = create(ResetResultSchema, { seed: request.seeds[i] as bigint });
        if (result.kind === "made") wire.result = { case: "task", value: toTask(spec, result) };
        else wire.result = { case: "failure", value: failureOf("gradus.v1.ResetFailure", makeError(result)) };
        return wire;
      };
      return create(BatchResetResponseSchema, { results: await mapInSlices(results, toResult) });
    },
    step(request, context) {
      const { $typeName: _, taskId, groupId, completion: text, ...rest } = request;
      const group: CompletionGroup = {
        $typeName: "gradus.v1.CompletionGroup",
        taskId,
        groupId,
        numGenerations: 0,
        completions: [{ $typeName: "gradus.v1.Completion", taskId: "", text, ...rest }],
      };
      checkStep(group);
      const task = deps.scorer.open(taskId);
      // BatchStep reports this failure for each task (NoReward). Step has only one task, so the whole call fails.
      if (task.kind === "none" && task.reason === "failed_precondition")
        throw new RpcError("FAILED_PRECONDITION", task.detail, { field: "task_id" });
      const scored = scoreAndFeed(deps, task, group, false, context);
      return scored instanceof Promise ? scored.then(onlyOutcome) : onlyOutcome(scored);
    },
    async batchStep(request, context) {
      checkGroups(request.groups, limits);
      return { $typeName: "gradus.v1.BatchStepResponse", groups: await scoreGroups(deps, request.groups, context) };
    },
    async *streamSteps(requests, context) {
      const work = (request: StreamStepsRequest, stepAside: () => void) =>
        streamStep(deps, request, context, stepAside);
      let together = false;
      const requestsOf = (message: StreamStepsRequest): readonly StreamStepsRequest[] => {
        together ||= message.more.length > 0;
        return [message, ...moreOf(message)];
      };
      for await (const replies of mapConcurrently(requests, requestsOf, deps.streamWindow, work))
        yield* together ? joined(replies, limits.maxCompletions) : replies;
    },
  };
}

/** Returns the further requests that are packed into a message. */
function moreOf({ more }: StreamStepsRequest): readonly StreamStepsRequest[] {
  checkCount(more.length, LIMITS.StreamStepsRequest.more.max, "more");
  for (const [i, { more: within }] of more.entries()) checkCount(within.length, 0, `more[${i}].more`);
  return more;
}

/**
 * Packs replies into as few messages as possible. A message has at most `outcomesMax` outcomes, unless a single reply
 * has more.
 */
function* joined(replies: readonly StreamStepsResponse[], outcomesMax: number): Generator<StreamStepsResponse> {
  let message: StreamStepsResponse | undefined;
  let outcomes = 0;
  for (const reply of replies) {
    const count = reply.groups.reduce((sum, group) => sum + group.outcomes.length, 0);
    if (message !== undefined && outcomes + count <= outcomesMax) {
      reply.moreBytes = 0;
      message.more.push(reply);
      outcomes += count;
      continue;
    }
    if (message !== undefined) yield message;
    [message, outcomes] = [reply, count];
  }
  if (message !== undefined) yield message;
}

function onlyOutcome({ outcomes: [outcome] }: GroupOutcome): StepResponse {
  if (outcome === undefined) throw new Error("bug: the only completion of a Step has no outcome");
  return { $typeName: "gradus.v1.StepResponse", outcome };
}

async function streamStep(
  deps: ServiceDeps,
  request: StreamStepsRequest,
  caller: Caller,
  stepAside: () => void,
): Promise<StreamStepsResponse> {
  const moreBytes = Math.min(MORE_BYTES_MAX, deps.limits.maxMessageBytes);
  const response = create(StreamStepsResponseSchema, { requestId: request.requestId, moreBytes });
  try {
    checkBytes(request.requestId, LIMITS.StreamStepsRequest.request_id.max, "request_id");
    if (request.requestId === "") throw invalid("request_id", "must be set");
    checkGroups(request.groups, deps.limits);
    response.groups = await scoreGroups(deps, request.groups, caller, stepAside);
  } catch (error) {
    // An invalid request gets a failure as its reply, and the stream goes on. Any other error is a bug, and ends the
    // stream.
    if (!(error instanceof RpcError)) throw error;
    response.failure = failureOf("gradus.v1.StreamStepsFailure", error);
  }
  return response;
}

/**
 * Scores groups, and returns their outcomes in order. When only results of external resources (e.g. a judge) are
 * missing, calls `stepAside`, so that the stream can begin other requests.
 */
export async function scoreGroups(
  deps: ServiceDeps,
  groups: readonly CompletionGroup[],
  caller: Caller,
  stepAside?: () => void,
): Promise<GroupOutcome[]> {
  let waits = false;
  const outcomes = await mapInSlices(groups, (group) => {
    const task = openGroup(deps, group);
    waits ||= task.kind === "async" || task.kind === "asking";
    return scoreAndFeed(deps, task, group, true, caller);
  });
  if (waits) stepAside?.();
  const isDone = outcomes.every(isAtOnce);
  const all = isDone ? outcomes : await Promise.all(outcomes.map((outcome) => Promise.resolve(outcome)));
  freeTexts(groups);
  return all;
}

/**
 * Returns the task that the group's task id names. If the group has no task id, returns the task of the first
 * completion whose own task id can be decoded.
 */
function openGroup({ scorer }: ServiceDeps, { taskId, completions }: CompletionGroup): OpenTask | NoReward {
  let task = scorer.open(taskId);
  if (taskId !== "") return task;
  for (const { taskId: own } of completions) {
    task = scorer.open(own);
    if (task.kind !== "none") break;
  }
  return task;
}

function isAtOnce(outcome: GroupOutcome | Promise<GroupOutcome>): outcome is GroupOutcome {
  return !(outcome instanceof Promise);
}

/**
 * Scores a group and reports the scores to its run. If neither a resource nor a run is needed, returns the outcome
 * itself instead of a promise.
 */
function scoreAndFeed(
  deps: ServiceDeps,
  task: OpenTask | NoReward,
  group: CompletionGroup,
  statistics: boolean,
  caller: Caller,
): GroupOutcome | Promise<GroupOutcome> {
  const done = (scored: ScoredGroup): GroupOutcome | Promise<GroupOutcome> => {
    tally(deps, task, scored);
    if (scored.feedback.kind === "none" || task.kind === "none") return groupToWire(group.groupId, scored);
    return feed(deps, task, group, scored);
  };
  const isCut = (place: number): boolean => group.completions[place]?.finishReason === FinishReason.LENGTH;
  const mayCall = (place: number): boolean => isHermes(group.completions[place] as Completion);
  const options = { statistics, isCut, isHermes: mayCall };
  if (task.kind === "async" || task.kind === "asking")
    return scoreGroupAsync(deps, task, group, options, caller).then(done);
  if (isLarge(group, textSizes.get(group))) return scoreLargeGroup(deps.scorer, task, group, options).then(done);
  return done(scoreGroup(deps.scorer, task, group, options));
}

async function feed(
  deps: ServiceDeps,
  task: OpenTask,
  group: CompletionGroup,
  scored: ScoredGroup,
): Promise<GroupOutcome> {
  const feedback = await giveFeedback(deps, scored);
  keepGroup(deps, task, group, scored, feedback);
  return groupToWire(group.groupId, scored, feedback);
}

function failureOf<Name extends string>($typeName: Name, error: RpcError) {
  const { message, retryDelayMs = 0 } = error;
  return { $typeName, code: codes[error.code], message, retryDelayMs };
}

// The next functions count outcomes, for the metrics.

const sourceOf = { generated: "synthetic", row: "real", inline: "teacher" } as const;
const unknown = Object.freeze({ environment: "", level: "", source: "" });

function tally(
  { meter, noRewards }: Pick<ServiceDeps, "meter" | "noRewards">,
  task: OpenTask | NoReward,
  { samples }: ScoredGroup,
): void {
  const counts = meter?.(task.kind === "none" ? unknown : kindOf(task));
  for (const { result } of samples) {
    if (result.kind === "score") {
      counts?.scored(result.score.verdict, result.score.reward, result.score.solved);
      continue;
    }
    if (result.kind === "turn") continue;
    noRewards.add(result);
    counts?.noReward(result.reason, result.resource ?? "");
  }
}

function kindOf({ token: { environment, level, key } }: OpenTask) {
  return { environment, level, source: sourceOf[key.origin.kind] };
}
