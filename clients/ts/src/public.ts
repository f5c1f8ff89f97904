/** What both entries of the package give beside `createClient`. */
export type { CallOptions, ClientDefaults } from "./caller.ts";
export { answerFormatNames, sourceNames, splitNames, thinkingNames } from "./choices.ts";
export type {
  AnswerFormatName,
  ArmChoice,
  SampleChoice,
  DynamicSamplingChoice,
  GroupChoice,
  PolicyChoice,
  RewardSchemeChoice,
  RunChoice,
  Seed,
  SourceName,
  SplitName,
  TaskChoice,
  TaskRef,
  ThinkingName,
} from "./choices.ts";
export { rewardOf } from "./client.ts";
export type { GradusClient } from "./client.ts";
export type { CompletionChoice, EvaluationChoice, EvaluationHandle, ListOptions } from "./evaluation.ts";
export { GradusError } from "./errors.ts";
export type { ConnectionMistake, GradusCode } from "./errors.ts";
export type { BatchChoice, GroupsChoice, RunHandle, ShapeChoice } from "./run.ts";
export type { StepResult, StreamOptions } from "./stream-steps.ts";
export type { Items } from "./windowed.ts";
export * from "./gen/gradus/v1/curriculum_pb.js";
export * from "./gen/gradus/v1/environment_pb.js";
export * from "./gen/gradus/v1/evaluation_pb.js";
export * from "./gen/gradus/v1/outcome_pb.js";
export * from "./gen/gradus/v1/task_pb.js";
