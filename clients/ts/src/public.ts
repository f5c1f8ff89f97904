/** Exports that both entries of the package (gRPC and web) share, apart from `createClient`. */
export type { CallOptions, ClientDefaults } from "./caller.ts";
export { answerFormatNames, sourceNames, splitNames, thinkingNames } from "./choices.ts";
export type {
  AnswerFormatName,
  ArmChoice,
  EvaluationArmChoice,
  FinishReasonName,
  GrowthChoice,
  SampleChoice,
  DynamicSamplingChoice,
  GroupChoice,
  RescoreChoice,
  RewardSchemeChoice,
  RunChoice,
  Seed,
  SourceName,
  SplitName,
  TaskChoice,
  TaskRef,
  ThinkingName,
} from "./choices.ts";
export type { GradusClient, StepChoice } from "./client.ts";
export type {
  CompletionChoice,
  EvaluationChoice,
  EvaluationHandle,
  Hold,
  ListOptions,
  Sample,
  SamplesChoice,
  Submitted,
} from "./evaluation.ts";
export { GradusError } from "./errors.ts";
export type { ConnectionMistake, GradusCode } from "./errors.ts";
export { FeedbackError } from "./feedback.ts";
export type { FeedbackCounts, OnFeedback } from "./feedback.ts";
export { lengthAxis, lengthFigure, lengthWords } from "./lengths.ts";
export type { LengthAxis, LengthFigure } from "./lengths.ts";
export { rewardOf } from "./outcomes.ts";
export type {
  AnswerSpan,
  Feedback,
  FeedbackStatusName,
  GroupOutcome,
  NoRewardReasonName,
  Outcome,
  ProofName,
  ScoredOutcome,
  UnscoredOutcome,
  VerdictName,
} from "./outcomes.ts";
export { meanReward, orderPairs, pairSolvers, pairTasks, rewardGap, solversOf } from "./task-pairs.ts";
export type { PairOrder, PairSample, PairSide, PairSolvers, TaskPair } from "./task-pairs.ts";
export type {
  ArmWeights,
  BanditChoice,
  CompetenceChoice,
  FilterChoice,
  ForgettingChoice,
  FrontierChoice,
  PolicyChoice,
  RankChoice,
  ReplayChoice,
  StageChoice,
  StagedChoice,
} from "./policies.ts";
export type { PeopleCalls, SimulationChoice, SolveChoice, TextChoice, TriedAnswer } from "./people.ts";
export { readRates, type RowRates } from "./rates.ts";
export { recommended } from "./recommended.ts";
export type { EpisodePosition, PlayedEpisode, PolicyTurn, RolloutOptions } from "./rollout.ts";
export type { ArmRows, RowChoice } from "./rows.ts";
export { binWords, signWords } from "./violations.ts";
export type {
  BatchChoice,
  Annotation,
  AnnotationChoice,
  ControlOptions,
  ImportOptions,
  EvaluationRoundChoice,
  GroupFeedback,
  GroupsChoice,
  HistoryOptions,
  RunHandle,
  ShapeChoice,
  WatchOptions,
} from "./run.ts";
export type { RunSamplesChoice, RunSample as KeptSample, SampleFilterChoice } from "./samples.ts";
export type { StepResult, StreamOptions } from "./stream-steps.ts";
export type { TurnChoice } from "./turns.ts";
export type { Items } from "./windowed.ts";
export * from "../../../proto/gen/gradus/v1/curriculum_pb.js";
export * from "../../../proto/gen/gradus/v1/environment_pb.js";
export * from "../../../proto/gen/gradus/v1/evaluation_pb.js";
export * from "../../../proto/gen/gradus/v1/outcome_pb.js";
export * from "../../../proto/gen/gradus/v1/task_pb.js";
