/**
 * Queue of requests (items) for the workers of a provider of environments. Callers take turns. Items of the same caller
 * and subject (e.g. answers to one instance) are sent together in one frame.
 */
import { type Party, fairTurns } from "../../base/fair-turns.ts";
import type { FrameContent } from "./provider-frames.ts";
import type { AskedEnvironment, Failure, Fresh } from "./provider.ts";

/**
 * A request for one result, e.g. one verdict. A worker process answers it in a message (frame), which may hold answers
 * of other items too.
 */
export interface Item<Answer = unknown> {
  /**
   * Key of items that may share a frame. For answers the key is the instance; for seeds it is the call that requested
   * them.
   */
  readonly subject: object;
  /**
   * Caller that the item belongs to, and its connection. Callers take turns by the time that their items took.
   * Undefined: the server itself.
   */
  readonly party: Party | undefined;
  readonly environment: AskedEnvironment;
  /** Maximum processor time for the item, in milliseconds. */
  readonly limitMs: number;
  /** Whether the item needs a fresh worker process, i.e. one that has served no item, or none of the environment. */
  fresh: Fresh;
  readonly signal: AbortSignal;
  /** Returns the frame that requests all of `items`, which must have the same subject. */
  frameOf(items: readonly Item[]): FrameContent;
  /**
   * Returns this item's answer from a worker's message (frame). `place` is the item's index in the batch. Undefined:
   * the frame does not answer this item.
   */
  read(content: FrameContent, place: number): Answer | Failure | undefined;
  settle(answer: Answer | Failure): void;
  /** Number of host processes that ended while they worked on the item. */
  lost: number;
}

export interface ItemQueue {
  add(item: Item): void;
  /**
   * Puts back items that a worker did not finish before it ended. Each is later sent in a frame of its own, because one
   * of them may have ended the worker.
   */
  putBack(items: readonly Item[]): void;
  /**
   * Takes the next items that share a frame, at most `max`. An item that needs a fresh worker is taken alone, and only
   * if the worker is fresh enough, i.e. `suits` returns true. Skips items whose signal is aborted.
   *
   * `ms` estimates how long the items will take, in milliseconds.
   */
  take(max: number, suits: (item: Item) => boolean, ms: (first: Item) => number): readonly Item[];
  /**
   * Corrects the time that is charged to the item's caller: replaces `expectedMs`, which `take` charged as an estimate,
   * by the measured time `ms`.
   */
  charge(item: Item, expectedMs: number, ms: number): void;
  /** Returns whether an item whose turn has come lacks a fresh worker. `isComing` tells whether one is expected. */
  wantsFresh(isComing: (item: Item) => boolean): boolean;
  /** Returns whether the queue has an item of another caller, or of another connection, than `item`. */
  hasOthers(item: Item): boolean;
  /** Empties the queue and returns its items. */
  drain(): readonly Item[];
}

/** Items in the queue that have the same caller and subject. */
interface Bundle {
  readonly party: Party;
  items: Item[];
}

const SERVER: Party = { caller: "", connection: "" };

const isWanted = ({ signal }: Item): boolean => !signal.aborted;
const isSame = (a: Party, b: Party): boolean => a.caller === b.caller && a.connection === b.connection;

export function createQueue(): ItemQueue {
  const turns = fairTurns<Bundle>();
  const waiting = new Set<Bundle>();
  /** For each subject, the bundle (items with the same caller and subject) to which a new item is added. */
  const bySubject = new Map<object, Bundle>();
  /** Items whose turn has come, but which wait for a fresh worker. */
  let fresh: Item[] = [];

  const enter = (bundle: Bundle): void => {
    waiting.add(bundle);
    turns.add(bundle.party, bundle, 1);
  };
  /** Takes the next bundle in turn, and returns at most `max` of its items. Undefined: the queue is empty. */
  const next = (max: number): readonly Item[] | undefined => {
    const bundle = turns.next();
    if (bundle === undefined) return undefined;
    waiting.delete(bundle);
    const taken = bundle.items.splice(0, max);
    // The rest of a large bundle goes to the end of the queue, so that it does not delay other bundles.
    if (bundle.items.length > 0) enter(bundle);
    else if (taken[0] !== undefined && bySubject.get(taken[0].subject) === bundle) bySubject.delete(taken[0].subject);
    return taken.filter(isWanted);
  };

  return {
    add(item) {
      const party = item.party ?? SERVER;
      const known = item.fresh ? undefined : bySubject.get(item.subject);
      if (known !== undefined && isSame(known.party, party)) return void known.items.push(item);
      const bundle = { party, items: [item] };
      if (!item.fresh) bySubject.set(item.subject, bundle);
      enter(bundle);
    },
    putBack(items) {
      for (const item of items) enter({ party: item.party ?? SERVER, items: [item] });
    },
    take(max, suits, ms) {
      for (;;) {
        const ready = fresh.find(suits);
        fresh = fresh.filter((item) => item !== ready);
        const taken = ready === undefined ? next(max) : [ready].filter(isWanted);
        if (taken === undefined) return [];
        const [first] = taken;
        if (first === undefined) continue;
        if (ready === undefined) turns.expect(first.party ?? SERVER, ms(first));
        if (first.fresh === false || suits(first)) return taken;
        fresh.push(first);
      }
    },
    charge({ party = SERVER }, expectedMs, ms) {
      turns.expect(party, -expectedMs);
      turns.charge(party, ms);
    },
    wantsFresh(isComing) {
      fresh = fresh.filter(isWanted);
      return fresh.some((item) => !isComing(item));
    },
    hasOthers: ({ party = SERVER }) => waiting.values().some((bundle) => !isSame(bundle.party, party)),
    drain() {
      const all = [...fresh, ...[...waiting].flatMap(({ items }) => items)];
      fresh = [];
      for (const bundle of waiting) turns.remove(bundle.party, bundle);
      waiting.clear();
      bySubject.clear();
      return all;
    },
  };
}
