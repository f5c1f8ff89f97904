/** Runs: every operation of the curriculum on them. Any number of processes may work on one store. */
import { checkConfig, checkPolicy, checkRunId, checkWeights, differingField } from "../core/config.ts";
import type { RunEvent } from "../core/events.ts";
import {
  decideAdvantages,
  decideClose,
  type FeedbackItem,
  type FeedbackStatus,
  type GroupRef,
  type ReportedAdvantages,
} from "../core/feedback.ts";
import { type ListedRun, recordMissing, StoreDamaged } from "../../stores/store.ts";
import { type Ratings, ratedEvent, type RowsRated } from "../core/row-arms.ts";
import { type RowReport, rowReport } from "../core/row-report.ts";
import { rowTable } from "../core/row-table.ts";
import { decideReopen } from "../core/groups.ts";
import { decideShape, type NewShape } from "../core/shape.ts";
import { usefulGroups } from "../core/batches.ts";
import type { RunState } from "../core/state.ts";
import { definitionOf } from "../policies/registry.ts";
import {
  type InstanceKey,
  notFound,
  ok,
  type Policy,
  type Refusal,
  type Result,
  type RunConfig,
} from "../core/types.ts";
import { type HistoryEntry, openRecords } from "../core/history.ts";
import { runView, type RunView, stateView, type StateView, viewOf } from "../core/view.ts";
import { type HistoryPlace, leadingTo, recordReader } from "./history-records.ts";
import { decodeSummary, encodeChange, encodeSummary, type ListedView, readState } from "./journal.ts";
import { feedbackQueue } from "./feedback-queue.ts";
import { historyPage, missingRecord } from "./history-page.ts";
import { gone, serial } from "./live-run.ts";
import { ofAnyChange, ofPause, ofPolicy, ofResume, ofShape, ofWeights } from "../core/no-effect.ts";
import { nextBatch, type NextBatch, type NextBatchRequest } from "./next-batch.ts";
import { type EvaluationBatch, evaluationKeys, type EvaluationRequest, nextEvaluation } from "./evaluating.ts";
import { keptMs } from "./expiry.ts";
import { type Groups, type GroupsRequest, getGroups } from "./groups.ts";
import type { Clock, Ports } from "./ports.ts";
import { change, createRegistry, read, type Registry, unreadable, within } from "./registry.ts";
import { exportRun, importRun, type ExportedRun, type ImportedRun } from "./transfer.ts";
import { nextTurn } from "./turns.ts";
import { watchRun } from "./watch.ts";

/** From which task on a control change applies. */
export interface AppliesFrom {
  readonly appliesFromCursor: number;
  /** What of it changes nothing, a sentence each. */
  readonly noEffect: readonly string[];
}

/** A page of a list; `next`: where the next page starts; undefined: this is the last. */
export interface Page<Item, Next> {
  readonly items: readonly Item[];
  readonly next: Next | undefined;
}

/** An entry of the history, and where it stands. */
export type PlacedEntry = HistoryEntry & {
  readonly seq: number;
  /** It stays as it is, but for an import. */
  readonly isSettled: boolean;
};

/** How a history is read. */
export interface HistoryReading {
  /**
   * Left out, or true: a page has no more records than an answer holds where all of them are told with what they have by
   * arm; false: as many as are asked for, if they are small as stored.
   */
  readonly isToldWhole?: boolean;
  /** False: update batches have nothing by arm, and are read sooner. */
  readonly isByArm?: boolean;
  /** What is told of each entry. Left out: all of it. */
  readonly asTold?: ((entry: HistoryEntry) => HistoryEntry) | undefined;
  /** Where the page before ended: what this one's records go on from is not looked for again. */
  readonly place?: HistoryPlace | undefined;
}

