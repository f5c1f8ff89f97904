/**
 * Repeats a run without disturbance. With the same seed, feedback and control changes it must draw the same tasks with
 * the same probabilities, whatever happened to the first run.
 */
import { isDeepStrictEqual } from "node:util";
import { apply } from "../../server/curriculum/apply.ts";
import { placeOf } from "../../server/curriculum/apply-shape.ts";
import { eventFrom, readEvent } from "../../server/curriculum/event-codec.ts";
import type { RunEvent } from "../../server/curriculum/events.ts";
import type { FeedbackItem } from "../../server/curriculum/feedback.ts";
import { follow } from "../support/follow.ts";
import { createRuns } from "../../server/runs/runs.ts";
import { RATE_PARTS } from "../../server/curriculum/row-arms.ts";
import { readHead } from "./reader-state.ts";
import { memoryStore } from "../../server/stores/memory.ts";
import type { Store } from "../../server/stores/store.ts";
import {
  ask,
  codecs,
  type Key,
  type RunConfig,
  type Runs,
  type Spec,
  type TaskSource,
  value,
} from "../server/curriculum/support.ts";
import type { GroupResults } from "../../server/curriculum/batches.ts";
import { type Range, type RunState, toRanges } from "../../server/curriculum/state.ts";
import type { Journals, Read } from "./verdict.ts";

type Event = RunEvent<Spec, Key>;

/** Control that a run kept when an export was put back into it, with the state after that. */
interface Kept {
  readonly kind: "kept";
  readonly state: RunState<Spec, Key>;
}

/**
 * The events that led to a state: those of its own journal, and before an import those of the export's. In place of an
 * import under the control of the run that was there stands that control.
 */
function lineage(journals: Journals, journal: Read, end: number): readonly (Uint8Array | Kept)[] {
  const start = journal.reading.segments.filter(({ from }) => from < end).at(-1)?.from ?? 0;
  const [first = new Uint8Array(), ...own] = journal.events.slice(start, end);
  const { kind } = readEvent(first);
  if (kind.case !== "imported" && kind.case !== "restored") return [first, ...own];
  const { incarnation, version } = readHead(kind.value.state);
  const source = journals.byIncarnation.get(incarnation)?.journal;
  if (source === undefined) throw new Error(`no journal has incarnation ${incarnation}`);
  const before = lineage(journals, source, version);
  if (kind.case === "imported") return [...before, ...own];
  const state = follow<Spec, Key>(undefined, journal.events.slice(0, start + 1), codecs) as RunState<Spec, Key>;
  return [...before, { kind: "kept", state }, ...own];
}

/** An event's statement about one group. */
type Deed = { readonly cursor: number } & (
  | { readonly kind: "items"; readonly items: readonly Omit<FeedbackItem, "incarnation">[] }
  | { readonly kind: "report"; readonly advantages: readonly number[]; readonly rewardMean: number | undefined }
  | { readonly kind: "close" | "reopen" }
);

function itemsOf({ cursor, indices, digests, results }: GroupResults): Omit<FeedbackItem, "incarnation">[] {
  return indices.map((sample, i) => ({
    cursor,
    sample,
    digest: digests[i] ?? "",
    result: results[i] as FeedbackItem["result"],
  }));
}

function deedsOf(event: Event): readonly Deed[] {
  switch (event.kind) {
    case "feedback":
      return event.groups.map((group) => ({ kind: "items", cursor: group.cursor, items: itemsOf(group) }));
    case "reported":
      return event.groups.map((group) => ({ kind: "report", ...group, rewardMean: group.rewardMean ?? undefined }));
    case "closed":
      return event.cursors.map((cursor) => ({ kind: "close", cursor }));
    case "reopened":
      return event.cursors.map((cursor) => ({ kind: "reopen", cursor }));
    default:
      return [];
  }
}

const RUN = "undisturbed";

/** Makes a control change again. A run that is paused draws nothing, so that pauses need not be made again. */
async function redo(runs: Runs, event: Event, now: RunConfig): Promise<void> {
  const { config } = value(await runs.get(RUN));
  switch (event.kind) {
    case "weightsSet":
      value(
        await runs.setWeights(RUN, Object.fromEntries(config.arms.map(({ id }, i) => [id, event.weights[i] ?? 0]))),
      );
      return;
    case "policyUpdated":
      value(await runs.updatePolicy(RUN, event.policy));
      return;
    case "advanced":
      value(await runs.advance(RUN));
      return;
    case "armMasked":
      return runs.maskArms(config.arms[event.arm]?.resource ?? "", event.reason);
    case "armUnmasked":
      return runs.maskArms(config.arms[event.arm]?.resource ?? "", undefined);
    case "reshaped":
      value(await runs.updateShape(RUN, shapeOf(now, event)));
      return;
    case "rowsRated":
      value(await runs.rateRows(RUN, { ...event, rates: Float64Array.from(event.rates, (part) => part / RATE_PARTS) }));
      return;
    case "created":
    // Its source has no pools.
    case "rowsSeen":
    case "drawn":
    case "feedback":
    case "reported":
    case "closed":
    case "reopened":
    case "evaluationOpened":
    case "evaluated":
    case "handedOut":
    case "paused":
    case "resumed":
    case "noted":
    case "tagged":
    case "imported":
      return;
  }
}

