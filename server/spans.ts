/**
 * Adds trace spans around the work of a call. Parts of the server are wrapped when they are assembled, so their own
 * code knows nothing of traces. Without an exporter nothing is wrapped.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Runs } from "./runs/runs.ts";
import type { InstanceKey } from "./curriculum/types.ts";
import type { WorkerPool } from "./tasks/making/workers.ts";
import type { Resources } from "./outside/gate/resources.ts";
import type { Traces } from "./runtime/traces.ts";
import type { AsyncScorer } from "./tasks/scoring/async-scorer.ts";
import type { Append, Appended, Store, Turn } from "./stores/store.ts";

export interface Spans {
  store(store: Store): Store;
  workers(workers: WorkerPool): WorkerPool;
  resources(resources: Resources): Resources;
  scorer(scorer: AsyncScorer): AsyncScorer;
  runs<Spec, Key extends InstanceKey>(runs: Runs<Spec, Key>): Runs<Spec, Key>;
}

export function spansOf(traces: Traces | undefined): Spans {
  if (traces === undefined) {
    const asItIs = <Part>(part: Part): Part => part;
    return { store: asItIs, workers: asItIs, resources: asItIs, scorer: asItIs, runs: asItIs };
  }
  const { within } = traces;
  const appending = (append: Append, work: () => Promise<Appended>): Promise<Appended> =>
    within("store append", { "gradus.events": append.events.length }, work);
  return {
    store: (store) => ({
      ...store,
      create: (run) => within("store create", {}, () => store.create(run)),
      append: (key, append) => appending(append, () => store.append(key, append)),
      // Some stores let only one server at a time write to a run. There, the wait for this turn and the write get a
      // span each.
      ...(store.turn && {
        turn: async (key: number): Promise<Turn> => {
          const turn = await within("store turn", {}, () => (store as Required<Store>).turn(key));
          return { ...turn, append: (append) => appending(append, () => turn.append(append)) };
        },
      }),
      find: (runId) => within("store find", {}, () => store.find(runId)),
      read: (...args) => within("store read", {}, () => store.read(...args)),
      remove: (key) => within("store remove", {}, () => store.remove(key)),
    }),
    workers: (workers) => ({
      ...workers,
      run: (job, signal) => within("worker", {}, () => workers.run(job, signal)),
    }),
    // The span of a resource includes the wait for its turn. The end of another call's attempt may start an attempt, so
    // each attempt is bound to the context of its own call.
    resources: (resources) => ({
      ...resources,
      run: (resource, job) =>
        within(resource.name, { "gradus.bytes": job.bytes }, () => {
          const attempt: typeof job.verify = (context) =>
            within(`${resource.name} attempt`, { "gradus.attempt": context.attempt }, () => job.verify(context));
          return resources.run(resource, { ...job, verify: AsyncLocalStorage.bind(attempt) });
        }),
    }),
    scorer: (scorer) => ({
      ...scorer,
      score: (task, completion, caller, sample) =>
        within("score", { "gradus.environment": task.token.environment }, () =>
          scorer.score(task, completion, caller, sample),
        ),
      play: (task, completion, form, caller, sample) =>
        within("play", { "gradus.environment": task.token.environment }, () =>
          scorer.play(task, completion, form, caller, sample),
        ),
    }),
    runs: (runs) => ({
      ...runs,
      recordFeedback: (runId, items) =>
        within("record feedback", { "gradus.run": runId, "gradus.samples": items.length }, () =>
          runs.recordFeedback(runId, items),
        ),
    }),
  };
}
