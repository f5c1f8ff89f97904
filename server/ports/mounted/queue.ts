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
  /** The next that go together, at most so many. Those whose signal is aborted are left out. */
  take(max: number): readonly Item[];
  waiting(): number;
  /** Takes all of them out. */
  drain(): readonly Item[];
}

export function createQueue(): ItemQueue {
  let first: Item[] = [];
  const bySubject = new Map<object, Item[]>();

  const takeFirst = (): readonly Item[] => {
    const [head] = first;
    if (head === undefined) return [];
    // What was put back goes one by one: one of them may be why a worker ended.
    first = first.slice(1);
    return [head];
  };
  const takeSubject = (max: number): readonly Item[] => {
    for (const [subject, items] of bySubject) {
      const [head] = items;
      const taken = items.splice(0, head?.fresh === true ? 1 : max);
      bySubject.delete(subject);
      // The rest of a large group stands behind the others: it holds up nobody.
      if (items.length > 0) bySubject.set(subject, items);
      return taken;
    }
    return [];
  };

  return {
    add(item) {
      // What needs a fresh worker is asked alone.
      const subject = item.fresh ? item : item.subject;
      const items = bySubject.get(subject);
      if (items === undefined) bySubject.set(subject, [item]);
      else items.push(item);
    },
    putBack: (items) => void (first = [...items, ...first]),
    take(max) {
      while (first.length > 0 || bySubject.size > 0) {
        const taken = (first.length > 0 ? takeFirst() : takeSubject(max)).filter(({ signal }) => !signal.aborted);
        if (taken.length > 0) return taken;
      }
      return [];
    },
    waiting: () => first.length + bySubject.size,
    drain() {
      const all = [...first, ...[...bySubject.values()].flat()];
      first = [];
      bySubject.clear();
      return all;
    },
  };
}
