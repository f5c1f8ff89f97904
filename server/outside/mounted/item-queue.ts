/**
 * Queue of requests (items) for the workers of a provider. Callers take turns. Items of the same caller and subject are
 * sent together in one frame.
 */
import { type Party, fairTurns } from "../../base/fair-turns.ts";
import type { FrameContent } from "./provider-frames.ts";
import type { AskedEnvironment, Failure } from "./provider.ts";

/** A request for one thing, e.g. a verdict, that a worker answers by one frame. */
export interface Item<Answer = unknown> {
  /** Items with the same subject may share a frame. The subject is the instance for answers, and the call for seeds. */
  readonly subject: object;
  /** Caller and connection for which the item counts. Undefined: the server itself. */
  readonly party: Party | undefined;
  readonly environment: AskedEnvironment;
  /** Maximum processor time, in milliseconds. */
  readonly limitMs: number;
  /** Whether the item needs a worker that has served nothing before. */
  fresh: boolean;
  readonly signal: AbortSignal;
  /** Returns the frame that requests all these items, which have the same subject. */
  frameOf(items: readonly Item[]): FrameContent;
  /** Returns the answer to this item in a frame, given its place in the batch. Undefined: the frame has none. */
  read(content: FrameContent, place: number): Answer | Failure | undefined;
  settle(answer: Answer | Failure): void;
  /** Number of hosts that ended while they worked on the item. */
  lost: number;
}

export interface ItemQueue {
  add(item: Item): void;
  /**
   * Puts items of an ended worker back into the queue. Each is sent alone afterwards, because one of them may have
   * ended the worker.
   */
  putBack(items: readonly Item[]): void;
  /**
   * Takes the next items that go together, at most `max`. An item that needs a fresh worker goes
   * alone, to a fresh one. Items whose signal is aborted are left out. `ms` returns the expected
   * time of a turn, in milliseconds.
   */
  take(max: number, isFresh: boolean, ms: (first: Item) => number): readonly Item[];
  /** Charges an item's caller with the real time, in place of the expected time. */
  charge(item: Item, expectedMs: number, ms: number): void;
  /** Returns whether an item that is due needs a fresh worker. */
  wantsFresh(): boolean;
  /** Returns whether an item of another caller or connection waits. */
  hasOthers(item: Item): boolean;
  /** Removes and returns all items. */
  drain(): readonly Item[];
}

/** Waiting items of one caller and subject. */
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
  /** Newest waiting bundle of each subject. */
  const bySubject = new Map<object, Bundle>();
  /** Items that are due, but wait for a fresh worker. */
  let fresh: Item[] = [];

  const enter = (bundle: Bundle): void => {
    waiting.add(bundle);
    turns.add(bundle.party, bundle, 1);
  };
  /** Returns at most `max` items of the bundle that is next. */
  const next = (max: number): readonly Item[] | undefined => {
    const bundle = turns.next();
    if (bundle === undefined) return undefined;
    waiting.delete(bundle);
    const taken = bundle.items.splice(0, max);
    // The rest of a large bundle goes to the end of the queue, so that it delays no others.
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
    take(max, isFresh, ms) {
      for (;;) {
        const ready = isFresh ? fresh.shift() : undefined;
        const taken = ready === undefined ? next(max) : [ready].filter(isWanted);
        if (taken === undefined) return [];
        const [first] = taken;
        if (first === undefined) continue;
        if (ready === undefined) turns.expect(first.party ?? SERVER, ms(first));
        if (!first.fresh || isFresh) return taken;
        fresh.push(first);
      }
    },
    charge({ party = SERVER }, expectedMs, ms) {
      turns.expect(party, -expectedMs);
      turns.charge(party, ms);
    },
    wantsFresh() {
      fresh = fresh.filter(isWanted);
      return fresh.length > 0;
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