/**
 * Makes the control changes that give a run the control which another run kept. All arms are drawn meanwhile, for no shape
 * may leave a run without an arm to draw.
 */
async function takeControl(runs: Runs, store: Store, { state }: Kept, now: RunConfig): Promise<void> {
  const { config, policy, masks } = state;
  const ids = (arms: RunConfig["arms"]) => arms.filter(({ removed }) => !removed).map(({ id }) => id);
  value(await runs.setWeights(RUN, Object.fromEntries(ids(now.arms).map((id) => [id, 1]))));
  const here = value(await runs.get(RUN)).state;
  const changed = isDeepStrictEqual(here.policy, policy) ? null : policy;
  const { length, ...shape } = shapeOf(now, { kind: "reshaped", config, policy: changed });
  // A run whose length is below the number of drawn tasks draws no more.
  const isShorter = length > 0 && length < state.prompts;
  value(await runs.updateShape(RUN, { ...shape, length: isShorter ? state.prompts : length }));
  const weights = config.arms.flatMap(({ id, removed }, i) => (removed ? [] : [[id, state.weights[i] ?? 0] as const]));
  value(await runs.setWeights(RUN, Object.fromEntries(weights)));
  for (const [i, { resource }] of config.arms.entries())
    if (resource !== undefined) await runs.maskArms(resource, masks[i] ?? undefined);
  for (;;) {
    const row = await store.find(RUN);
    const reached = follow<Spec, Key>(undefined, (await store.read(row?.key ?? 0, 0)) ?? [], codecs);
    if (reached === undefined || placeOf(reached) >= state.advancedTo) return;
    value(await runs.advance(RUN));
  }
}

/** The change that made one shape of another. */
function shapeOf(before: RunConfig, { config, policy }: Extract<Event, { kind: "reshaped" }>) {
  const { numGenerations, promptsPerUpdate, length, arms } = config;
  return {
    addArms: arms.slice(before.arms.length),
    removeArms: before.arms.flatMap(({ id, removed }, i) => (arms[i]?.removed && !removed ? [id] : [])),
    numGenerations,
    promptsPerUpdate,
    length,
    policy: policy ?? undefined,
  };
}

async function feed(runs: Runs, incarnation: string, deed: Deed): Promise<void> {
  const at = { incarnation, cursor: deed.cursor };
  const { kind } = deed;
  if (kind === "items")
    value(
      await runs.recordFeedback(
        RUN,
        deed.items.map((item) => ({ ...item, incarnation })),
      ),
    );
  else if (kind === "report") {
    const { advantages, rewardMean } = deed;
    value(await runs.reportAdvantages(RUN, [{ ...at, advantages, rewardMean }]));
  } else if (kind === "close") value(await runs.closeGroups(RUN, [at], "again"));
  else value(await runs.reopenGroups(RUN, [at]));
}

/** The events of a lineage, decoded one after the other on a state that is good enough for that. */
function decode(journal: readonly (Uint8Array | Kept)[]): readonly (Event | Kept)[] {
  let state: RunState<Spec, Key> | undefined;
  return journal.map((bytes) => {
    if ("kind" in bytes) {
      state = bytes.state;
      return bytes;
    }
    const event = eventFrom<Spec, Key>(readEvent(bytes), state, codecs);
    state = apply(state, event);
    return event;
  });
}

/** Draws, but for when they were made. */
function drawsOf(journal: readonly (Uint8Array | Kept)[]) {
  return journal.flatMap((bytes) => {
    if ("kind" in bytes) return [];
    const { kind } = readEvent(bytes);
    return kind.case === "drawn" ? [{ ...kind.value, atMs: 0 }] : [];
  });
}

/** All that was said of groups: of some of them in cursor order, or in the order in which it was said where one of them was opened again. */
function saidOf(events: readonly (Event | Kept)[]) {
  const all = events.flatMap((event, at) =>
    event.kind === "kept" ? [] : deedsOf(event).map((deed) => ({ at, deed })),
  );
  const byCursor = Map.groupBy(all, ({ deed }) => deed.cursor);
  return (from: number, to: number): readonly Deed[] => {
    const found = Array.from({ length: to - from }, (_, i) => byCursor.get(from + i) ?? []).flat();
    const inTurn = found.some(({ deed }) => deed.kind === "reopen");
    return (inTurn ? found.toSorted((a, b) => a.at - b.at) : found).map(({ deed }) => deed);
  };
}

