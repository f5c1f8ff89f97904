/** The list of runs, without reading the journals of those that are listed. */
import { type ListedRun, StoreDamaged } from "../stores/store.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import { runView } from "../curriculum/run-view.ts";
import { decodeSummary, encodeSummary, type ListedView, readState } from "./journal.ts";
import { serial } from "./live-run.ts";
import type { Ports } from "./dependencies.ts";
import type { Registry } from "./loaded-runs.ts";
import { nextTurn } from "../base/clock-turns.ts";

/** A page of a list; `next`: where the next page starts; undefined: this is the last. */
export interface Page<Item, Next> {
  readonly items: readonly Item[];
  readonly next: Next | undefined;
}

/** A run of a list; one that cannot be read stands there with why, so that the others are listed. */
export type ListItem =
  | { readonly kind: "run"; readonly view: ListedView }
  | { readonly kind: "unreadable"; readonly runId: string; readonly message: string };

/** Runs that are listed before others have their turn: a few milliseconds. */
const LISTED_TOGETHER = 16;

/** Lists the runs with ids after one. */
export function listing<Spec, Key extends InstanceKey>(
  { store, clock, source, log }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
): (afterId: string, limit: number) => Promise<Page<ListItem, string>> {
  const { damages } = registry;
  // One list at a time, so that many of them together take no more of the event loop than one.
  const inTurn = serial();
  /** From its summary; where that does not hold, as it is in memory; else from its journal, and the summary is mended. */
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
    // Another server that is quicker writes one of its own; and where it cannot be written, the list is right without it.
    await store.append(row.key, mended).catch((err: unknown) => {
      if (!(err instanceof StoreDamaged)) throw err;
      log?.warn({ err, run: row.id }, "the summary of a run cannot be mended");
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
