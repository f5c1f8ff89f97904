/** Waits for a run to change, and streams a run's state. */
import { sleep, until } from "../base/waiting.ts";
import type { RunState } from "../curriculum/state.ts";
import { type InstanceKey, ok, type Refusal, type Result } from "../curriculum/types.ts";
import { stateView, type StateView } from "../curriculum/run-view.ts";
import type { LiveRun, RefreshOutcome } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import type { Registry } from "./loaded-runs.ts";

/**
 * Waits until `isMet` returns true for the run's state, the run is deleted, `delayMs` has passed, or `signal` aborts.
 * All waiting callers share the readings of the store. If a reading fails, its failure is returned.
 */
export async function whenever<Spec, Key extends InstanceKey>(
  run: Pick<LiveRun<Spec, Key>, "state" | "isGone" | "follow">,
  isMet: (state: RunState<Spec, Key>) => boolean,
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const isOver = (): boolean => run.isGone() || isMet(run.state());
  let outcome: RefreshOutcome | Promise<RefreshOutcome> = "fresh";
  if (!isOver())
    await until(clock, delayMs, signal, (done) =>
      run.follow((looked) => {
        outcome = looked;
        if (looked !== "fresh" || isOver()) done();
      }),
    );
  return outcome;
}

/** Default minimum time, in milliseconds, between two states of a stream. Changes in between are shown together. */
const COALESCE_MS = 100;

/** Maximum time that one call on the run waits for a change, in milliseconds. Streams then call again. */
const LOOK_MS = 60_000;

type WatchedState =
  { readonly kind: "view"; readonly view: StateView } | { readonly kind: "same" } | { readonly kind: "end" };

/**
 * Waits until the run's version (number of its events) is greater than `seen`, or LOOK_MS milliseconds have passed. A
 * negative `seen` returns the stored state at once.
 */
async function look<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  clock: Clock,
  seen: number,
  signal: AbortSignal,
): Promise<WatchedState | Refusal> {
  const isNew = ({ version }: RunState): boolean => version > seen;
  const here = await (seen < 0 ? run.refresh() : whenever(run, isNew, clock, LOOK_MS, signal));
  if (here !== "fresh" && here.kind !== "gone") return here;
  if (run.isGone()) return { kind: "end" };
  return isNew(run.state()) ? { kind: "view", view: stateView(run.state()) } : { kind: "same" };
}

/**
 * Streams a run's state. The stream ends when the run is deleted, even if a new run has the same id by then. It also
 * ends when `signal` aborts, and after an error, because the run can then no longer be read.
 */
export async function* watchRun<Spec, Key extends InstanceKey>(
  registry: Registry<Spec, Key>,
  clock: Clock,
  runId: string,
  signal: AbortSignal,
  intervalMs: number = COALESCE_MS,
): AsyncGenerator<Result<StateView>> {
  let seen = -1;
  let key: number | undefined;
  while (!signal.aborted) {
    // Each wait is a new call on the run, so watching a run keeps it from expiring.
    const found = await registry.withRun<WatchedState | Refusal>(runId, async ({ run }) => {
      key ??= run.key;
      return run.key === key ? look(run, clock, seen, signal) : { kind: "end" };
    });
    if (found.kind === "same") continue;
    if (found.kind === "end" || found.kind === "not_found") return;
    if (found.kind !== "view") {
      yield found;
      return;
    }
    seen = found.view.version + 1;
    yield ok(found.view);
    await sleep(clock, intervalMs, signal);
  }
}
