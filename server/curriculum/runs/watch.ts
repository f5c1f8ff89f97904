/** Waiting for a run to change, and a run's state as a stream. */
import { type InstanceKey, ok, type Refusal, type Result } from "../core/types.ts";
import { stateView, type StateView } from "../core/view.ts";
import type { LiveRun } from "./live-run.ts";
import type { Clock } from "./ports.ts";
import type { Registry } from "./registry.ts";

/** How often a waiter looks for changes that other processes have made. */
export const POLL_MS = 250;

/** What changes now and then, such as a run in memory. */
type Changing = Pick<LiveRun<unknown, InstanceKey>, "onChange">;

/** Resolves after a delay, or when `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return until(clock, delayMs, signal, () => () => undefined);
}

/** Resolves when the run changes or is gone, after a delay, or when `signal` aborts. */
export function changeOf(run: Changing, clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return until(clock, delayMs, signal, (done) => run.onChange(done));
}

function until(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
  subscribe: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      unsubscribe();
      cancelTimer();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const unsubscribe = subscribe(done);
    const cancelTimer = clock.setTimer(delayMs, done);
    signal.addEventListener("abort", done);
  });
}

/** The promise's outcome, or undefined as soon as `signal` aborts. The work behind the promise goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
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
