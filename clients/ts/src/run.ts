/** Types of a training run: its tasks, its feedback and its control. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "./caller.ts";
import type { ArmChoice, GrowthChoice, RunChoice } from "./choices.ts";
import type { FeedbackCounts } from "./feedback.ts";
import type {
  Arm,
  ExportRunResponse,
  GetViolationsResponse,
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

export interface BatchChoice {
  /** Position of the first task in the run, in tasks from 0. Defaults to the handle's position (see `nextBatch`). */
  readonly cursor?: bigint | undefined;
  /** Number of tasks. Defaults to the run's prompts_per_update. */
  readonly count?: number | undefined;
  /** Milliseconds that the server waits for missing feedback before it asks the client to retry. Defaults to 10 s. */
  readonly waitMs?: number | undefined;
  /**
   * Action while the run is paused. "wait" (the default) waits until the run is resumed, regardless of the deadline and
   * of `retry`, and logs once a minute who paused it. "error" fails with UNAVAILABLE and the reason "PAUSED".
   */
  readonly onPause?: "wait" | "error" | undefined;
}

/** Options of nextEvaluation. */
export interface EvaluationRoundChoice {
  readonly armId: string;
  /**
   * Number of the round, e.g. the trainer's step. Numbers must increase. All processes with the same number work on one
   * round.
   */
  readonly round: bigint | number;
  /** Position of the first task in the arm's set. Defaults to 0. */
  readonly cursor?: bigint | undefined;
  /** Number of tasks. Defaults to 256. */
  readonly count?: number | undefined;
}

/** Options of `RunHandle.groups`. */
export interface GroupsChoice {
  /** Groups to return: "open" ones, those of the update batch with this index (from 0), or those with these ids. */
  readonly which: "open" | bigint | readonly string[];
  /** Whether to include the tasks. Defaults to false. */
  readonly tasks?: boolean | undefined;
  /** Milliseconds to wait until all of the groups are closed. Defaults to 0. */
  readonly waitMs?: number | undefined;
}

/** Result of feedback on a group: whether the run recorded it. */
export interface GroupFeedback extends Feedback {
  readonly groupId: string;
}

/** Change of a run's arms, sizes or policy. Fields that are left out stay as they are. */
export interface ShapeChoice {
  readonly addArms?: readonly (ArmChoice | Arm)[] | undefined;
  readonly removeArms?: readonly string[] | undefined;
  readonly numGenerations?: number | undefined;
  readonly promptsPerUpdate?: number | undefined;
  /** Number of tasks to train on. 0 means that the run has no end. */
  readonly length?: bigint | undefined;
  readonly policy?: PolicyChoice | Policy | undefined;
  /** New growth of arms that grow, by arm id. Only the cap (the greatest value) may change, and it may only rise. */
  readonly growArms?: Readonly<Record<string, GrowthChoice>> | undefined;
}

/** Options of calls that change a run. */
export interface ControlOptions extends CallOptions {
  /**
   * Callback for parts of the change that have no effect on draws, with a sentence for each. Not called if every part
   * has an effect.
   */
  readonly onNoEffect?: ((words: readonly string[]) => void) | undefined;
  /** Whether the server only reports the effect of the change and changes nothing. Defaults to false. */
  readonly validateOnly?: boolean | undefined;
}

/** Change of a run's note and tags. Fields that are left out stay as they are. */
export interface AnnotationChoice {
  /** New note, at most 4,096 bytes. Empty: the run has no note any more. */
  readonly note?: string | undefined;
  /** Tags to add, each of at most 32 characters. A run may have 16. */
  readonly addTags?: readonly string[] | undefined;
  readonly removeTags?: readonly string[] | undefined;
}

/** Note and tags with which people describe a run. */
export interface Annotation {
  readonly note: string;
  /** Tags, sorted. */
  readonly tags: readonly string[];
}

