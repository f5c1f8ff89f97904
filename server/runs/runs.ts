/** Operations on runs, for the RPC handlers. Several servers may work on the same store. */
import {
  checkConfig,
  checkParts,
  checkPolicy,
  checkRunId,
  checkWeights,
  differingField,
} from "../curriculum/check-config.ts";
import type { RunEvent } from "../curriculum/events.ts";
import { decideAdvantages, decideClose, type GroupRef, type ReportedAdvantages } from "../curriculum/feedback.ts";
import { type Ratings, ratedEvent, type RowsRated } from "../curriculum/row-arms.ts";
import { rowReport } from "../curriculum/row-report.ts";
import { rowTable } from "../curriculum/row-table.ts";
import { type ComparedDraw, createComparison, unrecordedValue } from "../curriculum/compare-policy.ts";
import { decideReopen } from "../curriculum/groups.ts";
import { decideShape, type NewShape } from "../curriculum/decide-shape.ts";
import { usefulGroups } from "../curriculum/batches.ts";
import type { RunState } from "../curriculum/state.ts";
import { definitionOf } from "../curriculum/policies/registry.ts";
import { levelCount } from "../curriculum/growth.ts";
import {
  type InstanceKey,
  invalid,
  notFound,
  ok,
  type Policy,
  type Refusal,
  type Result,
  type RunConfig,
} from "../curriculum/types.ts";
import { runView, type RunView, stateView, type StateView, viewOf } from "../curriculum/run-view.ts";
import { encodeChange, encodeSummary, readSteps } from "./journal.ts";
import { preparation } from "./drawing.ts";
import { feedbackQueue } from "./feedback-queue.ts";
import { type HistoryReading, readHistory } from "./history.ts";
import { listing } from "./listing.ts";
import { gone } from "./live-run.ts";
import { type Annotation, decideAnnotation } from "../curriculum/annotations.ts";
import { ofAnyChange, ofPause, ofPolicy, ofResume, ofShape, ofWeights } from "../curriculum/ineffective-changes.ts";
import { nextBatch, type NextBatchRequest } from "./next-batch.ts";
import { evaluationKeys, type EvaluationRequest, nextEvaluation } from "./next-evaluation.ts";
import { keptMs } from "./expiry.ts";
import { type GroupsRequest, getGroups } from "./get-groups.ts";
import type { Clock } from "../base/clock.ts";
import type { Ports } from "./dependencies.ts";
import { change, createRegistry, read, type Registry, within } from "./loaded-runs.ts";
import { exportRun, importRun } from "./export-import.ts";
import { watchRun } from "./watch.ts";

/**
 * Effect of a control change, e.g. of new weights: the first task that it can affect, and the parts of it that affect
 * nothing.
 */
export interface AppliesFrom {
  readonly appliesFromCursor: number;
  /** Warnings about parts of the change that affect no draw, one sentence each. */
  readonly noEffect: readonly string[];
}

/** State of a run that is in memory, for metrics and lists. */
export interface RecentRun extends StateView {
  /**
   * Share of useful groups in the last update batch whose groups are all closed. A group is useful if an update can
   * learn from it. Undefined: not known.
   */
  readonly usefulShare: number | undefined;
}

function recentRun(state: RunState): RecentRun {
  const closed = state.batches.findLast(({ open }) => open === 0);
  const groups = closed?.groups.length ?? 0;
  const usefulShare = closed === undefined || groups === 0 ? undefined : usefulGroups(closed, state.config) / groups;
  return { ...stateView(state), usefulShare };
}

/**
 * Operations on runs. In each, `by` is the name of the caller's token, for the history. With `validateOnly`, nothing is
 * written, and the result is the same as if the operation were done.
 */
export type Runs<Spec, Key extends InstanceKey> = ReturnType<typeof createRuns<Spec, Key>>;

