/** Runs: every operation of the curriculum on them. Any number of processes may work on one store. */
import {
  checkConfig,
  checkParts,
  checkPolicy,
  checkRunId,
  checkWeights,
  differingField,
} from "../curriculum/check-config.ts";
import type { RunEvent } from "../curriculum/events.ts";
import {
  decideAdvantages,
  decideClose,
  type FeedbackItem,
  type FeedbackStatus,
  type GroupRef,
  type ReportedAdvantages,
} from "../curriculum/feedback.ts";
import { type Ratings, ratedEvent, type RowsRated } from "../curriculum/row-arms.ts";
import type { RowList } from "../curriculum/row-lists.ts";
import { type RowReport, rowReport } from "../curriculum/row-report.ts";
import { rowTable } from "../curriculum/row-table.ts";
import { decideReopen } from "../curriculum/groups.ts";
import { decideShape, type NewShape } from "../curriculum/shape.ts";
import { usefulGroups } from "../curriculum/batches.ts";
import type { RunState } from "../curriculum/state.ts";
import { definitionOf } from "../curriculum/policies/registry.ts";
import {
  type InstanceKey,
  notFound,
  ok,
  type Policy,
  type Refusal,
  type Result,
  type RunConfig,
} from "../curriculum/types.ts";
import { runView, type RunView, stateView, type StateView, viewOf } from "../curriculum/run-view.ts";
import { encodeChange, encodeSummary } from "./journal.ts";
import { feedbackQueue } from "./feedback-queue.ts";
import { type HistoryPart, type HistoryReading, readHistory } from "./history.ts";
import { type ListItem, listing, type Page } from "./listing.ts";
import { gone } from "./live-run.ts";
import { ofAnyChange, ofPause, ofPolicy, ofResume, ofShape, ofWeights } from "../curriculum/ineffective-changes.ts";
import { nextBatch, type NextBatch, type NextBatchRequest } from "./next-batch.ts";
import { type EvaluationBatch, evaluationKeys, type EvaluationRequest, nextEvaluation } from "./next-evaluation.ts";
import { keptMs } from "./expiry.ts";
import { type Groups, type GroupsRequest, getGroups } from "./get-groups.ts";
import type { Clock } from "../base/clock.ts";
import type { Ports } from "./dependencies.ts";
import { change, createRegistry, read, type Registry, within } from "./loaded-runs.ts";
import { exportRun, importRun, type ExportedRun, type ImportedRun } from "./export-import.ts";
import { watchRun } from "./watch.ts";

/** From which task on a control change applies. */
export interface AppliesFrom {
  readonly appliesFromCursor: number;
  /** What of it changes nothing, a sentence each. */
  readonly noEffect: readonly string[];
}

/** A run in memory. */
export interface RecentRun extends StateView {
  /** Groups of the last closed update batch that a trainer learns from; undefined: none is known. */
  readonly usefulShare: number | undefined;
}

function recentRun(state: RunState): RecentRun {
  const closed = state.batches.findLast(({ open }) => open === 0);
  const groups = closed?.groups.length ?? 0;
  const usefulShare = closed === undefined || groups === 0 ? undefined : usefulGroups(closed, state.config) / groups;
  return { ...stateView(state), usefulShare };
}