/** Options of `RunHandle.import`. */
export interface ImportOptions extends CallOptions {
  /**
   * Whether the export's control (pause, weights, policy, arms and sizes) replaces that of the run. Defaults to false.
   * For operators.
   */
  readonly restoreControl?: boolean | undefined;
}

/** Options of `RunHandle.watch`. */
export interface WatchOptions extends CallOptions {
  /**
   * Minimum time between two states in milliseconds, 100 to 60,000. Several changes in between arrive as one state.
   * Defaults to 100.
   */
  readonly intervalMs?: number | undefined;
}

/** Options of history, which shorten the history of a long run or of a run with many arms. */
export interface HistoryOptions extends CallOptions {
  /**
   * Number of successive update batches that are merged into one record of sums and means, at most 65,536. Defaults to
   * 1.
   */
  readonly mergeBatches?: number | undefined;
  /** Whether to leave out `probabilities`, `values` and `counts` of update batches. Defaults to false. */
  readonly withoutArms?: boolean | undefined;
  /**
   * Index of the group that each arm belongs to, from 0, in the order of the arms in the state. The figures of a
   * group's arms are combined: `values` of update batches are then means over the group, and `probabilities` and
   * `counts` are sums. An index must be below the length of this list. Arms beyond its end are left out. By default
   * each arm is its own group.
   */
  readonly armGroups?: readonly number[] | undefined;
}

