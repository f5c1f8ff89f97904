/**
 * Ends requests (items) to a provider of environments when their caller disconnects. Items with the same abort signal
 * share one event listener, because many listeners on a signal are slow.
 */
import { type Failure, failure } from "./provider.ts";
import type { Item } from "./item-queue.ts";

/** Result of a request whose caller has disconnected. */
export const UNWANTED: Failure = Object.freeze(failure("timeout", "the caller stopped waiting"));

export interface AbortableItems {
  /** Registers an item (a request). When the item's signal aborts, the item ends with the failure UNWANTED. */
  enter(item: Item): void;
  /** Removes an item that already has its result, so that an abort no longer affects it. */
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
