/** Which resources are down, and the arms of runs that are masked for it. */
import type { RunEvent } from "../curriculum/events.ts";
import type { RunState } from "../curriculum/state.ts";
import type { InstanceKey } from "../curriculum/types.ts";
import type { LiveRun } from "./live-run.ts";
import type { Ports } from "./dependencies.ts";

export interface Masks {
  /** Says that a resource is down, and why, or that it is up again (undefined); brings the runs in line. */
  set<Spec, Key extends InstanceKey>(
    resource: string,
    reason: string | undefined,
    loaded: () => Promise<readonly LiveRun<Spec, Key>[]>,
  ): Promise<void>;
  /** Brings a run in line with what is down now, whatever was when it was last changed. */
  bring<Spec, Key extends InstanceKey>(run: LiveRun<Spec, Key>): Promise<void>;
  /** Brings those of some runs in line that could not be. */
  retry<Spec, Key extends InstanceKey>(runs: readonly LiveRun<Spec, Key>[]): Promise<void>;
}

/** The changes that bring a run in line. */
function changesFor(
  { config, masks }: RunState,
  whyDown: (resource: string, spec: unknown) => string | undefined,
): readonly Extract<RunEvent, { readonly kind: "armMasked" | "armUnmasked" }>[] {
  return config.arms.flatMap(({ resource, spec }, arm) => {
    // One that depends on nothing is masked because it gives no tasks, and stays so.
    if (resource === undefined) return [];
    const reason = whyDown(resource, spec);
    const isMasked = masks[arm] !== null;
    if ((reason !== undefined) === isMasked) return [];
    return [reason === undefined ? { kind: "armUnmasked", arm } : { kind: "armMasked", arm, reason }];
  });
}

export function createMasks<Spec, Key extends InstanceKey>({ log, rows }: Ports<Spec, Key>): Masks {
  const down = new Map<string, string>();
  const whyDown = (resource: string, spec: unknown): string | undefined =>
    down.get(resource) ?? rows?.whyMissing?.(spec as Spec);
  const bring: Masks["bring"] = async (run) => {
    // Most runs depend on nothing, and are not even looked at in the store.
    if (changesFor(run.state(), whyDown).length === 0) return;
    await run.commit((state) => ({ events: changesFor(state, whyDown), value: null }));
  };
  /** Runs that could not be brought in line. */
  const late = new WeakSet();
  const bringAll: Masks["retry"] = async (runs) => {
    const all = await Promise.allSettled(runs.map((run) => bring(run)));
    for (const [i, each] of all.entries()) {
      if (each.status === "fulfilled") continue;
      late.add(runs[i] as object);
      log?.warn({ err: each.reason as unknown }, "arms of a run were not masked, which is tried again");
    }
  };
  return {
    bring,
    set: async (resource, reason, loaded) => {
      // Before the runs are looked for: one that is loaded meanwhile is brought in line with this.
      if (reason === undefined) down.delete(resource);
      else down.set(resource, reason);
      await bringAll(await loaded());
    },
    retry: (runs) => bringAll(runs.filter((run) => late.delete(run))),
  };
}
