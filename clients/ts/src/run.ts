/** One training run: its tasks, its feedback and its control. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Caller } from "./caller.ts";
import { armOf, runConfigOf } from "./choices.ts";
import type { ArmChoice, RunChoice } from "./choices.ts";
import { NEXT_BATCH_DEADLINE_MS } from "./defaults.ts";
import { asGradusError } from "./errors.ts";
import type { FeedbackCounts } from "./feedback.ts";
import { policyOf, type PolicyChoice } from "./policies.ts";
import { CurriculumService, GetGroupsRequestSchema, NextBatchRequestSchema } from "./gen/gradus/v1/curriculum_pb.js";
import type {
  Arm,
  ExportRunResponse,
  GroupAdvantagesSchema,
  GroupFeedback as GroupFeedbackMessage,
  HistoryRecord,
  ImportRunResponse,
  NextBatchResponse,
  NextEvaluationResponse,
  Policy,
  Run,
  RunConfig,
  RunGroup,
  RunState,
} from "./gen/gradus/v1/curriculum_pb.js";
import { feedbackOf } from "./outcomes.ts";
import type { Feedback } from "./outcomes.ts";
import { allPages, eachOfPages, present } from "./reply.ts";
import { asked } from "./retry.ts";
import { type ArmRows, joinRows } from "./rows.ts";
import { filterOf, runSampleOf } from "./samples.ts";
import type { RunSample, RunSamplesChoice } from "./samples.ts";
import type { Attempt } from "./transport.ts";

/** Which tasks to give. */
export interface BatchChoice {
  /** Position of the first task. Left out: where this handle stands, see `nextBatch`. */
  readonly cursor?: bigint | undefined;
  /** Left out: the run's prompts_per_update. */
  readonly count?: number | undefined;
  /** How long the server waits for feedback that is due before it asks to try again; left out: 10 s. */
  readonly waitMs?: number | undefined;
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
   * The next tasks; waits for feedback that is due until the deadline (left out: 10 min). The position is kept here, and
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
   * the run knew, each worth `samples` (left out: 8). Gives the cursor that it applies from.
   */
  rateRows(
    armId: string,
    rates: ReadonlyMap<number, number>,
    samples?: number,
    options?: Omit<ControlOptions, "onNoEffect">,
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
   * count no more. The handle goes on at the first update batch that is not closed.
   */
  import(state: Uint8Array, options?: CallOptions): Promise<ImportRunResponse>;
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

const { method } = CurriculumService;

type Tasks = Pick<RunHandle, "create" | "get" | "delete" | "nextBatch" | "batches" | "nextEvaluation">;
type FeedbackCalls = Pick<RunHandle, "reportAdvantages" | "closeGroups" | "groups" | "reopenGroups">;
type Control = Pick<RunHandle, "updateShape" | "updatePolicy" | "setWeights" | "advance" | "pause" | "resume">;
type Rows = Pick<RunHandle, "rows" | "rateRows">;
type Records = Pick<RunHandle, "export" | "import" | "watch" | "samples" | "deleteSamples" | "history">;

/** Where the next batch of a handle begins; undefined: at the first update batch that is not closed. */
interface Position {
  at: bigint | undefined;
}

const SERVER_WAIT_MS = 10_000;

/** The server is to answer before the call's time is over, for its answer says what is waited for. */
function waitWithin(waitMs: number, { timeoutMs = Infinity }: Attempt): Duration {
  return durationFromMs(Math.floor(Math.min(waitMs, Math.max(0, Math.min(timeoutMs * 0.8, timeoutMs - 200)))));
}

function tasks({ unary, attempting, transport }: Caller, runId: string, position: Position): Tasks {
  const get: RunHandle["get"] = async (options) => present((await unary(method.getRun, { runId }, options)).run, "run");
  const batchAt = (cursor: bigint, { count = 0, waitMs = SERVER_WAIT_MS }: BatchChoice, options: CallOptions) =>
    attempting(
      (attempt) => {
        const wait = waitWithin(waitMs, attempt);
        return transport.unary(
          method.nextBatch,
          create(NextBatchRequestSchema, { runId, cursor, count, wait }),
          attempt,
        );
      },
      { ...options, deadlineMs: options.deadlineMs ?? NEXT_BATCH_DEADLINE_MS },
    );
  const nextBatch: RunHandle["nextBatch"] = async (choice = {}, options = {}) => {
    if (choice.cursor !== undefined) return batchAt(choice.cursor, choice, options);
    position.at ??= firstOpen(await get(options));
    const batch = await batchAt(position.at, choice, options);
    position.at = batch.nextCursor;
    return batch;
  };
  return {
    get,
    nextBatch,
    nextEvaluation: ({ armId, round, cursor, count }, options) =>
      unary(
        method.nextEvaluation,
        { runId, armId, round: BigInt(round), cursor: cursor ?? 0n, count: count ?? 0 },
        options,
      ),
    create: async (choice, options) =>
      present((await unary(method.createRun, { runId, config: runConfigOf(choice) }, options)).run, "run"),
    // Sent again only where the server says that it did nothing: after a lost reply it would answer NOT_FOUND.
    delete: async (options) => {
      try {
        await unary(method.deleteRun, { runId }, options, asked);
      } catch (error) {
        // By another process, or by this call, whose reply was lost.
        if (asGradusError(error).code === "NOT_FOUND") position.at = undefined;
        throw error;
      }
      position.at = undefined;
    },
    async *batches({ cursor, ...choice } = {}, options) {
      position.at = cursor ?? position.at;
      for (;;) {
        const batch = await nextBatch(choice, options);
        if (batch.tasks.length > 0) yield batch;
        if (batch.done) return;
      }
    },
  };
}

/** The cursor of the first update batch that is not closed. */
function firstOpen(run: Run): bigint {
  return present(run.state, "state").firstOpenCursor;
}

function feedback({ unary, attempting, deadlineMsOf, transport }: Caller, runId: string): FeedbackCalls {
  return {
    reportAdvantages: async (groups, options) =>
      (await unary(method.reportAdvantages, { runId, groups: [...groups] }, options)).groups.map(groupFeedbackOf),
    closeGroups: async (groupIds, reason = "", options) =>
      (await unary(method.closeGroups, { runId, groupIds: [...groupIds], reason }, options)).groups.map(
        groupFeedbackOf,
      ),
    groups: ({ which, tasks = false, waitMs }, options) => {
      const deadlineMs = options?.deadlineMs ?? deadlineMsOf() + Math.max(0, waitMs ?? 0);
      const request = { runId, tasks, ...wanted(which) };
      const ask = (pageToken: string) =>
        attempting(
          (attempt) => {
            const wait = waitMs === undefined ? {} : { wait: waitWithin(waitMs, attempt) };
            return transport.unary(
              method.getGroups,
              create(GetGroupsRequestSchema, { ...request, pageToken, ...wait }),
              attempt,
            );
          },
          { ...options, deadlineMs },
        );
      return allPages(ask, (page) => page.groups);
    },
    // Sent again it answers DUPLICATE, which says as much.
    reopenGroups: async (groupIds, options) =>
      (await unary(method.reopenGroups, { runId, groupIds: [...groupIds] }, options)).groups.map(groupFeedbackOf),
  };
}

function groupFeedbackOf({ groupId, feedback }: GroupFeedbackMessage): GroupFeedback {
  return { groupId, ...feedbackOf(present(feedback, "feedback of a group")) };
}

function wanted(which: GroupsChoice["which"]) {
  if (which === "open") return { open: true };
  return typeof which === "bigint" ? { updateBatch: which } : { groupIds: [...which] };
}

const only = ({ validateOnly = false }: ControlOptions = {}) => ({ validateOnly });

function control({ unary }: Caller, runId: string): Control {
  const from = async (
    reply: Promise<{ readonly appliesFromCursor: bigint; readonly noEffect: readonly string[] }>,
    options: ControlOptions | undefined,
  ): Promise<bigint> => {
    const { appliesFromCursor, noEffect } = await reply;
    if (noEffect.length > 0) options?.onNoEffect?.(noEffect);
    return appliesFromCursor;
  };
  return {
    // Sent again only where the server says that it did nothing: after a lost reply its arms would be there already.
    updateShape: ({ addArms = [], removeArms = [], policy, ...numbers }, options) => {
      const arms = { addArms: addArms.map(armOf), removeArms: [...removeArms] };
      const shape = { runId, ...arms, ...numbers, ...(policy && { policy: policyOf(policy) }), ...only(options) };
      return from(unary(method.updateShape, shape, options, asked), options);
    },
    updatePolicy: (policy, options) =>
      from(unary(method.updatePolicy, { runId, policy: policyOf(policy), ...only(options) }, options), options),
    setWeights: (weights, options) =>
      from(unary(method.setWeights, { runId, weights: { ...weights }, ...only(options) }, options), options),
    advance: (options) => from(unary(method.advance, { runId, ...only(options) }, options, asked), options),
    pause: (options) => from(unary(method.pause, { runId, ...only(options) }, options), options),
    resume: (options) => from(unary(method.resume, { runId, ...only(options) }, options), options),
  };
}

function records({ unary, follow }: Caller, runId: string, position: Position): Records {
  return {
    export: (options) => unary(method.exportRun, { runId }, options),
    // Sent again only where the server says that it did nothing: after a lost reply another id would be taken, and in
    // place it would open another epoch.
    import: async (state, options) => {
      const imported = await unary(method.importRun, { state, runId }, options, asked);
      position.at = firstOpen(present(imported.run, "run"));
      return imported;
    },
    async *watch({ intervalMs = 0, ...options } = {}) {
      for await (const { state } of follow(method.watchRun, { runId, intervalMs }, options))
        yield present(state, "state");
    },
    samples: (choice = {}) => {
      const { armId = "", groupId = "", tasks = false, brief = false, pageSize = 0, ...rest } = choice;
      const { deadlineMs, signal, ...filter } = rest;
      const request = { runId, armId, groupId, tasks, brief, pageSize, filter: filterOf(filter) };
      return eachOfPages(
        (pageToken) => unary(method.listRunSamples, { ...request, pageToken }, { deadlineMs, signal }),
        (page) => page.samples.map(runSampleOf),
      );
    },
    deleteSamples: async (options) => void (await unary(method.deleteRunSamples, { runId }, options)),
    history: ({ mergeBatches = 0, withoutArms = false, armGroups = [], ...options } = {}) => {
      const told = { runId, mergeBatches, withoutArms, armGroups: [...armGroups] };
      return allPages(
        (pageToken) => unary(method.getHistory, { ...told, pageToken }, options),
        (page) => page.records,
      );
    },
  };
}

/** Rates in one call. */
const RATES_MAX = 65_536;

function rows({ unary }: Caller, runId: string): Rows {
  return {
    rows: async (armId, options) => {
      const page = (pageToken: string) =>
        unary(method.listRows, { runId, armId, pageSize: RATES_MAX, pageToken }, options);
      return joinRows(await allPages(page, (each) => [each]));
    },
    rateRows: async (armId, rates, samples, { validateOnly = false, ...options } = {}) => {
      const all = [...rates].map(([row, passRate]) => ({ row, passRate }));
      let from = 0n;
      for (let i = 0; i === 0 || i < all.length; i += RATES_MAX) {
        const some = all.slice(i, i + RATES_MAX);
        const told = { runId, armId, rows: some, validateOnly, ...(samples !== undefined && { samples }) };
        from = (await unary(method.rateRows, told, options)).appliesFromCursor;
      }
      return from;
    },
  };
}

/** The run of an id, over a caller. */
export function runHandle(caller: Caller, runId: string): RunHandle {
  const position: Position = { at: undefined };
  return {
    runId,
    feedbackCounts: () => caller.feedback.counts(runId),
    ...tasks(caller, runId, position),
    ...feedback(caller, runId),
    ...control(caller, runId),
    ...records(caller, runId, position),
    ...rows(caller, runId),
  };
}
