/**
 * Masks the arms of runs that depend on an external resource which is down, e.g. a judge. Masked arms are not drawn.
 */
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Ports } from "./dependencies.ts";

export type Masks = ReturnType<typeof createMasks>;

/** Returns the events that mask arms whose external resource is down, and unmask arms whose resource is up again. */
function changesFor(
  { config, masks }: RunState,
  whyDown: (resource: string, spec: unknown) => string | undefined,
): readonly Extract<RunEvent, { readonly kind: "armMasked" | "armUnmasked" }>[] {
  return config.arms.flatMap(({ resource, spec }, arm) => {
    // An arm that depends on no resource was masked because it has no more tasks. It stays masked.
    if (resource === undefined) return [];
    const reason = whyDown(resource, spec);
    const isMasked = masks[arm] !== null;
    if ((reason !== undefined) === isMasked) return [];
    return [reason === undefined ? { kind: "armUnmasked", arm } : { kind: "armMasked", arm, reason }];
  });
}

export function createMasks<Spec, Key extends InstanceKey>({ log, rows }: Ports<Spec, Key>) {
  const down = new Map<string, string>();
  const whyDown = (resource: string, spec: unknown): string | undefined =>
    down.get(resource) ?? rows?.whyMissing?.(spec as Spec);
  /** Masks a run's arms whose external resource is down now, and unmasks arms whose resource is up again. */
  const bring = async <S, K extends InstanceKey>(run: LiveRun<S, K>): Promise<void> => {
    // Most runs depend on no external resource. For these, nothing is read from the store.
    if (changesFor(run.state(), whyDown).length === 0) return;
    await run.commit((state) => ({ events: changesFor(state, whyDown), value: null }));
  };
  /** Runs whose masks could not be updated. The next sweep tries again. */
  const late = new WeakSet();
  const bringAll = async <S, K extends InstanceKey>(runs: readonly LiveRun<S, K>[]): Promise<void> => {
    const all = await Promise.allSettled(runs.map((run) => bring(run)));
    for (const [i, each] of all.entries()) {
      if (each.status === "fulfilled") continue;
      late.add(runs[i] as object);
      log?.warn({ err: each.reason as unknown }, "cannot change the masks of a run's arms: trying again");
    }
  };
  return {
    bring,
    /**
     * Records that a resource is down, with the reason, or that it is up again (undefined). Updates the runs in memory.
     */
    set: async <S, K extends InstanceKey>(
      resource: string,
      reason: string | undefined,
      loaded: () => Promise<readonly LiveRun<S, K>[]>,
    ): Promise<void> => {
      // The resource is recorded before the runs are listed, so that runs loaded meanwhile are masked too.
      if (reason === undefined) down.delete(resource);
      else down.set(resource, reason);
      await bringAll(await loaded());
    },
    /** Tries again to mask and unmask the arms of those `runs` for which an earlier attempt failed. */
    retry: <S, K extends InstanceKey>(runs: readonly LiveRun<S, K>[]) =>
      bringAll(runs.filter((run) => late.delete(run))),
  };
}
