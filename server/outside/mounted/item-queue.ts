/**
 * Queue of items that wait for a worker. Callers take turns, and items of one subject and caller go
 * together in one frame.
 */
import { type Party, fairTurns } from "../../base/fair-turns.ts";
import type { FrameContent } from "./provider-frames.ts";
import type { AskedEnvironment, Failure } from "./provider.ts";

/** One request to a worker, which the worker answers with one frame. */
export interface Item<Answer = unknown> {
  /**
   * Items of one subject share a frame. The subject of answers is their instance; that of seeds is
   * their call.
   */
  readonly subject: object;
  /** Caller and connection whose turn the item takes. Undefined for the server's own. */
  readonly party: Party | undefined;
  readonly environment: AskedEnvironment;
  /** Maximum processor time, in milliseconds. */
  readonly limitMs: number;
  /** Whether the item needs a worker that has served nothing before. */
  fresh: boolean;
  readonly signal: AbortSignal;
  /** Returns the frame that asks all of these items, which have one subject. */
  frameOf(items: readonly Item[]): FrameContent;
  /** Returns a frame's answer to the item at this place; undefined if the frame does not answer it. */
  read(content: FrameContent, place: number): Answer | Failure | undefined;
  settle(answer: Answer | Failure): void;
  /** Number of hosts that ended while they had the item. */
  lost: number;
}

export interface ItemQueue {
  add(item: Item): void;
  /**
   * Requeues items of a worker that ended. Each goes alone, because one of them may be why the
   * worker ended.
   */
  putBack(items: readonly Item[]): void;
  /**
   * Takes the next items that go together, at most `max`. An item that needs a fresh worker goes
   * alone, to a fresh one. Items whose signal is aborted are left out. `ms` returns the expected
   * time of a turn, in milliseconds.
   */
  take(max: number, isFresh: boolean, ms: (first: Item) => number): readonly Item[];
  /** Charges the caller of an item with the real time in place of the expected time. */
  charge(item: Item, expectedMs: number, ms: number): void;
  /** Returns whether an item whose turn has come needs a fresh worker. */
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
  /** The newest waiting bundle of each subject. */
  const bySubject = new Map<object, Bundle>();
  /** Items whose turn has come and that wait for a fresh worker. */
  let fresh: Item[] = [];

  const enter = (bundle: Bundle): void => {
    waiting.add(bundle);
    turns.add(bundle.party, bundle, 1);
  };
  /** Returns at most `max` items of the next bundle in turn. */
  const next = (max: number): readonly Item[] | undefined => {
    const bundle = turns.next();
    if (bundle === undefined) return undefined;
    waiting.delete(bundle);
    const taken = bundle.items.splice(0, max);
    // The rest of a large group goes behind the others, so that it delays nobody.
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