function keeping<Spec, Key extends InstanceKey>(
  { store, clock, source, rows, newIncarnation, onRemoved, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
) {
  const prepare = preparation<Spec, Key>(clock);
  /** Creates a run. `rated` are pass rates of its arms' data rows that the client gave. */
  const create = async (
    runId: string,
    config: RunConfig<Spec>,
    rated: readonly RowsRated[] = [],
  ): Promise<Result<{ readonly run: RunView<Spec>; readonly created: boolean }>> => {
    const invalid = checkRunId(runId) ?? checkConfig(config);
    if (invalid !== undefined) return invalid;
    // A run that exists already is returned, even if this check would refuse to create it now.
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
    const run = await read(registry, runId, (now, open) => {
      if (outcome === "created") prepare(open.run.key, open.drawing);
      return runView(now);
    });
    if (run.kind !== "ok") return run;
    const field = differingField(run.value.config, config);
    if (field === undefined) return ok({ run: run.value, created: outcome === "created" });
    return {
      kind: "already_exists",
      field,
      message: `run "${runId}" exists with another ${field}: choose another run id, or send the same ${field}`,
    };
  };

  const remove = async (runId: string, by?: string): Promise<Result<null>> => {
    const row = await store.find(runId);
    if (row === undefined || !(await store.remove(row.key))) return notFound(runId);
    log?.info({ run: runId, by }, "a run was deleted, as a caller asked");
    await registry.forget(row.key);
    registry.damages.forget(runId);
    onRemoved?.(runId);
    return ok(null);
  };

  return {
    /** Creates a run. If it exists with the same configuration, it is returned unchanged. */
    create,
    get: (runId: string) => read(registry, runId, runView<Spec, Key>),
    /**
     * Returns the incarnations of a run: random names, one from its creation and one from each import. The first one is
     * unique among all runs that ever had this id.
     */
    incarnations: (runId: string) => read(registry, runId, ({ incarnations }) => incarnations),
    remove,
  };
}

function feedingBack<Spec, Key extends InstanceKey>(registry: Registry<Spec, Key>, clock: Clock) {
  const feedback = feedbackQueue(registry);
  return {
    /** Records feedback and returns the status of each item, in order. Simultaneous calls for a run share one write. */
    recordFeedback: feedback.record,
    reportAdvantages: (runId: string, reports: readonly ReportedAdvantages[]) =>
      change(registry, runId, (state) => {
        if (state.config.feedbackSource !== "reported") {
          return {
            kind: "failed_precondition",
            message: "the run takes no reported advantages, because its feedback_source is not REPORTED",
          };
        }
        const { statuses, groups } = decideAdvantages(state, reports);
        return { events: groups.length > 0 ? [{ kind: "reported", groups }] : [], value: statuses };
      }),
    closeGroups: (runId: string, refs: readonly GroupRef[], reason: string, by?: string, validateOnly?: boolean) => {
      const decide = (state: RunState<Spec, Key>) => {
        const { statuses, cursors } = decideClose(state, refs);
        const closed = { kind: "closed", cursors, reason, cause: "" } as const;
        return { events: cursors.length > 0 ? [closed] : [], value: statuses };
      };
      return change(registry, runId, decide, by, validateOnly);
    },
    reopenGroups: (runId: string, refs: readonly GroupRef[], by?: string) => {
      const decide = (state: RunState<Spec, Key>) => {
        const { statuses, cursors } = decideReopen(state, refs);
        const reopened = { kind: "reopened", cursors, atMs: clock.now() } as const;
        return { events: cursors.length > 0 ? [reopened] : [], value: statuses };
      };
      return change(registry, runId, decide, by);
    },
    groups: (runId: string, request: GroupsRequest) =>
      within(registry, runId, ({ run }) => getGroups(run, clock, request)),
  };
}

type Advanced = Extract<RunEvent, { readonly kind: "advanced" }>;

/** Returns the event that opens the next level of an arm that grows, or a refusal. */
function opened({ policy, policyState, config }: RunState, armId: string): readonly [Advanced] | Refusal {
  const arm = config.arms.findIndex(({ id, removed }) => id === armId && !removed);
  const grow = config.arms[arm]?.grow;
  const refused = (message: string): Refusal => ({ kind: "invalid", field: "arm_id", message });
  if (arm < 0) return refused(`"${armId}" is not an arm of the run`);
  const definition = definitionOf(policy);
  if (grow === undefined || definition.open === undefined) return refused(`arm "${armId}" does not grow`);
  const moved = definition.open(policyState, arm, levelCount(grow));
  if (moved.kind === "refused") return { kind: "failed_precondition", message: `arm "${armId}": ${moved.message}` };
  return [{ kind: "advanced", policyState: moved.state, arm }];
}

/** Returns the event that advances the policy to its next stage or tier, or a refusal if there is none. */
function advanced(state: RunState): readonly [Advanced] | Refusal {
  const { policy, policyState } = state;
  const moved = definitionOf(policy).advance?.(policy.config, policyState, viewOf(state).progress);
  if (moved === undefined)
    return { kind: "failed_precondition", message: `policy "${policy.kind}" has no stages or tiers to advance to` };
  if (moved.kind === "refused") return { kind: "failed_precondition", message: moved.message };
  return [{ kind: "advanced", policyState: moved.state }];
}

/** Returns the operations that change how a run draws. */
function controlling<Spec, Key extends InstanceKey>(registry: Registry<Spec, Key>, clock: Clock) {
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
    updateShape: (runId: string, shape: NewShape<Spec>, by?: string, validateOnly?: boolean) =>
      control(
        [runId, by, validateOnly],
        (state) => {
          const decision = decideShape(state, shape);
          return decision.kind === "reshaped" ? [decision, ...(shape.rated ?? [])] : decision;
        },
        (state) => ofShape(state, shape),
      ),
    updatePolicy: (runId: string, policy: Policy, by?: string, validateOnly?: boolean) =>
      control(
        [runId, by, validateOnly],
        (state) =>
          checkPolicy({ ...state, policy }) ?? checkParts(state.config, policy) ?? [{ kind: "policyUpdated", policy }],
        (state) => ofPolicy(state, policy),
      ),
    /** Sets weights by arm id. Arms that are not named keep theirs. */
    setWeights: (runId: string, changed: Readonly<Record<string, number>>, by?: string, validateOnly?: boolean) => {
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
    /** Sets the pass rates of some of an arm's data rows, e.g. ones that were measured before the run. */
    rateRows: (runId: string, ratings: Ratings, by?: string, validateOnly?: boolean) =>
      control([runId, by, validateOnly], () => [ratedEvent(ratings)]),
    /** Advances the policy to its next stage or tier, or opens an arm's next level. Refuses if there is none. */
    advance: (runId: string, by?: string, validateOnly?: boolean, armId = "") =>
      control([runId, by, validateOnly], (state) => (armId === "" ? advanced(state) : opened(state, armId))),
    maskArms: registry.maskArms,
    /** Returns the number of damaged runs that still exist. */
    damaged: () => registry.damages.count(),
    pause: (runId: string, by?: string, validateOnly?: boolean) =>
      control(
        [runId, by, validateOnly],
        ({ paused }) => (paused ? [] : [{ kind: "paused", by: by ?? "", atMs: clock.now() }]),
        ofPause,
      ),
    resume: (runId: string, by?: string, validateOnly?: boolean) =>
      control([runId, by, validateOnly], (state) => (state.paused ? [{ kind: "resumed" }] : []), ofResume),
    /** Changes the note and the tags of a run, which affect no draw. */
    annotate: (runId: string, annotation: Annotation, by?: string, validateOnly?: boolean) =>
      change(registry, runId, (state) => decideAnnotation(state, annotation), by, validateOnly),
  };
}

/**
 * Returns the run's draws, each with the probabilities that another policy gives if it learns from the run's groups.
 */
async function* comparedDraws<Spec, Key extends InstanceKey>(
  { store, source, clock }: Ports<Spec, Key>,
  key: number,
  policy: Policy,
): AsyncGenerator<ComparedDraw> {
  const compare = createComparison(policy);
  for await (const { event, before, after } of readSteps(store, key, source, clock)) {
    const draw = compare(event, before, after);
    if (draw !== undefined) yield draw;
  }
}

function refusedComparison(state: RunState, policy: Policy): Refusal | undefined {
  const value = unrecordedValue(policy, state.policy);
  if (value === undefined) return checkPolicy({ ...state, policy });
  return invalid(
    "policy",
    `reads "${value}" of each score, which the run did not record, because its own policy does not read it`,
  );
}

export function createRuns<Spec, Key extends InstanceKey>(ports: Ports<Spec, Key>) {
  const { clock } = ports;
  const registry = createRegistry(ports);
  const keys = evaluationKeys<Key>();
  return {
    ...keeping(ports, registry),
    /** Lists runs in the order of their ids, after `afterId`. An empty `afterId` begins with the first. */
    list: listing(ports, registry),
    ...feedingBack(registry, clock),
    ...controlling(registry, clock),
    nextBatch: (runId: string, request: NextBatchRequest) =>
      within(registry, runId, ({ run, drawing }) => nextBatch(run, drawing, ports, request)),
    /** Returns the next tasks of an evaluation arm. */
    nextEvaluation: (runId: string, request: EvaluationRequest) =>
      within(registry, runId, ({ run }) => nextEvaluation(run, ports, keys, request)),
    /** Exports a run: its whole state and the newest part of its history. The export carries no signature. */
    export: (runId: string) =>
      within(registry, runId, async ({ run }) => {
        const here = await run.refresh();
        if (here !== "fresh") return here;
        const exported = await exportRun(ports, run);
        // If the run was deleted during the export, the export may lack history records, so it is not returned.
        return (await run.refresh()) === "fresh" ? ok(exported) : gone;
      }),
    /** Reads the history from position `from` on; 0 is the start. */
    history: (runId: string, from: number, limit: number, reading?: HistoryReading) =>
      within(registry, runId, async ({ run }) => readHistory(ports.store, run, { from, limit, ...reading })),
    /** Returns what is known of at most `limit` data rows of the arm with index `arm`, from row `from` on. */
    rows: (runId: string, arm: number, from: number, limit: number) =>
      read(registry, runId, ({ rows }) => rowReport(rows[arm] ?? rowTable({ rows: 0, retireAfter: 0 }), from, limit)),
    /**
     * Imports an export, under its own id if `runId` is undefined. An existing run keeps its own control, e.g. weights
     * and masks, unless `restoreControl` is set.
     */
    import: (state: Uint8Array, runId: string | undefined, by?: string, restoreControl = false) =>
      importRun(ports, registry, state, { runId, by, restoreControl }),
    /** Returns the run's lists of data rows, one for each set of rows from which its arms draw. */
    lists: (runId: string) => read(registry, runId, ({ lists }) => lists),
    /** Returns at most `limit` runs in memory, the most recently requested first. This does not count as a request. */
    recent: async (limit: number) => (await registry.recent(limit)).map((run) => recentRun(run.state())),
    /**
     * Yields the current state, then newer states at least `intervalMs` apart. It ends when the run is deleted, when
     * `signal` aborts, or after a refusal.
     */
    watch: async (runId: string, signal: AbortSignal, intervalMs?: number) => {
      const found = await read(registry, runId, () => null);
      return found.kind === "ok" ? ok(watchRun(registry, clock, runId, signal, intervalMs)) : found;
    },
    /** Compares the run's draws with another policy, and refuses a policy that does not fit the run. */
    comparePolicy: async (runId: string, policy: Policy): Promise<Result<AsyncGenerator<ComparedDraw>>> =>
      within(registry, runId, async ({ run }) => {
        const refused = refusedComparison(run.state(), policy);
        return refused ?? ok(comparedDraws(ports, run.key, policy));
      }),
    /** Stops all timers. The caller closes the store. */
    close: () => registry.close(),
  };
}