/** Handle of one training run. */
export interface RunHandle {
  readonly runId: string;
  /**
   * Returns the number of the run's scores by feedback status, as seen by this client. Only tasks that name their run
   * count.
   */
  feedbackCounts(): FeedbackCounts;
  /** Creates the run, or returns it if it exists with the same configuration. */
  create(choice: RunChoice | RunConfig, options?: CallOptions): Promise<Run>;
  get(options?: CallOptions): Promise<Run>;
  /** Deletes the run. The handle then starts at the beginning of a new run with the same id. */
  delete(options?: CallOptions): Promise<void>;
  /**
   * Returns the next tasks. Waits for missing feedback until the deadline (10 min by default), and for a paused run
   * without limit. The handle keeps the position and moves it on only when the tasks have arrived, so a lost reply
   * skips no task. A new handle begins at the first update batch that is not closed. A given cursor leaves the position
   * unchanged. Each handle is an independent reader: all handles of a run get the same tasks.
   */
  nextBatch(choice?: BatchChoice, options?: CallOptions): Promise<NextBatchResponse>;
  /**
   * Yields batches until the run's end. Starts at `cursor`, which defaults to the handle's position. A restarted
   * trainer therefore goes on at the first update batch that is not closed.
   */
  batches(choice?: BatchChoice, options?: CallOptions): AsyncGenerator<NextBatchResponse, void, undefined>;
  /**
   * Returns tasks of an evaluation arm, which are the same in every round. Their completions are scored like others and
   * appear in the run's state and history. No policy learns from them.
   */
  nextEvaluation(choice: EvaluationRoundChoice, options?: CallOptions): Promise<NextEvaluationResponse>;
  /** Reports advantages that the trainer computed, for a run with the feedbackSource "reported". */
  reportAdvantages(
    groups: readonly MessageInitShape<typeof GroupAdvantagesSchema>[],
    options?: CallOptions,
  ): Promise<readonly GroupFeedback[]>;
  /** Closes groups whose completions will not arrive, so that the run does not wait for them. */
  closeGroups(groupIds: readonly string[], reason?: string, options?: CallOptions): Promise<readonly GroupFeedback[]>;
  /**
   * Returns groups with their results. These are open groups with their missing samples, the groups of an update batch,
   * or groups with given ids. With `waitMs` (at most 60 s) the call waits until all of them are closed, and returns
   * their current state when the time is over.
   */
  groups(which: GroupsChoice, options?: CallOptions): Promise<readonly RunGroup[]>;
  /** Reopens groups that were closed while completions were missing, so that the run accepts these. */
  reopenGroups(groupIds: readonly string[], options?: CallOptions): Promise<readonly GroupFeedback[]>;
  /**
   * Returns the pass rates that the run knows of an arm's rows, in the order of the rows. The arm must choose rows by
   * pass rates.
   */
  rows(armId: string, options?: CallOptions): Promise<ArmRows>;
  /**
   * Sets pass rates of an arm's rows, by row number (in a pool: the number in its file). They replace the rates that
   * the run knew of these rows. Each rate is worth `samples` samples (8 by default). Returns the cursor from which the
   * rates apply. `poolDigest` is the digest of the pool that numbers the rows. It defaults to that of rates from
   * `readRates`. The server refuses the digest of another pool, and rates without a digest once the pool has changed.
   */
  rateRows(
    armId: string,
    rates: ReadonlyMap<number, number>,
    samples?: number,
    options?: Omit<ControlOptions, "onNoEffect"> & { readonly poolDigest?: string },
  ): Promise<bigint>;
  /**
   * Changes the run's arms, completions per prompt, prompts per update, or length. Returns the cursor from which the
   * change applies.
   */
  updateShape(shape: ShapeChoice, options?: ControlOptions): Promise<bigint>;
  /** Replaces the run's policy. Returns the cursor (a position in tasks) from which the new policy applies. */
  updatePolicy(policy: PolicyChoice | Policy, options?: ControlOptions): Promise<bigint>;
  /** Sets the weights of arms by id. Other arms keep their weights. Returns the cursor from which the weights apply. */
  setWeights(weights: Readonly<Record<string, number>>, options?: ControlOptions): Promise<bigint>;
  /**
   * Moves the policy to its next stage or tier, or with `armId` opens the next level of an arm that grows. Returns the
   * cursor from which the change applies.
   */
  advance(options?: ControlOptions & { readonly armId?: string | undefined }): Promise<bigint>;
  /** Pauses the run: the server issues no further update batches. Returns the first cursor that is not issued. */
  pause(options?: ControlOptions): Promise<bigint>;
  /** Ends a pause of the run. Returns the first cursor that is issued again. */
  resume(options?: ControlOptions): Promise<bigint>;
  /** Changes the note and the tags of the run, which affect no draw. Returns the new note and tags. */
  annotate(change: AnnotationChoice, options?: ControlOptions): Promise<Annotation>;
  /** Returns the run's whole state as bytes, with its epoch and cursor. */
  export(options?: CallOptions): Promise<ExportRunResponse>;
  /**
   * Restores an exported state under this handle's id. The server issues unfinished tasks again; task ids from before
   * the import no longer count. The handle goes on at the first update batch that is not closed. An existing run keeps
   * its control (pause, weights, policy, arms, sizes), unless restoreControl is set.
   */
  import(state: Uint8Array, options?: ImportOptions): Promise<ImportRunResponse>;
  /** Yields the current state, and the state after each change, until the run is deleted. */
  watch(options?: WatchOptions): AsyncGenerator<RunState, void, undefined>;
  /**
   * Yields the completions that the run keeps (on a server with --keep-samples), the newest first. Each page is
   * requested when the reader needs it.
   */
  samples(choice?: RunSamplesChoice): AsyncGenerator<RunSample, void, undefined>;
  /**
   * Returns counts of what is wrong with the run's completions, and signs that the policy exploits its reward. With an
   * arm's id, returns that arm alone, in full, with counts for each stretch of the run. The server counts only while it
   * keeps completions.
   */
  violations(armId?: string, options?: CallOptions): Promise<GetViolationsResponse>;
  /** Deletes the completions that the run keeps, and the counts of violations. */
  deleteSamples(options?: CallOptions): Promise<void>;
  /** Returns update batches, rounds of evaluation and control changes, in the order in which they happened. */
  history(options?: HistoryOptions): Promise<readonly HistoryRecord[]>;
}
