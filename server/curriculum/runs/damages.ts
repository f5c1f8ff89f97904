/** Runs whose journals are damaged: each is logged once, counted, and named in lists while it is there. */
import { type Store, StoreDamaged } from "../../stores/store.ts";
import { FormatError } from "../core/json.ts";
import type { Refusal } from "../core/types.ts";
import type { Log } from "./ports.ts";

/** The maximum of runs that are kept by name. Calls for the others are refused and logged alike. */
const DAMAGED_MAX = 1024;

export interface Damages {
  /** Returns what a call for a run is told of an error of its journal, and throws any other error. */
  refusal(id: string, error: unknown): Refusal;
  /** Returns what was found damaged in a run; undefined: nothing so far. */
  of(id: string): string | undefined;
  /** Forgets a run that was read, or is not there any more. */
  forget(id: string): void;
  /** Forgets the runs that were deleted. */
  sweep(): Promise<void>;
  count(): number;
}

export function createDamages(store: Pick<Store, "find">, log: Log | undefined): Damages {
  const found = new Map<string, string>();
  return {
    refusal: (id, error) => {
      if (!(error instanceof FormatError || error instanceof StoreDamaged)) throw error;
      const message = `run "${id}" cannot be read: ${error.message}`;
      if (error instanceof FormatError) return { kind: "failed_precondition", message };
      if (found.get(id) !== message)
        log?.error({ run: id, problem: error.message }, "a run is damaged: restore it from a backup, or delete it");
      if (found.has(id) || found.size < DAMAGED_MAX) found.set(id, message);
      return { kind: "damaged", message };
    },
    of: (id) => found.get(id),
    forget: (id) => void found.delete(id),
    sweep: async () => {
      for (const id of [...found.keys()]) {
        // A store that is away, or whose file is damaged, says nothing of the run.
        const row = await store.find(id).catch(() => id);
        if (row === undefined) found.delete(id);
      }
    },
    count: () => found.size,
  };
}
