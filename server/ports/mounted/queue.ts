/** What waits for a worker: items that go together in one frame stand together, and who came first goes first. */
import type { FrameContent } from "./frames.ts";
import type { AskedEnvironment, Failure } from "./provider.ts";

/** One thing that a worker is asked, and that it answers with one frame. */
export interface Item<Answer = unknown> {
  /** Items of one subject are asked in one frame: an instance that answers are of, or a level. */
  readonly subject: object;
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
  /** Before all others: a worker had begun them, or was to. */
  putBack(items: readonly Item[]): void;
  /**
   * The next that go together, at most so many; of those that need a fresh worker the first, alone, for one that is. Those
   * whose signal is aborted are left out.
   */
  take(max: number, isFresh: boolean): readonly Item[];
  /** Whether any needs a fresh worker. */
  wantsFresh(): boolean;
  /** Takes all of them out. */
  drain(): readonly Item[];
}

export function createQueue(): ItemQueue {
  let first: Item[] = [];
  let fresh: Item[] = [];
  const bySubject = new Map<object, Item[]>();

  const takeSubject = (max: number): readonly Item[] => {
    for (const [subject, items] of bySubject) {
      const taken = items.splice(0, max);
      bySubject.delete(subject);
      // The rest of a large group stands behind the others: it holds up nobody.
      if (items.length > 0) bySubject.set(subject, items);
      return taken;
    }
    return [];
  };
  const isWanted = ({ signal }: Item): boolean => !signal.aborted;

  return {
    add(item) {
      if (item.fresh) return void fresh.push(item);
      const items = bySubject.get(item.subject);
      if (items === undefined) bySubject.set(item.subject, [item]);
      else items.push(item);
    },
    putBack(items) {
      first = [...items.filter((item) => !item.fresh), ...first];
      fresh = [...items.filter((item) => item.fresh), ...fresh];
    },
    take(max, isFresh) {
      for (;;) {
        // What was put back goes one by one: one of them may be why a worker ended.
        const alone = (isFresh ? fresh.shift() : undefined) ?? first.shift();
        const taken = alone === undefined ? takeSubject(max) : [alone];
        const wanted = taken.filter(isWanted);
        if (wanted.length > 0 || taken.length === 0) return wanted;
      }
    },
    wantsFresh() {
      fresh = fresh.filter(isWanted);
      return fresh.length > 0;
    },
    drain() {
      const all = [...fresh, ...first, ...[...bySubject.values()].flat()];
      [fresh, first] = [[], []];
      bySubject.clear();
      return all;
    },
  };
}
