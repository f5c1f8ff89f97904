/** Client with all calls of a server, over any transport. */
import { callerOver } from "./caller.ts";
import type { CallOptions, Caller, ClientDefaults } from "./caller.ts";
import { groupOf, rescoreSettingsOf, seedOf, taskSpecOf } from "./choices.ts";
import type { GroupChoice, RescoreChoice, Seed, TaskChoice, TaskRef } from "./choices.ts";
import { evaluationHandle } from "./evaluation.ts";
import type { EvaluationHandle } from "./evaluation.ts";
import type { FeedbackCounts } from "./feedback.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Run } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type {
  Environment,
  ReissueResult,
  ResetResult,
  ServerInfo,
  ServerStatus,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { Evaluation, Suite } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { groupOutcomeOf, outcomeOf } from "./outcomes.ts";
import type { GroupOutcome, Outcome } from "./outcomes.ts";
import { peopleCalls } from "./people.ts";
import type { PeopleCalls } from "./people.ts";
import { allPages, present } from "./reply.ts";
import { rollout } from "./rollout.ts";
import type { EpisodePosition, PlayedEpisode, PolicyTurn, RolloutOptions } from "./rollout.ts";
import { runHandle } from "./run-calls.ts";
import type { RunHandle } from "./run.ts";
import { streamSteps } from "./stream-steps.ts";
import type { StepResult, StreamOptions } from "./stream-steps.ts";
import { sendable } from "./surrogates.ts";
import type { Transport } from "./transport.ts";
import type { TurnChoice } from "./turns.ts";
import { turnFieldsOf } from "./turns.ts";
import type { Items } from "./windowed.ts";

/** Fields of a completion other than its text, and options of the call. */
export interface StepChoice extends CallOptions, TurnChoice {
  readonly sampleIndex?: number | undefined;
  /** Number of tokens, see SampleChoice. */
  readonly tokens?: number | undefined;
}

/** Client of one server. The first call connects. */
export interface GradusClient extends PeopleCalls {
  /** Returns the version, the ports and the limits of the server. */
  getServerInfo(options?: CallOptions): Promise<ServerInfo>;
  /** Returns latencies and errors of calls, processor time and memory of one server process in the last minutes. */
  getServerStatus(options?: CallOptions): Promise<ServerStatus>;
  /** Returns all environments of the server, sorted by id. With `category`, only those of that category. */
  listEnvironments(filter?: { readonly category?: string }, options?: CallOptions): Promise<readonly Environment[]>;
  /** Returns one environment. Version 0 is the newest. */
  getEnvironment(id: string, version?: number, options?: CallOptions): Promise<Environment>;
  /** Makes one task. Equal choices give equal tasks. The seed defaults to 0. */
  reset(choice: TaskChoice & { readonly seed?: Seed | undefined }, options?: CallOptions): Promise<Task>;
  /** Makes one task for each seed, in the order of the seeds. If a task cannot be made, its result has the reason. */
  batchReset(
    choice: TaskChoice & { readonly seeds: readonly Seed[] },
    options?: CallOptions,
  ): Promise<readonly ResetResult[]>;
  /**
   * Issues tasks again, so that stored completions can be scored once more under other settings. The new tasks have the
   * same instances and belong to no run. The results are in the order of the ids. If a task cannot be issued, its
   * result has the reason.
   */
  reissueTasks(
    taskIds: readonly string[],
    settings?: RescoreChoice,
    options?: CallOptions,
  ): Promise<readonly ReissueResult[]>;
  /** Scores one completion. `sampleIndex` is its position in its group and defaults to 0. */
  step(task: TaskRef, completion: string, options?: StepChoice): Promise<Outcome>;
  /**
   * Plays several samples of a task at the same time, call by call: `generate` returns the next completion of a
   * conversation. Returns the finished episodes in the order of the samples. A task without turns takes one completion
   * of each sample.
   */
  rollout(
    task: Task,
    generate: (position: EpisodePosition) => Promise<PolicyTurn>,
    options?: RolloutOptions,
  ): Promise<readonly PlayedEpisode[]>;
  /** Scores groups of completions. Returns the outcomes in the order of the groups. */
  batchStep(groups: readonly GroupChoice[], options?: CallOptions): Promise<readonly GroupOutcome[]>;
  /**
   * Scores groups as they arrive, and yields exactly one result for each, in any order. At most `window` groups (64 by
   * default) wait for a result. `deadlineMs` applies to each group. Leaving the loop ends the stream.
   */
  streamSteps<Group extends GroupChoice>(
    groups: Items<Group>,
    options?: StreamOptions,
  ): AsyncGenerator<StepResult<Group>, void, undefined>;
  /**
   * Returns how many of this client's scores the runs recorded, and how many not, by feedback status, e.g. 512
   * "recorded".
   */
  feedbackCounts(): FeedbackCounts;
  /** Returns a handle of the run with this id. The run need not exist yet. */
  run(runId: string): RunHandle;
  /** Returns all runs of the server, sorted by id. */
  listRuns(options?: CallOptions): Promise<readonly Run[]>;
  /** Returns a handle of the evaluation with this id. The evaluation need not exist yet. */
  evaluation(evaluationId: string): EvaluationHandle;
  /** Returns all evaluations of the server, sorted by id. With `suite`, only those of that suite. */
  listEvaluations(filter?: { readonly suite?: string }, options?: CallOptions): Promise<readonly Evaluation[]>;
  /** Returns all suites of the server, sorted by id. */
  listSuites(options?: CallOptions): Promise<readonly Suite[]>;
  /** Closes the connection. Calls in flight fail. */
  close(): void;
}

