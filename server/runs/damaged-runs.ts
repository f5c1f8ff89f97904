/**
 * Remembers runs whose journals are damaged. The damage is logged once and shown in lists until the run can be read
 * again or is deleted.
 */
import { type Store, StoreDamaged } from "../stores/store.ts";
import { FormatError } from "../curriculum/json.ts";
import type { Refusal } from "../curriculum/types.ts";
import type { Log } from "../base/log.ts";

/** Maximum number of damaged runs that are remembered. The damage of any further run is logged at each call. */
const DAMAGED_MAX = 1024;

export type Damages = ReturnType<typeof createDamages>;

export function createDamages(store: Pick<Store, "find">, log: Log | undefined) {
  const found = new Map<string, string>();
  return {
    /**
     * Converts an error of reading a run's journal to a refusal. Its kind is "damaged" if the journal is damaged, which
     * is remembered, or "failed_precondition" if this server cannot read the format. Any other error is thrown again.
     */
    refusal: (id: string, error: unknown): Refusal => {
      if (!(error instanceof FormatError || error instanceof StoreDamaged)) throw error;
      const message = `run "${id}" cannot be read: ${error.message}`;
      if (error instanceof FormatError) return { kind: "failed_precondition", message };
      if (found.get(id) !== message)
        log?.error({ run: id, problem: error.message }, "a run is damaged: restore it from a backup, or delete it");
      if (found.has(id) || found.size < DAMAGED_MAX) found.set(id, message);
      return { kind: "damaged", message };
    },
    /**
     * Returns the message about the damage that was found in a run's journal. Undefined: no damage was found so far.
     */
    of: (id: string) => found.get(id),
    /** Forgets the damage of a run that could be read again, or that no longer exists. */
    forget: (id: string): void => void found.delete(id),
    /** Forgets damaged runs that were deleted. If the store cannot be reached, a run stays remembered. */
    sweep: async (): Promise<void> => {
      for (const id of [...found.keys()]) if ((await store.find(id).catch(() => id)) === undefined) found.delete(id);
    },
    count: () => found.size,
  };
}
