/** Makes the calls of a run's handle. */
import type { RowRates } from "./rates.ts";
import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import type { CallOptions, Caller } from "./caller.ts";
import { armOf, growthOf, runConfigOf } from "./choices.ts";
import { NEXT_BATCH_DEADLINE_MS } from "./defaults.ts";
import { asGradusError } from "./errors.ts";
import {
  CurriculumService,
  GetGroupsRequestSchema,
  type GroupFeedback as GroupFeedbackMessage,
  NextBatchRequestSchema,
  type Run,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { feedbackOf } from "./outcomes.ts";
import { isPaused, pauseNotice } from "./pauses.ts";
import { policyOf } from "./policies.ts";
import { allPages, eachOfPages, present } from "./reply.ts";
import { asked, passing } from "./retry.ts";
import { joinRows } from "./rows.ts";
import type { BatchChoice, ControlOptions, GroupFeedback, GroupsChoice, RunHandle } from "./run.ts";
import { filterOf, runSampleOf } from "./samples.ts";
import type { Attempt } from "./transport.ts";

const { method } = CurriculumService;

type Tasks = Pick<RunHandle, "create" | "get" | "delete" | "nextBatch" | "batches" | "nextEvaluation">;
type FeedbackCalls = Pick<RunHandle, "reportAdvantages" | "closeGroups" | "groups" | "reopenGroups">;
type Control = Pick<
  RunHandle,
  "updateShape" | "updatePolicy" | "setWeights" | "advance" | "pause" | "resume" | "annotate"
>;
type Rows = Pick<RunHandle, "rows" | "rateRows">;
type Records = Pick<RunHandle, "export" | "import" | "watch" | "samples" | "violations" | "deleteSamples" | "history">;

/** Cursor of the handle's next batch. Undefined means the first update batch that is not closed. */
interface Position {
  at: bigint | undefined;
}

const SERVER_WAIT_MS = 10_000;

/**
 * Returns how long the server may wait for feedback before it answers. It must answer before the call's deadline,
 * because its answer says what it waits for.
 */
function waitWithin(waitMs: number, { timeoutMs = Infinity }: Attempt): Duration {
  return durationFromMs(Math.floor(Math.min(waitMs, Math.max(0, Math.min(timeoutMs * 0.8, timeoutMs - 200)))));
}

function tasks({ unary, attempting, transport }: Caller, runId: string, position: Position): Tasks {
  const get: RunHandle["get"] = async (options) => present((await unary(method.getRun, { runId }, options)).run, "run");
  const batchAt = (cursor: bigint, choice: BatchChoice, options: CallOptions) => {
    const { count = 0, waitMs = SERVER_WAIT_MS, onPause = "wait" } = choice;
    const throughPause = onPause === "wait" ? pauseNotice(runId) : undefined;
    return attempting(
      (attempt) => {
        const wait = waitWithin(waitMs, attempt);
        return transport.unary(
          method.nextBatch,
          create(NextBatchRequestSchema, { runId, cursor, count, wait }),
          attempt,
        );
      },
      { ...options, deadlineMs: options.deadlineMs ?? NEXT_BATCH_DEADLINE_MS, throughPause },
      (error) => passing(error) && !isPaused(error),
    );
  };
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
    // Retry only if the server says that it did nothing. After a lost reply, a retry would fail with NOT_FOUND.
    delete: async (options) => {
      try {
        await unary(method.deleteRun, { runId }, options, asked);
      } catch (error) {
        // Forget the handle's position, because the run is gone: another process deleted it, or this call did before
        // its reply was lost.
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

/** Returns the cursor of the first update batch that is not closed. */
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
    // Allow retries: if the first call succeeded, the retry gets the status "duplicate" and changes nothing.
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
    // Retry only if the server says that it did nothing. After a lost reply, the new arms would already exist.
    updateShape: ({ addArms = [], removeArms = [], growArms = {}, policy, ...numbers }, options) => {
      const grown = Object.fromEntries(Object.entries(growArms).map(([id, growth]) => [id, growthOf(growth)]));
      const arms = { addArms: addArms.map(armOf), removeArms: [...removeArms], growArms: grown };
      const shape = { runId, ...arms, ...numbers, ...(policy && { policy: policyOf(policy) }), ...only(options) };
      return from(unary(method.updateShape, shape, options, asked), options);
    },
    updatePolicy: (policy, options) =>
      from(unary(method.updatePolicy, { runId, policy: policyOf(policy), ...only(options) }, options), options),
    setWeights: (weights, options) =>
      from(unary(method.setWeights, { runId, weights: { ...weights }, ...only(options) }, options), options),
    advance: ({ armId = "", ...options } = {}) =>
      from(unary(method.advance, { runId, armId, ...only(options) }, options, asked), options),
    pause: (options) => from(unary(method.pause, { runId, ...only(options) }, options), options),
    resume: (options) => from(unary(method.resume, { runId, ...only(options) }, options), options),
    annotate: async ({ note, addTags = [], removeTags = [] }, options) => {
      const change = { ...(note !== undefined && { note }), addTags: [...addTags], removeTags: [...removeTags] };
      const reply = await unary(method.annotateRun, { runId, ...change, ...only(options) }, options);
      if (reply.noEffect.length > 0) options?.onNoEffect?.(reply.noEffect);
      return { note: reply.note, tags: reply.tags };
    },
  };
}

function records({ unary, follow }: Caller, runId: string, position: Position): Records {
  return {
    export: (options) => unary(method.exportRun, { runId }, options),
    // Retry only if the server says that it did nothing. After a lost reply, a retry would import the state a second
    // time.
    import: async (state, options) => {
      const imported = await unary(
        method.importRun,
        { state, runId, restoreControl: options?.restoreControl ?? false },
        options,
        asked,
      );
      position.at = firstOpen(present(imported.run, "run"));
      return imported;
    },
    async *watch({ intervalMs = 0, ...options } = {}) {
      for await (const { state } of follow(method.watchRun, { runId, intervalMs }, options))
        yield present(state, "state");
    },
    samples: (choice = {}) => {
      const { armId = "", groupId = "", tasks = false, brief = false, pageSize = 0, ...rest } = choice;
      const { updateBatch, deadlineMs, signal, ...filter } = rest;
      const ofBatch = updateBatch !== undefined && { updateBatch };
      const request = { runId, armId, groupId, ...ofBatch, tasks, brief, pageSize, filter: filterOf(filter) };
      return eachOfPages(
        (pageToken) => unary(method.listRunSamples, { ...request, pageToken }, { deadlineMs, signal }),
        (page) => page.samples.map(runSampleOf),
      );
    },
    violations: (armId = "", options) => unary(method.getViolations, { runId, armId }, options),
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

/** Maximum number of pass rates in one call. */
const RATES_MAX = 65_536;

function rows({ unary }: Caller, runId: string): Rows {
  return {
    rows: async (armId, options) => {
      const page = (pageToken: string) =>
        unary(method.listRows, { runId, armId, pageSize: RATES_MAX, pageToken }, options);
      return joinRows(await allPages(page, (each) => [each]));
    },
    rateRows: async (armId, rates, samples, { validateOnly = false, poolDigest, ...options } = {}) => {
      const all = [...rates].map(([row, passRate]) => ({ row, passRate }));
      let from = 0n;
      for (let i = 0; i === 0 || i < all.length; i += RATES_MAX) {
        const some = all.slice(i, i + RATES_MAX);
        const of = poolDigest ?? (rates as RowRates).poolDigest ?? "";
        const told = {
          runId,
          armId,
          rows: some,
          validateOnly,
          poolDigest: of,
          ...(samples !== undefined && { samples }),
        };
        from = (await unary(method.rateRows, told, options)).appliesFromCursor;
      }
      return from;
    },
  };
}

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