export interface HistoryPart extends Page<PlacedEntry, number> {
  /** Undefined: this is the last page. */
  readonly place: HistoryPlace | undefined;
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

/** A run of a list; one that cannot be read stands there with why, so that the others are listed. */
export type ListItem =
  | { readonly kind: "run"; readonly view: ListedView }
  | { readonly kind: "unreadable"; readonly runId: string; readonly message: string };

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
  /** Moves the policy on to what comes next, if it has that. */
  advance(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /**
   * Takes the arms that depend on a resource out of all runs in memory, and of those loaded later, from the next update
   * batch on that is not yet drawn; undefined: the resource is up again, and so are they.
   */
  maskArms(resource: string, reason: string | undefined): Promise<void>;
  pause(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  resume(runId: string, by?: string, validateOnly?: boolean): Promise<Result<AppliesFrom>>;
  /** The whole state, and the newest part of the history; not authenticated. */
  export(runId: string): Promise<Result<ExportedRun>>;
  /** Puts back what `export` gave, under its own id (runId undefined) or another one. */
  import(state: Uint8Array, runId: string | undefined, by?: string): Promise<Result<ImportedRun<Spec, Key>>>;
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
  { store, clock, source, newIncarnation, onRemoved, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
): Operations<Spec, Key, "create" | "get" | "incarnations" | "remove" | "history"> {
  type All = Runs<Spec, Key>;
  const create: All["create"] = async (runId, config, rated = []) => {
    const invalid = checkRunId(runId) ?? checkConfig(config);
    if (invalid !== undefined) return invalid;
    const atMs = clock.now();
    const created = { kind: "created", runId, incarnation: newIncarnation(), config, atMs } as const;
    const { state, events, records } = encodeChange(undefined, { events: [created, ...rated] }, source, atMs);
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
    onRemoved?.(runId);
    return ok(null);
  };

  const history: All["history"] = (
    runId,
    from,
    limit,
    { isToldWhole = true, isByArm = true, asTold = (entry: HistoryEntry): HistoryEntry => entry, place } = {},
  ) =>
    within<HistoryPart, Spec, Key>(registry, runId, async ({ run }) => {
      // Another has its name by now: its records are none of those that follow.
      if (place !== undefined && place.key !== run.key) return notFound(runId);
      // Where it goes on, it is told as the run was when it was begun.
      if (place === undefined && !(await run.refresh())) return gone;
      const state = run.state();
      const armCount = isToldWhole ? state.config.arms.length : 0;
      const { placed, next } = await historyPage(store, run.key, { from, limit, armCount });
      const missing = missingRecord(state, placed, from, next);
      if (missing !== undefined) {
        // Of a run that was deleted meanwhile they are gone.
        if (!(await run.refresh())) return gone;
        throw recordMissing(missing);
      }
      const open = openRecords(state);
      const goesOn = place !== undefined && place.next === from && place.isByArm === isByArm;
      const readRecord = goesOn ? place.readRecord : recordReader(isByArm);
      if (isByArm && !goesOn) for (const { body } of await leadingTo(placed, store, run.key)) readRecord(body);
      const items = placed.map(({ seq, body }) => {
        const written = readRecord(body);
        const now = open(seq);
        const rolledBack = state.rolledBack.some(([first, last]) => first <= seq && seq <= last);
        // At once, so that what is not told of many arms does not add up.
        return { ...asTold({ ...(now ?? written), rolledBack }), seq, isSettled: now === undefined };
      });
      return ok({ items, next, place: next === undefined ? undefined : { key: run.key, next, isByArm, readRecord } });
    });

  return {
    create,
    get: (runId) => read(registry, runId, runView<Spec, Key>),
    incarnations: (runId) => read(registry, runId, ({ incarnations }) => incarnations),
    remove,
    history,
  };
}

/** Runs that are listed before others have their turn: a few milliseconds. */
const LISTED_TOGETHER = 16;

function listing<Spec, Key extends InstanceKey>(
  { store, clock, source, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
): Operations<Spec, Key, "list"> {
  // One list at a time, so that many of them together take no more of the event loop than one.
  const inTurn = serial();
  const list: Runs<Spec, Key>["list"] = (afterId, limit) =>
    inTurn(async () => {
      const { runs: rows, more } = await store.list(afterId, limit);
      const items: ListItem[] = [];
      for (const [i, row] of rows.entries()) {
        if (i % LISTED_TOGETHER === LISTED_TOGETHER - 1) await nextTurn(clock);
        try {
          const view = await listed(row);
          if (view !== undefined) items.push({ kind: "run", view });
        } catch (error) {
          items.push({ kind: "unreadable", runId: row.id, message: unreadable(row.id, error).message });
        }
      }
      return { items, next: more ? rows.at(-1)?.id : undefined };
    });
  /** From its summary; where that does not hold, as it is in memory; else from its journal, and the summary is mended. */
  const listed = async (row: ListedRun): Promise<ListedView | undefined> => {
    const summary = decodeSummary(row);
    if (summary?.runId === row.id) return summary;
    const live = await registry.inMemory(row.id);
    if (live?.key === row.key && live.state().version === row.version) return runView(live.state());
    const state = await readState(store, row, source, clock);
    if (state === undefined) return undefined;
    const mended = {
      expectedVersion: state.version,
      events: [],
      records: [],
      summary: encodeSummary(state, undefined),
    };
    // Another server that is quicker writes one of its own; and where it cannot be written, the list is right without it.
    await store.append(row.key, mended).catch((err: unknown) => {
      if (!(err instanceof StoreDamaged)) throw err;
      log?.warn({ err, run: row.id }, "the summary of a run cannot be mended");
    });
    return runView(state);
  };
  return { list };
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
        const closed = { kind: "closed", cursors, reason } as const;
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
): Operations<
  Spec,
  Key,
  "updateShape" | "updatePolicy" | "setWeights" | "rateRows" | "advance" | "pause" | "resume" | "maskArms"
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
        ({ config, weights }) => checkPolicy({ config, policy, weights }) ?? [{ kind: "policyUpdated", policy }],
        (state) => ofPolicy(state, policy),
      ),
    setWeights: (runId, changed, by, validateOnly) => {
      const weightsIn = ({ config, weights: old }: RunState): readonly number[] =>
        config.arms.map((arm, i) => changed[arm.id] ?? old[i] ?? 0);
      return control(
        [runId, by, validateOnly],
        (state) => {
          const { config, policy } = state;
          const weights = weightsIn(state);
          const invalid = checkWeights(config, changed) ?? checkPolicy({ config, policy, weights });
          return invalid ?? [{ kind: "weightsSet", weights }];
        },
        (state) => ofWeights(state, changed, weightsIn(state)),
      );
    },
    rateRows: (runId, ratings, by, validateOnly) => control([runId, by, validateOnly], () => [ratedEvent(ratings)]),
    advance: (runId, by, validateOnly) => control([runId, by, validateOnly], advanced),
    maskArms: (resource, reason) => registry.maskArms(resource, reason),
    pause: (runId, by, validateOnly) =>
      control([runId, by, validateOnly], (state) => (state.paused ? [] : [{ kind: "paused" }]), ofPause),
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
    ...listing(ports, registry),
    ...feedingBack(registry, clock),
    ...controlling(registry),
    nextBatch: (runId, request) =>
      within(registry, runId, ({ run, drawing }) => nextBatch(run, drawing, clock, request)),
    nextEvaluation: (runId, request) => within(registry, runId, ({ run }) => nextEvaluation(run, ports, keys, request)),
    export: (runId) =>
      within(registry, runId, async ({ run }) => {
        if (!(await run.refresh())) return gone;
        const exported = await exportRun(ports, run);
        // Of a run that was deleted meanwhile the history is not there to be read: that export would have none of it.
        return (await run.refresh()) ? ok(exported) : gone;
      }),
    rows: (runId, arm, from, limit) =>
      read(registry, runId, ({ rows }) => rowReport(rows[arm] ?? rowTable({ rows: 0, retireAfter: 0 }), from, limit)),
    import: (state, runId, by) => importRun(ports, registry, state, { runId, by }),
    recent: async (limit) => (await registry.recent(limit)).map((run) => recentRun(run.state())),
    watch: async (runId, signal, intervalMs) => {
      const found = await read(registry, runId, () => null);
      return found.kind === "ok" ? ok(watchRun(registry, clock, runId, signal, intervalMs)) : found;
    },
    close: () => registry.close(),
  };
}
