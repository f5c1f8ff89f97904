/** Waiting for a run to change, and a run's state as a stream. */
import { sleep, until } from "../base/waiting.ts";
import { type InstanceKey, ok, type Refusal, type Result } from "../curriculum/types.ts";
import { stateView, type StateView } from "../curriculum/run-view.ts";
import type { LiveRun } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import type { Registry } from "./loaded-runs.ts";

/** How often a waiter looks for changes that other processes have made. */
export const POLL_MS = 250;

/** What changes now and then, such as a run in memory. */
type Changing = Pick<LiveRun<unknown, InstanceKey>, "onChange">;

/** Resolves when the run changes or is gone, after a delay, or when `signal` aborts. */
export function changeOf(run: Changing, clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return until(clock, delayMs, signal, (done) => run.onChange(done));
}

/** Changes that come closer together than this are shown as one, for those who ask for nothing else. */
const COALESCE_MS = 100;

type Seen = { readonly kind: "view"; readonly view: StateView } | { readonly kind: "same" } | { readonly kind: "end" };

/** Looks whether the run is past a version, and if not waits a little for that. */
async function look<Spec, Key extends InstanceKey>(
  run: LiveRun<Spec, Key>,
  clock: Clock,
  seen: number,
  signal: AbortSignal,
): Promise<Seen | Refusal> {
  const here = await run.refresh();
  if (here !== "fresh") return here.kind === "gone" ? { kind: "end" } : here;
  const state = run.state();
  if (state.version > seen) return { kind: "view", view: stateView(state) };
  await changeOf(run, clock, POLL_MS, signal);
  return { kind: "same" };
}

/**
 * Ends when the run is deleted, even if another has its id by then, or when `signal` aborts; after a refusal, too, where
 * the run can no longer be read.
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
    // Each look is a call of its own, so that watching counts as asking for the run.
    const found = await registry.withRun<Seen | Refusal>(runId, async ({ run }) => {
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
