/** One training run: its tasks, its feedback and its control. */
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Caller } from "./caller.ts";
import { armOf, policyOf, runConfigOf } from "./choices.ts";
import type { ArmChoice, PolicyChoice, RunChoice } from "./choices.ts";
import { CurriculumService } from "./gen/gradus/v1/curriculum_pb.js";
import type {
  ExportRunResponse,
  GroupAdvantagesSchema,
  GroupFeedback,
  HistoryRecord,
  ImportRunResponse,
  NextBatchResponse,
  Run,
  RunGroup,
  RunState,
} from "./gen/gradus/v1/curriculum_pb.js";
import { allPages, present } from "./reply.ts";
import { asked, never, passing } from "./retry.ts";

/** Which tasks to give. */
export interface BatchChoice {
  /**
   * Position of the first task. Left out: the first that was never issued; a lost reply then loses its tasks, so the
   * call is sent again only if the server says that it did nothing.
   */
  readonly cursor?: bigint | undefined;
  /** Left out: the run's prompts_per_update. */
  readonly count?: number | undefined;
  /** How long the server waits for feedback that is due before it asks to try again; left out: 10 s. */
  readonly waitMs?: number | undefined;
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

/** A new shape of a run; what is left out stays as it is. */
export interface ShapeChoice {
  readonly addArms?: readonly ArmChoice[] | undefined;
  /** By id. */
  readonly removeArms?: readonly string[] | undefined;
  readonly numGenerations?: number | undefined;
  readonly promptsPerUpdate?: number | undefined;
  /** 0: no end. */
  readonly length?: bigint | undefined;
  readonly policy?: PolicyChoice | undefined;
}

/** One training run. */
export interface RunHandle {
  readonly runId: string;
  /** Creates the run, or gives it as it is if it is there with the same configuration. */
  create(choice: RunChoice, options?: CallOptions): Promise<Run>;
  get(options?: CallOptions): Promise<Run>;
  delete(options?: CallOptions): Promise<void>;
  /** The tasks from a cursor on; waits for feedback that is due until the deadline (left out: 10 min). */
  nextBatch(choice?: BatchChoice, options?: CallOptions): Promise<NextBatchResponse>;
  /**
   * Batches one after another until the run's end. Starts at `cursor`; left out: at the first update batch that is not
   * closed, so that a trainer that died goes on where it stood.
   */
  batches(choice?: BatchChoice, options?: CallOptions): AsyncGenerator<NextBatchResponse, void, undefined>;
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
  /** Changes arms, generations, prompts or length; gives the cursor that it applies from. */
  updateShape(shape: ShapeChoice, options?: CallOptions): Promise<bigint>;
  /** Puts a policy in place of the run's; gives the cursor that it applies from, as do the calls below. */
  updatePolicy(policy: PolicyChoice, options?: CallOptions): Promise<bigint>;
  /** Sets the weights of arms by id; arms left out keep theirs. */
  setWeights(weights: Readonly<Record<string, number>>, options?: CallOptions): Promise<bigint>;
  /** Moves a staged policy on. */
  advance(options?: CallOptions): Promise<bigint>;
  /** Stops issuing update batches. */
  pause(options?: CallOptions): Promise<bigint>;
  /** Issues update batches again. */
  resume(options?: CallOptions): Promise<bigint>;
  /** The whole state as bytes, with its epoch and cursor. */
  export(options?: CallOptions): Promise<ExportRunResponse>;
  /**
   * Puts an exported state back under this handle's id. Its outstanding tasks are issued again: ids from before the import
   * count no more.
   */
  import(state: Uint8Array, options?: CallOptions): Promise<ImportRunResponse>;
  /** The state now and after each change, until the run is deleted. */
  watch(options?: CallOptions): AsyncGenerator<RunState, void, undefined>;
  /** All update batches and control changes, in the order they happened. */
  history(options?: CallOptions): Promise<readonly HistoryRecord[]>;
}

const nextBatchDeadlineMs = 600_000;
const { method } = CurriculumService;

type Tasks = Pick<RunHandle, "create" | "get" | "delete" | "nextBatch" | "batches">;
type FeedbackCalls = Pick<RunHandle, "reportAdvantages" | "closeGroups" | "groups" | "reopenGroups">;
type Control = Pick<RunHandle, "updateShape" | "updatePolicy" | "setWeights" | "advance" | "pause" | "resume">;
type Records = Pick<RunHandle, "export" | "import" | "watch" | "history">;

function tasks({ unary }: Caller, runId: string): Tasks {
  const get: RunHandle["get"] = async (options) => present((await unary(method.getRun, { runId }, options)).run, "run");
  const nextBatch: RunHandle["nextBatch"] = ({ cursor, count, waitMs } = {}, options = {}) =>
    unary(
      method.nextBatch,
      {
        runId,
        count: count ?? 0,
        ...(cursor === undefined ? {} : { cursor }),
        ...(waitMs === undefined ? {} : { wait: durationFromMs(waitMs) }),
      },
      { ...options, deadlineMs: options.deadlineMs ?? nextBatchDeadlineMs },
      cursor === undefined ? asked : passing,
    );
  return {
    get,
    nextBatch,
    create: async (choice, options) =>
      present((await unary(method.createRun, { runId, config: runConfigOf(choice) }, options)).run, "run"),
    // Not sent again: after a lost reply it would answer NOT_FOUND.
    delete: async (options) => void (await unary(method.deleteRun, { runId }, options, never)),
    async *batches(choice = {}, options) {
      let cursor = choice.cursor ?? firstOpen(await get(options));
      for (;;) {
        const batch = await nextBatch({ ...choice, cursor }, options);
        if (batch.tasks.length > 0) yield batch;
        if (batch.done) return;
        cursor = batch.nextCursor;
      }
    },
  };
}

/** The cursor of the first update batch that is not closed. */
function firstOpen(run: Run): bigint {
  return present(run.state, "state").firstOpenCursor;
}

function feedback({ unary }: Caller, runId: string): FeedbackCalls {
  return {
    reportAdvantages: async (groups, options) =>
      (await unary(method.reportAdvantages, { runId, groups: [...groups] }, options)).groups,
    closeGroups: async (groupIds, reason = "", options) =>
      (await unary(method.closeGroups, { runId, groupIds: [...groupIds], reason }, options)).groups,
    groups: ({ which, tasks = false, waitMs }, options) =>
      allPages(
        (pageToken) =>
          unary(
            method.getGroups,
            {
              ...{ runId, tasks, pageToken, ...wanted(which) },
              ...(waitMs === undefined ? {} : { wait: durationFromMs(waitMs) }),
            },
            options,
          ),
        (page) => page.groups,
      ),
    // Sent again it answers DUPLICATE, which says as much.
    reopenGroups: async (groupIds, options) =>
      (await unary(method.reopenGroups, { runId, groupIds: [...groupIds] }, options)).groups,
  };
}

function wanted(which: GroupsChoice["which"]) {
  if (which === "open") return { open: true };
  return typeof which === "bigint" ? { updateBatch: which } : { groupIds: [...which] };
}

function control({ unary }: Caller, runId: string): Control {
  const from = async (reply: Promise<{ readonly appliesFromCursor: bigint }>): Promise<bigint> =>
    (await reply).appliesFromCursor;
  return {
    // Not sent again: after a lost reply its arms would be there already.
    updateShape: ({ addArms = [], removeArms = [], policy, ...numbers }, options) => {
      const arms = { addArms: addArms.map(armOf), removeArms: [...removeArms] };
      const shape = { runId, ...arms, ...numbers, ...(policy && { policy: policyOf(policy) }) };
      return from(unary(method.updateShape, shape, options, never));
    },
    updatePolicy: (policy, options) => from(unary(method.updatePolicy, { runId, policy: policyOf(policy) }, options)),
    setWeights: (weights, options) => from(unary(method.setWeights, { runId, weights: { ...weights } }, options)),
    advance: (options) => from(unary(method.advance, { runId }, options, never)),
    pause: (options) => from(unary(method.pause, { runId }, options)),
    resume: (options) => from(unary(method.resume, { runId }, options)),
  };
}

function records({ unary, follow }: Caller, runId: string): Records {
  return {
    export: (options) => unary(method.exportRun, { runId }, options),
    // Not sent again: after a lost reply another id would be taken, and in place it would open another epoch.
    import: (state, options) => unary(method.importRun, { state, runId }, options, never),
    async *watch(options) {
      for await (const { state } of follow(method.watchRun, { runId }, options)) yield present(state, "state");
    },
    history: (options) =>
      allPages(
        (pageToken) => unary(method.getHistory, { runId, pageToken }, options),
        (page) => page.records,
      ),
  };
}

/** The run of an id, over a caller. */
export function runHandle(caller: Caller, runId: string): RunHandle {
  return {
    runId,
    ...tasks(caller, runId),
    ...feedback(caller, runId),
    ...control(caller, runId),
    ...records(caller, runId),
  };
}
