/**
 * Limits of the contract's fields, by message and field. The server's checks read them here, and a test compares them
 * with the fields' comments in gradus/v1.
 */

/** A limit of one field. */
export interface Limit {
  /** Minimum of a number, or of the entries of a list. Defaults to 0, and to 1 for a number with a default. */
  readonly min?: number;
  /**
   * Maximum of a number, of the bytes of a text in UTF-8, of the entries of a list or a map, or of the milliseconds of
   * a duration.
   */
  readonly max: number;
  /** Value that the server uses for 0 or an unset field. Unset: the field has none, or depends on others. */
  readonly default?: number;
}

type Limits = Readonly<Record<string, Readonly<Record<string, Limit>>>>;

const KIB = 1024;
const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

const id = { max: 128 };
const name = { max: 64 };
const groupId = { max: 256 };
const groups = { max: 4096 };
const page = { default: 100, max: 1000 };

export const LIMITS = {
  // task.proto, outcome.proto
  TaskSpec: { environment: { max: 128 }, level: name, pool: name, tools: { max: 32 }, reply_detail: name },
  RewardScheme: { name },
  SampleFilter: { violation: { max: 256 }, text: { max: 1024 }, violation_template: { max: 256 } },
  // environment.proto
  ListEnvironmentsRequest: { category: name, page_size: page },
  CompletionGroup: { group_id: groupId },
  StreamStepsRequest: { request_id: id, more: { max: 63 } },
  ToolCall: { id },
  // StepRequest, SubmitCompletionsRequest and TryAnswerRequest have these fields too, with the same limits.
  Completion: { tool_calls: { max: 16_384 }, sample_key: name, tokens: { max: 2 ** 24 } },
  // curriculum.proto
  Arm: { id: name, rank_group: name, kl_coefficient: { max: 100 } },
  Growth: { axis: name },
  // The limit of column_samples is that of RateRowsRequest.samples too: any number above 0.
  RowCurriculum: { count: { max: 2 ** 21 }, column_samples: { default: 8, max: 1023 }, retire_after: { max: 255 } },
  EvaluationArm: { id: name, tasks: { min: 1, max: 65_536 } },
  DynamicSampling: { oversample_max: { min: 1, max: 16 } },
  LateFeedback: { batches_max: { max: 65_536 } },
  PromptTemplate: { system: { max: 16 * KIB }, user: { max: 16 * KIB } },
  TrainerSettings: { algorithm: { max: 256 } },
  RowLearnability: { sharpness: { default: 6, min: 1, max: 16 } },
  StagedPolicy: { stages: { min: 1, max: 64 } },
  ReplayPolicy: { stages: { min: 1, max: 64 }, cycles: { min: 1, max: 1024 } },
  CompetencePolicy: { tiers: { min: 1, max: 64 }, window: { default: 32, max: 256 } },
  ForgettingPolicy: { domains: { min: 2, max: 64 } },
  FrontierPolicy: { practice_scale: { max: 1e9 } },
  EmaSoftmaxRule: { tau: { max: 1e6 } },
  UcbRule: { exploration: { max: 1e9 } },
  ThompsonRule: { exploration: { max: 1e9 } },
  SignalRescale: { window: { default: 512, min: 16, max: 4096 } },
  TaskFilter: { skip_failed_after: { max: 1024 } },
  RunConfig: {
    arms: { min: 1, max: 1024 },
    prompts_per_update: { min: 1, max: 4096 },
    feedback_lag: { default: 1, max: 64 },
    group_timeout: { default: 10 * 60 * SECOND_MS, max: 3652 * DAY_MS },
    time_to_live: { default: 30 * DAY_MS, max: 3652 * DAY_MS },
    evaluation_arms: { max: 32 },
  },
  CreateRunRequest: { run_id: id },
  CheckRunRequest: { file: { max: 64 * KIB } },
  SimulateRunRequest: { updates: { default: 500, max: 2000 }, points: { default: 100, max: 200 } },
  ListRunsRequest: { page_size: page },
  NextBatchRequest: { count: { max: 4096 }, wait: { default: 10 * SECOND_MS, max: 60 * SECOND_MS } },
  NextEvaluationRequest: { count: { default: 256, max: 4096 } },
  GetGroupsRequest: { group_ids: groups, wait: { max: 60 * SECOND_MS }, page_size: { default: 1024, max: 4096 } },
  ReopenGroupsRequest: { group_ids: groups },
  ReportAdvantagesRequest: { groups },
  CloseGroupsRequest: { group_ids: groups, reason: { max: 256 } },
  RateRowsRequest: { rows: { min: 1, max: 65_536 } },
  ListRowsRequest: { page_size: { default: 1024, max: 65_536 } },
  WatchRunRequest: { interval_ms: { default: 100, min: 100, max: 60 * SECOND_MS } },
  GetHistoryRequest: { page_size: { default: 1000, max: 10_000 }, merge_batches: { max: 65_536 } },
  AdvanceRequest: { arm_id: name },
  AnnotateRunRequest: { note: { max: 4096 }, add_tags: { max: 16 }, remove_tags: { max: 16 } },
  ListRunSamplesRequest: { page_size: page, arm_id: name, group_id: groupId },
  GetViolationsRequest: { arm_id: name },
  // evaluation.proto
  RescoreRequest: { arm_ids: { max: 1024 } },
  ListSuitesRequest: { page_size: page },
  CreateEvaluationRequest: { evaluation_id: id, model: { max: 256 }, samples_per_task: { default: 1, max: 1024 } },
  ListEvaluationsRequest: { page_size: page },
  ListPendingTasksRequest: { page_size: page },
  BatchSubmitCompletionsRequest: { completions: { min: 1, max: 1024 } },
  ListSamplesRequest: { page_size: page, part: id, category: id },
} as const satisfies Limits;