function environmentCalls({
  unary,
  feedback,
}: Caller): Pick<
  GradusClient,
  | "getServerInfo"
  | "getServerStatus"
  | "listEnvironments"
  | "getEnvironment"
  | "reset"
  | "batchReset"
  | "reissueTasks"
  | "step"
  | "batchStep"
> {
  const { method } = EnvironmentService;
  return {
    getServerInfo: async (options) => present((await unary(method.getServerInfo, {}, options)).server, "server"),
    getServerStatus: async (options) => present((await unary(method.getServerStatus, {}, options)).status, "status"),
    listEnvironments: (filter = {}, options) =>
      allPages(
        (pageToken) => unary(method.listEnvironments, { category: filter.category ?? "", pageToken }, options),
        (page) => page.environments,
      ),
    getEnvironment: async (id, version = 0, options) =>
      present((await unary(method.getEnvironment, { id, version }, options)).environment, "environment"),
    reset: async ({ seed = 0, ...choice }, options) =>
      present((await unary(method.reset, { spec: taskSpecOf(choice), seed: seedOf(seed) }, options)).task, "task"),
    batchReset: async ({ seeds, ...choice }, options) =>
      (await unary(method.batchReset, { spec: taskSpecOf(choice), seeds: seeds.map(seedOf) }, options)).results,
    reissueTasks: async (taskIds, settings = {}, options) =>
      (await unary(method.reissueTasks, { taskIds: [...taskIds], settings: rescoreSettingsOf(settings) }, options))
        .results,
    step: async ({ taskId, groupId, runId }, completion, options = {}) => {
      const sampleIndex = options.sampleIndex ?? 0;
      const text = sendable(completion, `sample ${sampleIndex}`);
      const { tokens } = options;
      const place = { taskId, groupId, sampleIndex, ...(tokens !== undefined && { tokens }) };
      const request = { ...place, completion: text, ...turnFieldsOf(options) };
      const outcome = outcomeOf(present((await unary(method.step, request, options)).outcome, "outcome"));
      feedback.note({ runId, outcomes: [outcome] });
      return outcome;
    },
    batchStep: async (groups, options) => {
      const response = await unary(method.batchStep, { groups: groups.map(groupOf) }, options);
      const outcomes = response.groups.map(groupOutcomeOf);
      feedback.note(...outcomes.map(({ outcomes }, i) => ({ runId: groups[i]?.task.runId, outcomes })));
      return outcomes;
    },
  };
}

export function clientOver(transport: Transport, defaults: ClientDefaults): GradusClient {
  const caller = callerOver(transport, defaults);
  return {
    ...environmentCalls(caller),
    ...peopleCalls(caller),
    rollout: (task, generate, options) => rollout(caller, task, generate, options),
    streamSteps: (groups, options) => streamSteps(caller, groups, options),
    feedbackCounts: () => caller.feedback.counts(),
    run: (runId) => runHandle(caller, runId),
    listRuns: (options) =>
      allPages(
        (pageToken) => caller.unary(CurriculumService.method.listRuns, { pageToken }, options),
        (page) => page.runs,
      ),
    evaluation: (evaluationId) => evaluationHandle(caller, evaluationId),
    listEvaluations: ({ suite = "" } = {}, options) =>
      allPages(
        (pageToken) => caller.unary(EvaluationService.method.listEvaluations, { suite, pageToken }, options),
        (page) => page.evaluations,
      ),
    listSuites: (options) =>
      allPages(
        (pageToken) => caller.unary(EvaluationService.method.listSuites, { pageToken }, options),
        (page) => page.suites,
      ),
    close: () => transport.close(),
  };
}
