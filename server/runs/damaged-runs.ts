/** Runs whose journals are damaged: each is logged once, counted, and named in lists while it is there. */
import { type Store, StoreDamaged } from "../stores/store.ts";
import { FormatError } from "../curriculum/json.ts";
import type { Refusal } from "../curriculum/types.ts";
import type { Log } from "../base/log.ts";

/** The maximum of runs that are kept by name. Calls for the others are refused and logged alike. */
const DAMAGED_MAX = 1024;

export type Damages = ReturnType<typeof createDamages>;

export function createDamages(store: Pick<Store, "find">, log: Log | undefined) {
  const found = new Map<string, string>();
  return {
    /** Returns what a call for a run is told of an error of its journal, and throws any other error. */
    refusal: (id: string, error: unknown): Refusal => {
      if (!(error instanceof FormatError || error instanceof StoreDamaged)) throw error;
      const message = `run "${id}" cannot be read: ${error.message}`;
      if (error instanceof FormatError) return { kind: "failed_precondition", message };
      if (found.get(id) !== message)
        log?.error({ run: id, problem: error.message }, "a run is damaged: restore it from a backup, or delete it");
      if (found.has(id) || found.size < DAMAGED_MAX) found.set(id, message);
      return { kind: "damaged", message };
    },
    /** Returns what was found damaged in a run; undefined: nothing so far. */
    of: (id: string) => found.get(id),
    /** Forgets a run that was read, or is not there any more. */
    forget: (id: string): void => void found.delete(id),
    /** Forgets the runs that were deleted. A store that is away says nothing of a run. */
    sweep: async (): Promise<void> => {
      for (const id of [...found.keys()]) if ((await store.find(id).catch(() => id)) === undefined) found.delete(id);
    },
    count: () => found.size,
  };
}
