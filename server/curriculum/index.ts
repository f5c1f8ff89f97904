/** The public API of the curriculum. */
export { grpo, meanAbsolute, meanAndStd, rloo } from "./advantages.ts";
export type { SampleResult } from "./events.ts";
export type { FeedbackItem, FeedbackStatus, GroupRef, ReportedAdvantages } from "./feedback.ts";
export type { BatchRecord, ControlRecord, HistoryRecord } from "./history.ts";
export type { Refusal, Result } from "./results.ts";
export type { Clock, Issued, IssueRequest, Log, Ports, TaskSource } from "./runs/ports.ts";
export type { IssuedTask, NextBatch, NextBatchRequest } from "./runs/next-batch.ts";
export { createRuns, type AppliesFrom, type Page, type Runs } from "./runs/runs.ts";
export type { ExportedRun, ImportedRun } from "./runs/transfer.ts";
export { systemClock } from "./runs/system-clock.ts";
export type { Arm, BanditPolicy, Constraints, Json, Lag, MixturePolicy, Policy, RunConfig, Source } from "./types.ts";
export { noConstraints } from "./types.ts";
export type { ArmView, RunView, StateView } from "./view.ts";
