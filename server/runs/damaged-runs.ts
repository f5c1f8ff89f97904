/** Runs whose journals are damaged. Each is logged once, counted, and named in lists as long as it exists. */
import { type Store, StoreDamaged } from "../stores/store.ts";
import { FormatError } from "../curriculum/json.ts";
import type { Refusal } from "../curriculum/types.ts";
import type { Log } from "../base/log.ts";

/** Maximum number of damaged runs that are kept by name. Calls for others are refused and logged in the same way. */
const DAMAGED_MAX = 1024;

export type Damages = ReturnType<typeof createDamages>;

export function createDamages(store: Pick<Store, "find">, log: Log | undefined) {
  const found = new Map<string, string>();
  return {
    /** Returns the refusal of a call for an error in the run's journal. Throws any other error. */
    refusal: (id: string, error: unknown): Refusal => {
      if (!(error instanceof FormatError || error instanceof StoreDamaged)) throw error;
      const message = `run "${id}" cannot be read: ${error.message}`;
      if (error instanceof FormatError) return { kind: "failed_precondition", message };
      if (found.get(id) !== message)
        log?.error({ run: id, problem: error.message }, "a run is damaged: restore it from a backup, or delete it");
      if (found.has(id) || found.size < DAMAGED_MAX) found.set(id, message);
      return { kind: "damaged", message };
    },
    /** Returns the damage that was found in a run. Undefined: none so far. */
    of: (id: string) => found.get(id),
    /** Forgets a run that was read again, or that no longer exists. */
    forget: (id: string): void => void found.delete(id),
    /** Forgets the runs that were deleted. If the store cannot be reached, a run stays listed. */
    sweep: async (): Promise<void> => {
      for (const id of [...found.keys()]) if ((await store.find(id).catch(() => id)) === undefined) found.delete(id);
    },
    count: () => found.size,
  };
}
