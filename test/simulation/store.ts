/** Store for all servers of a world. It outlives them, and each server sees it through a view of its own. */
import { memoryStore } from "../../server/stores/memory.ts";
import { type Store, StoreUnavailable } from "../../server/stores/store.ts";
import type { World } from "./world.ts";

/** Committed journal, whether or not its run still exists. */
export interface KeptJournal {
  readonly runId: string;
  readonly events: readonly Uint8Array[];
}

export interface SharedStore {
  readonly store: Store;
  /** The journals of all runs that ever were, by key. */
  journals(): ReadonlyMap<number, KeptJournal>;
}

/** Memory store that keeps the journals of deleted runs for the final checks. */
export function sharedStore(): SharedStore {
  const kept = new Map<number, { readonly runId: string; readonly events: Uint8Array[] }>();
  const store = memoryStore();
  return {
    journals: () => kept,
    store: {
      ...store,
      create: async (run) => {
        const outcome = await store.create(run);
        const row = outcome === "created" ? await store.find(run.id) : undefined;
        if (row !== undefined) kept.set(row.key, { runId: run.id, events: [...run.events] });
        return outcome;
      },
      append: async (key, append) => {
        const outcome = await store.append(key, append);
        if (outcome === "appended") kept.get(key)?.events.push(...append.events);
        return outcome;
      },
    },
  };
}

/** Probabilities of the faults of one operation. */
export interface StoreFaults {
  /** The store refuses the operation, and writes nothing. */
  readonly unavailable: number;
  /** The store does the operation, and then says that it failed. */
  readonly failsAfterwards: number;
}

type Operations = { readonly [Name in keyof Store]: (...args: never[]) => Promise<unknown> };

/** The store as one process sees it: far away, failing now and then, and gone when the process is. */
export function storeOf(
  world: World,
  shared: Store,
  process: { readonly name: string; readonly isAlive: () => boolean; readonly storeIsDown: () => boolean },
  faults: StoreFaults,
): Store {
  const far =
    (name: string, operation: (...args: never[]) => Promise<unknown>) =>
    (...args: never[]): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const reply = (settle: () => void): void =>
          void world.after(world.delayMs(0.5), `${process.name} store answers ${name}`, () => {
            if (process.isAlive()) settle();
          });
        const fail = (error: Error): void => reply(() => reject(error));
        const execute = async (): Promise<void> => {
          // The store may still complete an operation of a dead process, which nobody learns of.
          if (!process.isAlive() && !world.fault("store acts for a dead server", 0.5)) return;
          if (process.storeIsDown() || world.fault("store unavailable", faults.unavailable))
            return fail(new StoreUnavailable("the store is unavailable"));
          if (name === "saveSnapshot") world.count("snapshot written");
          const value = await operation(...args);
          if (world.fault("store fails after it wrote", faults.failsAfterwards)) fail(new Error("the store failed"));
          else reply(() => resolve(value));
        };
        world.after(world.delayMs(0.5), `${process.name} store ${name}`, () => void execute().catch(fail));
      });
  const operations = Object.entries(shared as Omit<Store, "listen"> as Operations).map(([name, operation]) => [
    name,
    far(name, operation),
  ]);
  return Object.fromEntries(operations) as Store;
}
