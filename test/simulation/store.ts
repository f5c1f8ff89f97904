/** One store for all servers of a world; it outlives them, and what each of them sees of it. */
import { memoryStore } from "../../server/stores/memory.ts";
import { type Store, StoreUnavailable } from "../../server/stores/store.ts";
import type { World } from "./world.ts";

/** A journal as it was committed, whether or not its run is still there. */
export interface KeptJournal {
  readonly runId: string;
  readonly events: readonly Uint8Array[];
}

export interface SharedStore {
  readonly store: Store;
  /** The journals of all runs that ever were, by key. */
  journals(): ReadonlyMap<number, KeptJournal>;
}

/** A memory store that keeps the journals of deleted runs, for whoever checks. */
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

/** Probabilities of what goes wrong with one operation. */
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
          // The store may still do what a dead process asked for; nobody hears of it.
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