export interface Runs<Spec, Key extends InstanceKey> {
  /** Creating a run again with the same configuration gives it as it is. */
  create(
    runId: string,
    config: RunConfig<Spec>,
    /** What the rows of its arms begin with; left out: nothing. */
    rated?: readonly RowsRated[],
  ): Promise<Result<{ readonly run: RunView<Spec>; readonly created: boolean }>>;
  get(runId: string): Promise<Result<RunView<Spec>>>;
  /** The names of its incarnations, the first of which no other run of its id has. */
  incarnations(runId: string): Promise<Result<readonly string[]>>;
  /** By id; `afterId` "": from the first. */
  list(afterId: string, limit: number): Promise<Page<ListItem, string>>;
  /** As they stand in memory, so many of those that were asked for last, the last one first. They are not asked for by that. */
  recent(limit: number): Promise<readonly RecentRun[]>;
  /**
   * The last arguments of what follows: `by`, the name of whoever asks for it, for the history; left out: none is known.
   * `validateOnly`: it only says what it would do.
   */
  remove(runId: string, by?: string): Promise<Result<null>>;
  nextBatch(runId: string, request: NextBatchRequest): Promise<Result<NextBatch<Spec, Key>>>;
  /** Tasks of an evaluation arm. */
  nextEvaluation(runId: string, request: EvaluationRequest): Promise<Result<EvaluationBatch<Spec, Key>>>;
  /** The status of each item, in order. Calls at the same time are written as one. */
  recordFeedback(runId: string, items: readonly FeedbackItem[]): Promise<Result<readonly FeedbackStatus[]>>;
  reportAdvantages(runId: string, groups: readonly ReportedAdvantages[]): Promise<Result<readonly FeedbackStatus[]>>;
  closeGroups(
    runId: string,
    groups: readonly GroupRef[],
    reason: string,
    by?: string,
    validateOnly?: boolean,
  ): Promise<Result<readonly FeedbackStatus[]>>;
  reopenGroups(runId: string, groups: readonly GroupRef[], by?: string): Promise<Result<readonly FeedbackStatus[]>>;
  groups(runId: string, request: GroupsRequest): Promise<Result<Groups<Spec, Key>>>;
  updateShape(runId: string, shape: NewShape<Spec>, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  updatePolicy(runId: string, policy: Policy, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /** By arm id; arms left out keep theirs. */
  setWeights(
    runId: string,
    weights: Readonly<Record<string, number>>,
    by?: string,
    validateOnly?: boolean,
  ): Promise<Result<AppliesFrom>>;
  /** Tells pass rates of an arm's rows. */
  rateRows(runId: string, ratings: Ratings, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /** What is known of so many rows of an arm, by its index, from one on. */
  rows(runId: string, arm: number, from: number, limit: number): Promise<Result<RowReport>>;
  /** The rows of pools that a run knows. */
  lists(runId: string): Promise<Result<readonly RowList[]>>;
  /** Moves the policy on to what comes next, if it has that. */
  advance(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /**
   * Takes the arms that depend on a resource out of all runs in memory, and of those loaded later, from the next update
   * batch on that is not yet drawn; undefined: the resource is up again, and so are they.
   */
  maskArms(resource: string, reason: string | undefined): Promise<void>;
  /** How many runs were found damaged and are still there. */
  damaged(): number;
  pause(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  resume(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /** The whole state, and the newest part of the history; not authenticated. */
  export(runId: string): Promise<Result<ExportedRun>>;
  /**
   * Puts back what `export` gave, under its own id (runId undefined) or another one. A run that is there keeps its control,
   * unless `restoreControl` is set.
   */
  import(
    state: Uint8Array,
    runId: string | undefined,
    by?: string,
    restoreControl?: boolean,
  ): Promise<Result<ImportedRun<Spec, Key>>>;
  /**
   * The state now and after each change, but no sooner after one than `intervalMs`; ends when the run is deleted or `signal`
   * aborts, and after a refusal.
   */
  watch(runId: string, signal: AbortSignal, intervalMs?: number): Promise<Result<AsyncIterable<Result<StateView>>>>;
  /** From place `from` on; 0: from the start. */
  history(runId: string, from: number, limit: number, reading?: HistoryReading): Promise<Result<HistoryPart>>;
  /** Stops timers. The store is its owner's to close. */
  close(): void;
}

type Operations<Spec, Key extends InstanceKey, Names extends keyof Runs<Spec, Key>> = Pick<Runs<Spec, Key>, Names>;

function keeping<Spec, Key extends InstanceKey>(
  { store, clock, source, rows, newIncarnation, onRemoved, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
): Operations<Spec, Key, "create" | "get" | "incarnations" | "remove"> {
  type All = Runs<Spec, Key>;
  const create: All["create"] = async (runId, config, rated = []) => {
    const invalid = checkRunId(runId) ?? checkConfig(config);
    if (invalid !== undefined) return invalid;
    // A run that is there goes on, though it would not be created today.
    const short = checkParts(config, config.policy);
    if (short !== undefined && (await store.find(runId)) === undefined) return short;
    const atMs = clock.now();
    const created = { kind: "created", runId, incarnation: newIncarnation(), config, atMs } as const;
    const following = (after: RunState<Spec, Key>): readonly RunEvent<Spec, Key>[] => {
      const look = rows?.look(after);
      return look?.kind === "changed" ? look.events : [];
    };
    const change = { events: [created, ...rated], following };
    const { state, events, records } = encodeChange(undefined, change, source, atMs);
    const timeToLiveMs = keptMs(config.timeToLiveMs);
    const summary = encodeSummary(state, undefined);
    const outcome = await store.create({ id: runId, timeToLiveMs, events, records, summary });
    const run = await read(registry, runId, runView<Spec, Key>);
    if (run.kind !== "ok") return run;
    const field = differingField(run.value.config, config);
    if (field === undefined) return ok({ run: run.value, created: outcome === "created" });
    return { kind: "already_exists", field, message: `run "${runId}" exists with another ${field}` };
  };

  const remove: All["remove"] = async (runId, by) => {
    const row = await store.find(runId);
    if (row === undefined || !(await store.remove(row.key))) return notFound(runId);
    log?.info({ run: runId, by }, "a run was deleted, as a caller asked");
    await registry.forget(row.key);
    registry.damages.forget(runId);
    onRemoved?.(runId);
    return ok(null);
  };

  return {
    create,
    get: (runId) => read(registry, runId, runView<Spec, Key>),
    incarnations: (runId) => read(registry, runId, ({ incarnations }) => incarnations),
    remove,
  };
}

function feedingBack<Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  clock: Clock,
): Operations<Spec, Key, "recordFeedback" | "reportAdvantages" | "closeGroups" | "reopenGroups" | "groups"> {
  const feedback = feedbackQueue(registry);
  return {
    recordFeedback: feedback.record,
    reportAdvantages: (runId, reports) =>
      change(registry, runId, (state) => {
        if (state.config.feedbackSource !== "reported") {
          return { kind: "failed_precondition", message: "the run's feedback_source is not REPORTED" };
        }
        const { statuses, groups } = decideAdvantages(state, reports);
        return { events: groups.length > 0 ? [{ kind: "reported", groups }] : [], value: statuses };
      }),
    closeGroups: (runId, refs, reason, by, validateOnly) => {
      const decide = (state: RunState<Spec, Key>) => {
        const { statuses, cursors } = decideClose(state, refs);
        const closed = { kind: "closed", cursors, reason, cause: "" } as const;
        return { events: cursors.length > 0 ? [closed] : [], value: statuses };
      };
      return change(registry, runId, decide, by, validateOnly);
    },
    reopenGroups: (runId, refs, by) => {
      const decide = (state: RunState<Spec, Key>) => {
        const { statuses, cursors } = decideReopen(state, refs);
        const reopened = { kind: "reopened", cursors, atMs: clock.now() } as const;
        return { events: cursors.length > 0 ? [reopened] : [], value: statuses };
      };
      return change(registry, runId, decide, by);
    },
    groups: (runId, request) => within(registry, runId, ({ run }) => getGroups(run, clock, request)),
  };
}

/** The policy's state moved on, or why it cannot be. */
function advanced(state: RunState): readonly [{ kind: "advanced"; policyState: unknown }] | Refusal {
  const { policy, policyState } = state;
  const moved = definitionOf(policy).advance?.(policy.config, policyState, viewOf(state).progress);
  if (moved === undefined)
    return { kind: "failed_precondition", message: `policy "${policy.kind}" has nothing to advance to` };
  if (moved.kind === "refused") return { kind: "failed_precondition", message: moved.message };
  return [{ kind: "advanced", policyState: moved.state }];
}

/** Control changes; without events where they change nothing. */
function controlling<Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  clock: Clock,
): Operations<
  Spec,
  Key,
  "updateShape" | "updatePolicy" | "setWeights" | "rateRows" | "advance" | "pause" | "resume" | "maskArms" | "damaged"
> {
  type Asked = readonly [runId: string, by: string | undefined, validateOnly?: boolean | undefined];
  const control = (
    [runId, by, validateOnly]: Asked,
    decide: (state: RunState<Spec, Key>) => readonly RunEvent<Spec, Key>[] | Refusal,
    withoutEffect: (state: RunState<Spec, Key>) => readonly string[] = ofAnyChange,
  ): Promise<Result<AppliesFrom>> => {
    const decideAll = (state: RunState<Spec, Key>) => {
      const events = decide(state);
      if ("kind" in events) return events;
      return { events, value: { appliesFromCursor: state.cursor, noEffect: withoutEffect(state) } };
    };
    return change(registry, runId, decideAll, by, validateOnly);
  };
  return {
    updateShape: (runId, shape, by, validateOnly) =>
      control(
        [runId, by, validateOnly],
        (state) => {
          const decision = decideShape(state, shape);
          return decision.kind === "reshaped" ? [decision, ...(shape.rated ?? [])] : decision;
        },
        (state) => ofShape(state, shape),
      ),
    updatePolicy: (runId, policy, by, validateOnly) =>
      control(
        [runId, by, validateOnly],
        (state) =>
          checkPolicy({ ...state, policy }) ?? checkParts(state.config, policy) ?? [{ kind: "policyUpdated", policy }],
        (state) => ofPolicy(state, policy),
      ),
    setWeights: (runId, changed, by, validateOnly) => {
      const weightsIn = ({ config, weights: old }: RunState): readonly number[] =>
        config.arms.map(({ id }, i) => (Object.hasOwn(changed, id) ? changed[id] : old[i]) ?? 0);
      return control(
        [runId, by, validateOnly],
        (state) => {
          const weights = weightsIn(state);
          const invalid = checkWeights(state.config, changed) ?? checkPolicy({ ...state, weights });
          return invalid ?? [{ kind: "weightsSet", weights }];
        },
        (state) => ofWeights(state, changed, weightsIn(state)),
      );
    },
    rateRows: (runId, ratings, by, validateOnly) => control([runId, by, validateOnly], () => [ratedEvent(ratings)]),
    advance: (runId, by, validateOnly) => control([runId, by, validateOnly], advanced),
    maskArms: (resource, reason) => registry.maskArms(resource, reason),
    damaged: () => registry.damages.count(),
    pause: (runId, by, validateOnly) =>
      control(
        [runId, by, validateOnly],
        ({ paused }) => (paused ? [] : [{ kind: "paused", by: by ?? "", atMs: clock.now() }]),
        ofPause,
      ),
    resume: (runId, by, validateOnly) =>
      control([runId, by, validateOnly], (state) => (state.paused ? [{ kind: "resumed" }] : []), ofResume),
  };
}

export function createRuns<Spec, Key extends InstanceKey>(ports: Ports<Spec, Key>): Runs<Spec, Key> {
  const { clock } = ports;
  const registry = createRegistry(ports);
  const keys = evaluationKeys<Key>();
  return {
    ...keeping(ports, registry),
    list: listing(ports, registry),
    ...feedingBack(registry, clock),
    ...controlling(registry, clock),
    nextBatch: (runId, request) =>
      within(registry, runId, ({ run, drawing }) => nextBatch(run, drawing, ports, request)),
    nextEvaluation: (runId, request) => within(registry, runId, ({ run }) => nextEvaluation(run, ports, keys, request)),
    export: (runId) =>
      within(registry, runId, async ({ run }) => {
        const here = await run.refresh();
        if (here !== "fresh") return here;
        const exported = await exportRun(ports, run);
        // Of a run that was deleted meanwhile the history is not there to be read: that export would have none of it.
        return (await run.refresh()) === "fresh" ? ok(exported) : gone;
      }),
    history: (runId, from, limit, reading) =>
      within(registry, runId, async ({ run }) => readHistory(ports.store, run, { from, limit, ...reading })),
    rows: (runId, arm, from, limit) =>
      read(registry, runId, ({ rows }) => rowReport(rows[arm] ?? rowTable({ rows: 0, retireAfter: 0 }), from, limit)),
    import: (state, runId, by, restoreControl = false) =>
      importRun(ports, registry, state, { runId, by, restoreControl }),
    lists: (runId) => read(registry, runId, ({ lists }) => lists),
    recent: async (limit) => (await registry.recent(limit)).map((run) => recentRun(run.state())),
    watch: async (runId, signal, intervalMs) => {
      const found = await read(registry, runId, () => null);
      return found.kind === "ok" ? ok(watchRun(registry, clock, runId, signal, intervalMs)) : found;
    },
    close: () => registry.close(),
  };
}
