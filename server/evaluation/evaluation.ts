/** Types of evaluations, shared by this folder and the RPC handlers. */
import type { Thinking } from "../../envs/answers/locate.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { EvaluationStore, Holds, SamplePlace } from "../stores/evaluation-store.ts";
import type { AsyncScorer } from "../tasks/scoring/async-scorer.ts";
import type { Maker } from "../tasks/making/make.ts";
import type { SampleResult } from "../tasks/scoring/results.ts";
import type { Scorer } from "../tasks/scoring/scorer.ts";
import type { Conversation } from "../samples/conversation.ts";
import type { SampleFilter } from "../samples/sample-filter.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MadeTask } from "../tasks/task.ts";
import type { Suite, SuiteDefinition, SuiteSources } from "./open-suite.ts";
import type { SuiteTasks } from "./suite-tasks.ts";

/** Settings of an evaluation, chosen by the client that creates it. They are stored as JSON. */
export interface EvaluationChoice {
  readonly suite: string;
  /** Version of the suite. 0 in a request: the newest. */
  readonly suiteVersion: number;
  readonly samplesPerTask: number;
  readonly model: string;
  /** Answer format of all tasks. Undefined: each environment's default. */
  readonly answerFormat?: AnswerFormat;
  /** How much of its thoughts a completion contains, for all tasks. Undefined: "required", i.e. all of them. */
  readonly thinking?: Thinking;
}

export interface Evaluation extends EvaluationChoice {
  readonly id: string;
  /**
   * Time of creation, in milliseconds since the Unix epoch. Undefined: an older server created the evaluation without
   * storing a time.
   */
  readonly createdAtMs: number | undefined;
  readonly samplesTotal: number;
  readonly samplesScored: number;
}

/**
 * Evaluation in a list. If this server cannot read an evaluation, the list has its id and settings, with the reason.
 */
export type ListedEvaluation =
  | { readonly kind: "evaluation"; readonly evaluation: Evaluation }
  | { readonly kind: "unreadable"; readonly id: string; readonly choice: EvaluationChoice; readonly message: string };

export interface EvaluationPage {
  readonly items: readonly ListedEvaluation[];
  /** Id after which the next page begins. Undefined: this is the last page. */
  readonly next: string | undefined;
}

/** Stored evaluation with its opened suite. `key` is the key under which the store has the evaluation. */
export interface OpenEvaluation extends EvaluationChoice {
  readonly id: string;
  readonly createdAtMs: number | undefined;
  readonly key: number;
  readonly of: Suite;
}

export interface PendingTask {
  readonly ordinal: number;
  readonly spec: TaskSpec;
  readonly task: MadeTask;
  /** Indices of the task's missing samples. */
  readonly indices: readonly number[];
}

export interface PendingPage {
  readonly tasks: readonly PendingTask[];
  /**
   * Number, in the suite, of the last task of this page. The next page begins after it. Undefined: this is the last
   * page.
   */
  readonly next: number | undefined;
}

export interface Sample extends SamplePlace {
  readonly spec: TaskSpec;
  readonly task: MadeTask;
  readonly completion: string;
  readonly conversation: Conversation;
  readonly result: SampleResult;
  /** Whether the client said that the completion was cut off at its maximum length. */
  readonly isCut: boolean;
  readonly part: string;
  readonly category: string;
}

/**
 * Result of a sample as it is stored, in JSON, with the key that the client gave the sample. `isCut` is set if the
 * client said that the completion was cut off at its maximum length.
 */
export type StoredResult = SampleResult & Conversation & { readonly key?: string; readonly isCut?: true };

/** Filter for samples. An empty text field matches any value. */
export interface SampleQuery {
  readonly after: SamplePlace;
  readonly limit: number;
  readonly filter: SampleFilter;
  readonly part: string;
  readonly category: string;
  readonly instanceHash: string;
}

export interface SamplePage {
  readonly samples: readonly Sample[];
  readonly next: SamplePlace | undefined;
}

export interface EvaluationDeps {
  readonly store: EvaluationStore;
  readonly holds: Holds;
  readonly maker: Maker;
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
  readonly registry: Registry;
  readonly sources?: SuiteSources;
  readonly suites: readonly SuiteDefinition[];
  /** Returns the time in milliseconds since the Unix epoch, for the creation time of an evaluation. */
  readonly now: () => number;
}

/** Dependencies that all functions for evaluations share, together with the suites' tasks. */
export interface Context extends EvaluationDeps {
  readonly tasks: SuiteTasks;
}
