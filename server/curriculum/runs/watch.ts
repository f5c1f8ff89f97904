/** A run's state as a stream. */
import { stateView, type StateView } from "../view.ts";
import type { Clock } from "./ports.ts";
import type { LiveRun } from "./live-run.ts";
import type { Registry } from "./registry.ts";
import { changeOf, POLL_MS, sleep } from "./waiting.ts";

/** Changes that come closer together than this are shown as one. */
const COALESCE_MS = 100;

type Seen = { readonly kind: "view"; readonly view: StateView } | { readonly kind: "same" } | { readonly kind: "end" };

/** Looks whether the run is past a version, and if not waits a little for that. */
async function look(run: LiveRun, clock: Clock, seen: number, signal: AbortSignal): Promise<Seen> {
  if (!(await run.refresh())) return { kind: "end" };
  const state = run.state();
  if (state.version > seen) return { kind: "view", view: stateView(state) };
  await changeOf(run, clock, POLL_MS, signal);
  return { kind: "same" };
}

/** Ends when the run is deleted, even if another has its id by then, or when `signal` aborts. */
export async function* watchRun(
  registry: Registry,
  clock: Clock,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<StateView> {
  let seen = -1;
  let key: number | undefined;
  while (!signal.aborted) {
    // Each look is a call of its own, so that watching counts as asking for the run.
    const found = await registry.withRun<Seen>(runId, async ({ run }) => {
      key ??= run.key;
      return run.key === key ? look(run, clock, seen, signal) : { kind: "end" };
    });
    if (found.kind === "same") continue;
    if (found.kind !== "view") return;
    seen = found.view.version + 1;
    yield found.view;
    await sleep(clock, COALESCE_MS, signal);
  }
}
