/** Types of evaluations, which the other files of this folder and the RPC handlers share. */
import type { Thinking } from "../../envs/answers/locate.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { Registry } from "../../envs/registry.ts";
import type { EvaluationStore, Holds, SamplePlace } from "../stores/evaluation-store.ts";
import type { AsyncScorer } from "../tasks/scoring/async-scorer.ts";
import type { Maker } from "../tasks/making/make.ts";
import type { SampleResult, Scorer } from "../tasks/scoring/scorer.ts";
import type { SampleFilter } from "../samples/sample-filter.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MadeTask } from "../tasks/task.ts";
import type { Suite, SuiteDefinition, SuiteSources } from "./open-suite.ts";
import type { SuiteTasks } from "./suite-tasks.ts";

/** Choices that fix an evaluation, in plain JSON. */
export interface EvaluationChoice {
  readonly suite: string;
  /** 0 in a request: the newest. */
  readonly suiteVersion: number;
  readonly samplesPerTask: number;
  readonly model: string;
  /** Undefined: each environment's default. */
  readonly answerFormat?: AnswerFormat;
  /** Undefined: thinking is required. */
  readonly thinking?: Thinking;
}

export interface Evaluation extends EvaluationChoice {
  readonly id: string;
  /** Milliseconds since the Unix epoch; undefined: an older server created the evaluation and stored no time. */
  readonly createdAtMs: number | undefined;
  readonly samplesTotal: number;
  readonly samplesScored: number;
}

/** An entry of a list; an evaluation that this server cannot read is listed with the reason. */
export type ListedEvaluation =
  | { readonly kind: "evaluation"; readonly evaluation: Evaluation }
  | { readonly kind: "unreadable"; readonly id: string; readonly choice: EvaluationChoice; readonly message: string };

export interface EvaluationPage {
  readonly items: readonly ListedEvaluation[];
  /** The id after which the next page begins; undefined: this is the last. */
  readonly next: string | undefined;
}

/** An evaluation and its suite, as operations on it need them. */
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
  /** Indices of the missing samples. */
  readonly indices: readonly number[];
}

export interface PendingPage {
  readonly tasks: readonly PendingTask[];
  /** The ordinal after which the next page begins; undefined: this is the last. */
  readonly next: number | undefined;
}

export interface Sample extends SamplePlace {
  readonly spec: TaskSpec;
  readonly task: MadeTask;
  readonly completion: string;
  readonly result: SampleResult;
  readonly part: string;
  readonly category: string;
}

/** A query for samples; "" in a text field matches any. */
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
  /** Milliseconds since the Unix epoch, for the time at which an evaluation is created. */
  readonly now: () => number;
}

/** Dependencies that the files of this folder share. */
export interface Context extends EvaluationDeps {
  readonly tasks: SuiteTasks;
}
