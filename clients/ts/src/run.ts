/** One training run, as a trainer sees it: its tasks, its feedback and its control. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "./caller.ts";
import type { ArmChoice, RunChoice } from "./choices.ts";
import type { FeedbackCounts } from "./feedback.ts";
import type {
  Arm,
  ExportRunResponse,
  GroupAdvantagesSchema,
  HistoryRecord,
  ImportRunResponse,
  NextBatchResponse,
  NextEvaluationResponse,
  Policy,
  Run,
  RunConfig,
  RunGroup,
  RunState,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Feedback } from "./outcomes.ts";
import type { PolicyChoice } from "./policies.ts";
import type { ArmRows } from "./rows.ts";
import type { RunSample, RunSamplesChoice } from "./samples.ts";

/** Which tasks to give. */
export interface BatchChoice {
  /** Position of the first task. Left out: where this handle stands, see `nextBatch`. */
  readonly cursor?: bigint | undefined;
  /** Left out: the run's prompts_per_update. */
  readonly count?: number | undefined;
  /** How long the server waits for feedback that is due before it asks to try again; left out: 10 s. */
  readonly waitMs?: number | undefined;
  /**
   * While the run is paused: "wait" (left out) waits for as long as it is, whatever the deadline and `retry` say, and says
   * once a minute who paused it; "error" fails with UNAVAILABLE and the reason "PAUSED".
   */
  readonly onPause?: "wait" | "error" | undefined;
}

/** Which tasks of an evaluation arm to give. */
export interface EvaluationRoundChoice {
  /** The evaluation arm. */
  readonly armId: string;
  /** Names the round, e.g. the trainer's step: rounds go up, and every process that says the same number works on one. */
  readonly round: bigint | number;
  /** Position of the first task in the arm's set; left out: 0. */
  readonly cursor?: bigint | undefined;
  /** Left out: 256. */
  readonly count?: number | undefined;
}

/** Which groups to give, and how. */
export interface GroupsChoice {
  /** "open"; an update batch's number, from 0; or the ids of groups. */
  readonly which: "open" | bigint | readonly string[];
  /** Whether to give their tasks too. */
  readonly tasks?: boolean | undefined;
  /** How long to wait until all of them are closed; left out: not at all. */
  readonly waitMs?: number | undefined;
}

/** What became of a group: what it did to the run. */
export interface GroupFeedback extends Feedback {
  readonly groupId: string;
}

/** A new shape of a run; what is left out stays as it is. */
export interface ShapeChoice {
  readonly addArms?: readonly (ArmChoice | Arm)[] | undefined;
  /** By id. */
  readonly removeArms?: readonly string[] | undefined;
  readonly numGenerations?: number | undefined;
  readonly promptsPerUpdate?: number | undefined;
  /** 0: no end. */
  readonly length?: bigint | undefined;
  readonly policy?: PolicyChoice | Policy | undefined;
}

/** How a change of a run goes. */
export interface ControlOptions extends CallOptions {
  /** Told what of the change changes nothing that is drawn, a sentence each; of a change that does all it says, nothing. */
  readonly onNoEffect?: ((words: readonly string[]) => void) | undefined;
  /** Only says what the change would do, and changes nothing. */
  readonly validateOnly?: boolean | undefined;
}

/** How an exported state is put back. */
export interface ImportOptions extends CallOptions {
  /** Takes the control from the export too, in place of the control that the run has now; for operators. */
  readonly restoreControl?: boolean | undefined;
}

/** How a run is watched. */
export interface WatchOptions extends CallOptions {
  /** Milliseconds from one state to the next at least, 100 to 60,000, with the changes in between as one; left out: 100. */
  readonly intervalMs?: number | undefined;
}

/** How a history is told: of a long run, or of one of many arms, it need not be all of it. */
export interface HistoryOptions extends CallOptions {
  /** Makes one record of so many successive update batches, at most 65,536: sums and means over them; left out: of each. */
  readonly mergeBatches?: number | undefined;
  /** Leaves out `probabilities`, `values` and `counts` of update batches. */
  readonly withoutArms?: boolean | undefined;
  /**
   * Joins arms: for each arm, in the state's order, the number of its group, from 0 and below how many arms are named.
   * `probabilities`, `values` and `counts` of update batches are then by group: values are means over its arms, the others
   * sums. Arms behind the end of it are in none. Left out: each arm by itself.
   */
  readonly armGroups?: readonly number[] | undefined;
}

