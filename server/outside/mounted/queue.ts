/** Items that wait for a worker: callers take turns, and items of one subject and caller go together in one frame. */
import { type Party, fairTurns } from "../../base/fair-turns.ts";
import type { FrameContent } from "./frames.ts";
import type { AskedEnvironment, Failure } from "./provider.ts";

/** One thing that a worker is asked, and that it answers with one frame. */
export interface Item<Answer = unknown> {
  /** Items of one subject are asked in one frame: an instance that answers are of, or a level. */
  readonly subject: object;
  /** Whose turn it takes; undefined: the server's own. */
  readonly party: Party | undefined;
  readonly environment: AskedEnvironment;
  /** Processor time that it may take, milliseconds. */
  readonly limitMs: number;
  /** Of a worker that has served nothing before. */
  fresh: boolean;
  readonly signal: AbortSignal;
  /** The frame that asks for all of these, which are of one subject. */
  frameOf(items: readonly Item[]): FrameContent;
  /** What a frame says to the item at this place; undefined: nothing that it was asked. */
  read(content: FrameContent, place: number): Answer | Failure | undefined;
  settle(answer: Answer | Failure): void;
  /** Hosts that ended while they had it. */
  lost: number;
}

export interface ItemQueue {
  add(item: Item): void;
  /** Items of a worker that ended before it answered them: each goes alone, for one of them may be why it ended. */
  putBack(items: readonly Item[]): void;
  /**
   * The next items that go together, at most so many; an item that needs a fresh worker goes alone, to one that is. Items
   * whose signal is aborted are left out. Each turn is expected to take `ms`.
   */
  take(max: number, isFresh: boolean, ms: (first: Item) => number): readonly Item[];
  /** Charges the caller of an item, in place of what was expected. */
  charge(item: Item, expectedMs: number, ms: number): void;
  /** Whether an item whose turn has come needs a fresh worker. */
  wantsFresh(): boolean;
  /** Whether an item of another caller or connection waits. */
  hasOthers(item: Item): boolean;
  /** Takes all of them out. */
  drain(): readonly Item[];
}

/** Items of one caller and subject. */
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
  /** The newest bundle of each subject that still waits. */
  const bySubject = new Map<object, Bundle>();
  /** Items whose turn has come, and that wait for a fresh worker. */
  let fresh: Item[] = [];

  const enter = (bundle: Bundle): void => {
    waiting.add(bundle);
    turns.add(bundle.party, bundle, 1);
  };
  /** The bundle whose turn it is, and of it at most so many items. */
  const next = (max: number): readonly Item[] | undefined => {
    const bundle = turns.next();
    if (bundle === undefined) return undefined;
    waiting.delete(bundle);
    const taken = bundle.items.splice(0, max);
    // The rest of a large group stands behind the others: it holds up nobody.
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