/** Tracks the groups that are closed and not folded in yet. */
function closedGroups() {
  const missing = new Map<number, number>();
  const closed = new Set<number>();
  return {
    drawn(from: number, count: number, generations: number): void {
      for (let i = 0; i < count; i++) missing.set(from + i, generations);
    },
    take(deed: Deed): void {
      const { cursor, kind } = deed;
      const left = (missing.get(cursor) ?? 0) - (kind === "items" ? deed.items.length : 0);
      missing.set(cursor, left);
      if (kind === "reopen") closed.delete(cursor);
      else if (kind !== "items" || left === 0) closed.add(cursor);
    },
    isFold(ranges: readonly Range[]): boolean {
      return isDeepStrictEqual(toRanges([...closed].sort((a, b) => a - b)), ranges);
    },
    fold: (): void => closed.clear(),
  };
}

/**
 * Where groups were opened again and draws do not wait, what was said must be said again in its order: up to each draw
 * all that it was planned on. `say` is called with it.
 */
function inOrder(say: (deed: Deed) => Promise<void>) {
  const closed = closedGroups();
  let waiting: Deed[] = [];
  return {
    add: (deeds: readonly Deed[]): void => void waiting.push(...deeds),
    drawn: (from: number, count: number, generations: number): void => closed.drawn(from, count, generations),
    async beforeDraw(ranges: readonly Range[]): Promise<void> {
      // A plan does not survive that a group which it folds in is opened again; others may be.
      const isIn = (cursor: number): boolean => ranges.some(([first, last]) => first <= cursor && cursor <= last);
      const reopened = waiting.findLastIndex(({ kind, cursor }) => kind === "reopen" && isIn(cursor));
      let i = 0;
      for (; i < waiting.length && (i <= reopened || !closed.isFold(ranges)); i++) {
        closed.take(waiting[i] as Deed);
        await say(waiting[i] as Deed);
      }
      waiting = waiting.slice(i);
      closed.fold();
    },
  };
}

/** Returns the first difference of the draws, in words. Undefined: there is none. */
export async function firstDifference(
  journals: Journals,
  journal: Read,
  source: TaskSource,
): Promise<string | undefined> {
  const all = lineage(journals, journal, journal.events.length);
  const events = decode(all);
  const [created, ...rest] = events;
  if (created?.kind !== "created") throw new Error("a lineage begins with a creation");
  const store = memoryStore();
  const clock = {
    now: () => 0,
    setTimer: () => () => undefined,
    nextTurn: (go: () => void) => queueMicrotask(go),
  };
  const runs = createRuns<Spec, Key>({ store, source, clock, newIncarnation: () => "undisturbed" });
  // No group times out in the replay. The events contain the time-outs.
  const config = { ...created.config, groupTimeoutMs: undefined };
  const { incarnation } = value(await runs.create(RUN, config)).run.state;
  const say = (deed: Deed): Promise<void> => feed(runs, incarnation, deed);
  const ofGroups = saidOf(rest);
  const reopens = rest.some(({ kind }) => kind === "reopened");
  const order = inOrder(say);
  let { config: now } = created;
  for (const event of rest) {
    if (event.kind === "kept") {
      // No control change brings an arm back that the export had removed: such a run is followed no further.
      if (event.state.config.arms.some(({ removed }, i) => !removed && now.arms[i]?.removed === true)) {
        runs.close();
        return undefined;
      }
      await takeControl(runs, store, event, now);
      now = event.state.config;
      continue;
    }
    if (event.kind !== "drawn") {
      await redo(runs, event, now);
      if (event.kind === "reshaped") now = event.config;
      order.add(deedsOf(event));
      continue;
    }
    // Draws that do not wait for feedback name the groups that they used. Others use all groups of the batches that are
    // due.
    const { fold, cursor, tasks } = event;
    if (fold.kind === "groups" && reopens) await order.beforeDraw(fold.ranges);
    else if (fold.kind === "groups")
      for (const [from, to] of fold.ranges) for (const deed of ofGroups(from, to + 1)) await say(deed);
    value(await ask(runs, RUN, cursor, tasks.length));
    order.drawn(cursor, tasks.length, now.numGenerations);
    if (fold.kind === "through") for (const deed of ofGroups(cursor, cursor + tasks.length)) await say(deed);
  }
  runs.close();
  const row = await store.find(RUN);
  const [one, other] = [drawsOf(all), drawsOf((await store.read(row?.key ?? 0, 0)) ?? [])];
  const at = one.findIndex((draw, i) => !isDeepStrictEqual(draw, other[i]));
  if (at < 0 && one.length === other.length) return undefined;
  return `draw ${at}: ${JSON.stringify(one[at])}; undisturbed: ${JSON.stringify(other[at])}`;
}
