/**
 * The same run once more, without anything that disturbs it: with the same seed, feedback and control changes it must
 * draw the same tasks with the same probabilities, whatever happened to the first.
 */
import { isDeepStrictEqual } from "node:util";
import { apply } from "../../server/curriculum/apply.ts";
import { decodeEvent, type RunEvent } from "../../server/curriculum/events.ts";
import type { FeedbackItem } from "../../server/curriculum/feedback.ts";
import { createRuns } from "../../server/curriculum/runs/runs.ts";
import { readHead, type Row } from "./reader-state.ts";
import { memoryStore } from "../../server/stores/memory.ts";
import { ask, codecs, type Key, type Runs, type Spec, type TaskSource, value } from "../server/curriculum/support.ts";
import type { Journals, Read } from "./verdict.ts";

type Event = RunEvent<Spec, Key>;

/** The events that led to a state: those of its own journal, and before an import those of the export's. */
function lineage(journals: Journals, journal: Read, end: number): readonly string[] {
  const start = journal.reading.segments.filter(({ from }) => from < end).at(-1)?.from ?? 0;
  const text = journal.events[start] ?? "";
  const own = journal.events.slice(start + 1, end);
  const feed = text.indexOf("\n");
  if (feed < 0) return [text, ...own];
  const { incarnation, version } = readHead(text.slice(feed + 1));
  const source = journals.byIncarnation.get(incarnation)?.journal;
  if (source === undefined) throw new Error(`no journal has incarnation ${incarnation}`);
  return [...lineage(journals, source, version), ...own];
}

/** What is said of one group, by whichever events. */
interface GroupFeedback {
  readonly items: Omit<FeedbackItem, "incarnation">[];
  reported: { readonly advantages: readonly number[]; readonly rewardMean: number | undefined } | undefined;
  closed: boolean;
}

function feedbackByCursor(events: readonly Event[]): ReadonlyMap<number, GroupFeedback> {
  const byCursor = new Map<number, GroupFeedback>();
  const at = (cursor: number): GroupFeedback => {
    const found = byCursor.get(cursor) ?? { items: [], reported: undefined, closed: false };
    byCursor.set(cursor, found);
    return found;
  };
  for (const event of events) {
    if (event.kind === "feedback") {
      for (const { cursor, indices, digests, results } of event.groups)
        for (const [i, sample] of indices.entries())
          at(cursor).items.push({
            cursor,
            sample,
            digest: digests[i] ?? "",
            result: results[i] as FeedbackItem["result"],
          });
    } else if (event.kind === "reported") {
      for (const { cursor, advantages, rewardMean } of event.groups)
        at(cursor).reported = { advantages, rewardMean: rewardMean ?? undefined };
    } else if (event.kind === "closed") for (const cursor of event.cursors) at(cursor).closed = true;
  }
  return byCursor;
}

const RUN = "undisturbed";

/** Makes a control change again. A run that is paused draws nothing, so that pauses need not be made again. */
async function redo(runs: Runs, event: Event): Promise<void> {
  const { config } = value(await runs.get(RUN));
  switch (event.kind) {
    case "weights_set":
      value(
        await runs.setWeights(RUN, Object.fromEntries(config.arms.map(({ id }, i) => [id, event.weights[i] ?? 0]))),
      );
      return;
    case "policy_updated":
      value(await runs.updatePolicy(RUN, event.policy));
      return;
    case "advanced":
      value(await runs.advance(RUN));
      return;
    case "arm_masked":
      return runs.maskArms(config.arms[event.arm]?.resource ?? "", event.reason);
    case "arm_unmasked":
      return runs.maskArms(config.arms[event.arm]?.resource ?? "", undefined);
    case "created":
    case "drawn":
    case "feedback":
    case "reported":
    case "closed":
    case "handed_out":
    case "paused":
    case "resumed":
    case "imported":
      return;
  }
}

async function feed(runs: Runs, incarnation: string, cursor: number, group: GroupFeedback | undefined): Promise<void> {
  if (group === undefined) return;
  const at = { incarnation, cursor };
  if (group.items.length > 0)
    value(
      await runs.recordFeedback(
        RUN,
        group.items.map((item) => ({ ...item, incarnation })),
      ),
    );
  if (group.reported !== undefined) value(await runs.reportAdvantages(RUN, [{ ...at, ...group.reported }]));
  if (group.closed) value(await runs.closeGroups(RUN, [at], "again"));
}

/** The events of a lineage, decoded one after the other on a state that is good enough for that. */
function decode(texts: readonly string[]): readonly Event[] {
  let state: Parameters<typeof decodeEvent<Spec, Key>>[1];
  return texts.map((text) => {
    const event = decodeEvent<Spec, Key>(text, state, codecs);
    state = apply(state, event);
    return event;
  });
}

/** Draws, but for when they were made. */
function drawsOf(texts: readonly string[]): readonly Row[] {
  const rows = texts.filter((text) => text.startsWith('[3,"drawn"')).map((text) => JSON.parse(text) as Row);
  return rows.map((row) => row.filter((_, i) => i !== 3));
}

/** Where the first draw differs, in words; undefined: nowhere. */
export async function firstDifference(
  journals: Journals,
  journal: Read,
  source: TaskSource,
): Promise<string | undefined> {
  const texts = lineage(journals, journal, journal.events.length);
  const events = decode(texts);
  const [created, ...rest] = events;
  if (created?.kind !== "created") throw new Error("a lineage begins with a creation");
  const store = memoryStore();
  const clock = { now: () => 0, setTimer: () => () => undefined, nextTurn: (go: () => void) => queueMicrotask(go) };
  const runs = createRuns<Spec, Key>({ store, source, clock, newIncarnation: () => "undisturbed" });
  // Nothing is closed for its time: what was, is among the events.
  const config = { ...created.config, groupTimeoutMs: undefined };
  const { incarnation } = value(await runs.create(RUN, config)).run.state;
  const whole = feedbackByCursor(rest);
  const feedAll = async (from: number, to: number): Promise<void> => {
    for (let cursor = from; cursor <= to; cursor++) await feed(runs, incarnation, cursor, whole.get(cursor));
  };
  for (const event of rest) {
    if (event.kind !== "drawn") {
      await redo(runs, event);
      continue;
    }
    // Draws that do not wait for feedback say what they took in; others take in all of the batches that are due.
    const { fold, cursor, tasks } = event;
    if (fold.kind === "groups") for (const [from, to] of fold.ranges) await feedAll(from, to);
    value(await ask(runs, RUN, cursor, tasks.length));
    if (fold.kind === "through") await feedAll(cursor, cursor + tasks.length - 1);
  }
  runs.close();
  const row = await store.find(RUN);
  const [one, other] = [drawsOf(texts), drawsOf((await store.read(row?.key ?? 0, 0)) ?? [])];
  const at = one.findIndex((draw, i) => !isDeepStrictEqual(draw, other[i]));
  if (at < 0 && one.length === other.length) return undefined;
  return `draw ${at}: ${JSON.stringify(one[at])}; undisturbed: ${JSON.stringify(other[at])}`;
}
