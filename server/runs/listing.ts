/** Lists runs from their stored summaries. A run's journal is read only if its summary is outdated. */
import { type ListedRun, StoreDamaged } from "../stores/store.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import { runView } from "../curriculum/run-view.ts";
import { decodeSummary, encodeSummary, type ListedView, readState } from "./journal.ts";
import { serial } from "./live-run.ts";
import type { Ports } from "./dependencies.ts";
import type { Registry } from "./loaded-runs.ts";
import { nextTurn } from "../base/clock-turns.ts";

/** Page of a list. `next` says where the next page begins. Undefined: this is the last page. */
export interface Page<Item, Next> {
  readonly items: readonly Item[];
  readonly next: Next | undefined;
}

/** Item in a list of runs: a run, or the reason why it cannot be read. */
export type ListItem =
  | { readonly kind: "run"; readonly view: ListedView }
  | { readonly kind: "unreadable"; readonly runId: string; readonly message: string };

/** Number of runs that are listed at a time, before other work can run. They take a few milliseconds. */
const LISTED_TOGETHER = 16;

/** Returns a function that lists the runs whose ids come after a given id. */
export function listing<Spec, Key extends InstanceKey>(
  { store, clock, source, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
): (afterId: string, limit: number) => Promise<Page<ListItem, string>> {
  const { damages } = registry;
  // Lists of runs are made one at a time, so that many requests at once do not block the event loop for longer than one
  // does.
  const inTurn = serial();
  /**
   * Returns a run from its summary. If the summary is outdated, the run comes from memory, or else from its journal,
   * and then a new summary is written.
   */
  const listed = async (row: ListedRun): Promise<ListedView | undefined> => {
    const summary = decodeSummary(row);
    if (summary?.runId === row.id) return summary;
    const live = await registry.inMemory(row.id);
    if (live?.key === row.key && live.state().version === row.version) return runView(live.state());
    const state = await readState(store, row, source, clock);
    if (state === undefined) return undefined;
    const mended = {
      expectedVersion: state.version,
      events: [],
      records: [],
      summary: encodeSummary(state, undefined),
    };
    // Another server may have written a summary meanwhile. If writing fails, the returned list is still right.
    await store.append(row.key, mended).catch((err: unknown) => {
      if (!(err instanceof StoreDamaged)) throw err;
      log?.warn(
        { err, run: row.id },
        "cannot write the summary of a run; lists of runs read its journal instead, which is slower",
      );
    });
    return runView(state);
  };
  return (afterId, limit) =>
    inTurn(async () => {
      const { runs: rows, more } = await store.list(afterId, limit);
      const items: ListItem[] = [];
      for (const [i, row] of rows.entries()) {
        if (i % LISTED_TOGETHER === LISTED_TOGETHER - 1) await nextTurn(clock);
        try {
          const damage = damages.of(row.id);
          const view = damage === undefined ? await listed(row) : undefined;
          if (damage !== undefined) items.push({ kind: "unreadable", runId: row.id, message: damage });
          if (view !== undefined) items.push({ kind: "run", view });
        } catch (error) {
          items.push({ kind: "unreadable", runId: row.id, message: damages.refusal(row.id, error).message });
        }
      }
      return { items, next: more ? rows.at(-1)?.id : undefined };
    });
}