/** One training run. */
export interface RunHandle {
  readonly runId: string;
  /** How many scores did what to the run, as far as this client has seen; those of tasks that name their run. */
  feedbackCounts(): FeedbackCounts;
  /** Creates the run, or gives it as it is if it is there with the same configuration. */
  create(choice: RunChoice | RunConfig, options?: CallOptions): Promise<Run>;
  get(options?: CallOptions): Promise<Run>;
  /** Deletes the run; the handle stands at the beginning of another run of its id. */
  delete(options?: CallOptions): Promise<void>;
  /**
   * The next tasks; waits for feedback that is due until the deadline (left out: 10 min), and for a paused run without one.
   * The position is kept here, and
   * moves on only when the tasks have arrived, so that a lost reply costs none. A new handle begins at the first update
   * batch that is not closed; a cursor that is given leaves its position as it is. A handle is one reader: every handle of
   * a run is given the same tasks.
   */
  nextBatch(choice?: BatchChoice, options?: CallOptions): Promise<NextBatchResponse>;
  /**
   * Batches one after another until the run's end. Starts at `cursor`; left out: where the handle stands, so that a
   * trainer that died goes on where it stood.
   */
  batches(choice?: BatchChoice, options?: CallOptions): AsyncGenerator<NextBatchResponse, void, undefined>;
  /**
   * Tasks of an evaluation arm, the same in every round. Their completions are scored like others, shown in the run's state
   * and history, and never learnt from.
   */
  nextEvaluation(choice: EvaluationRoundChoice, options?: CallOptions): Promise<NextEvaluationResponse>;
  /** Feeds advantages that the trainer computed (feedbackSource "reported"). */
  reportAdvantages(
    groups: readonly MessageInitShape<typeof GroupAdvantagesSchema>[],
    options?: CallOptions,
  ): Promise<readonly GroupFeedback[]>;
  /** Closes groups whose completions will not come. */
  closeGroups(groupIds: readonly string[], reason?: string, options?: CallOptions): Promise<readonly GroupFeedback[]>;
  /**
   * Groups with what is known of them: "open" ones with their missing samples, those of an update batch, or those named.
   * With `waitMs`, at most 60 s, they are waited for until they are closed; what is known then is given in any case.
   */
  groups(which: GroupsChoice, options?: CallOptions): Promise<readonly RunGroup[]>;
  /** Opens groups again that were closed before they were whole. */
  reopenGroups(groupIds: readonly string[], options?: CallOptions): Promise<readonly GroupFeedback[]>;
  /** What is known of the rows of an arm with a curriculum over them, in their order. */
  rows(armId: string, options?: CallOptions): Promise<ArmRows>;
  /**
   * Tells pass rates of rows of an arm, by row (of a pool its number in the file): what is known of them in place of what
   * the run knew, each worth `samples` (left out: 8). Gives the cursor that it applies from. `poolDigest`: of the pool that
   * the rows are numbered by, left out that of the rates that `readRates` read; the server refuses those of another pool,
   * and those without a digest once the pool has changed.
   */
  rateRows(
    armId: string,
    rates: ReadonlyMap<number, number>,
    samples?: number,
    options?: Omit<ControlOptions, "onNoEffect"> & { readonly poolDigest?: string },
  ): Promise<bigint>;
  /** Changes arms, generations, prompts or length; gives the cursor that it applies from. */
  updateShape(shape: ShapeChoice, options?: ControlOptions): Promise<bigint>;
  /** Puts a policy in place of the run's; gives the cursor that it applies from, as do the calls below. */
  updatePolicy(policy: PolicyChoice | Policy, options?: ControlOptions): Promise<bigint>;
  /** Sets the weights of arms by id; arms left out keep theirs. */
  setWeights(weights: Readonly<Record<string, number>>, options?: ControlOptions): Promise<bigint>;
  /** Moves a staged policy on. */
  advance(options?: ControlOptions): Promise<bigint>;
  /** Stops issuing update batches. */
  pause(options?: ControlOptions): Promise<bigint>;
  /** Issues update batches again. */
  resume(options?: ControlOptions): Promise<bigint>;
  /** The whole state as bytes, with its epoch and cursor. */
  export(options?: CallOptions): Promise<ExportRunResponse>;
  /**
   * Puts an exported state back under this handle's id. Its outstanding tasks are issued again: ids from before the import
   * count no more. The handle goes on at the first update batch that is not closed. A run that is there keeps its control
   * (pause, weights, policy, arms, sizes), unless restoreControl is set.
   */
  import(state: Uint8Array, options?: ImportOptions): Promise<ImportRunResponse>;
  /** The state now and after each change, until the run is deleted. */
  watch(options?: WatchOptions): AsyncGenerator<RunState, void, undefined>;
  /**
   * Completions that the run keeps, the newest first; none where the server keeps none (--keep-samples). Each page is asked
   * for when it is wanted.
   */
  samples(choice?: RunSamplesChoice): AsyncGenerator<RunSample, void, undefined>;
  /** Deletes the completions that the run keeps. */
  deleteSamples(options?: CallOptions): Promise<void>;
  /** Update batches, rounds of evaluation and control changes, in the order they happened. */
  history(options?: HistoryOptions): Promise<readonly HistoryRecord[]>;
}
