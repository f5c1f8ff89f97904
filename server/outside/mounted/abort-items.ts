/**
 * Settles items whose signal is aborted. Items of one signal share one listener, because they may
 * be many and a listener is costly.
 */
import { type Failure, failure } from "./provider.ts";
import type { Item } from "./item-queue.ts";

/** Result of an item that nobody waits for. */
export const UNWANTED: Failure = Object.freeze(failure("timeout", "nobody waits for it"));

export interface AbortableItems {
  /** Settles the item as soon as its signal is aborted. */
  enter(item: Item): void;
  /** Removes an item that has been settled. */
  leave(item: Item): void;
}

export function createAbortableItems(): AbortableItems {
  const bySignal = new Map<AbortSignal, { readonly items: Set<Item>; readonly onAbort: () => void }>();
  return {
    enter(item) {
      const { signal } = item;
      const known = bySignal.get(signal);
      if (known !== undefined) return void known.items.add(item);
      const items = new Set([item]);
      const onAbort = (): void => {
        for (const each of items) each.settle(UNWANTED);
      };
      bySignal.set(signal, { items, onAbort });
      signal.addEventListener("abort", onAbort, { once: true });
    },
    leave(item) {
      const { signal } = item;
      const known = bySignal.get(signal);
      if (known?.items.delete(item) !== true || known.items.size > 0) return;
      bySignal.delete(signal);
      signal.removeEventListener("abort", known.onAbort);
    },
  };
}
