/** The states of a run as they come, by the stream that all windows of the page share. */
import { fromBinary } from "@bufbuild/protobuf";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { type RunState, RunStateSchema } from "../../../clients/ts/src/public.ts";
import type { Gradus } from "../session.ts";
import type { WatchAsked, WatchTold } from "./watch-messages.ts";

/** Between two states, where the browser has no shared workers. */
const INTERVAL_MS = 1_000;

interface Shared {
  readonly ask: (asked: WatchAsked) => void;
  /** The listeners, by the id of their request. */
  readonly listeners: Map<string, (told: WatchTold) => void>;
}

let shared: Shared | undefined;

/** Undefined: the browser has no shared workers, as Chrome on Android has none. */
function sharedWorker(): Shared | undefined {
  if (typeof SharedWorker === "undefined") return undefined;
  if (shared !== undefined) return shared;
  const { port } = new SharedWorker(new URL("./watch-worker.ts", import.meta.url), { type: "module" });
  const listeners: Shared["listeners"] = new Map();
  port.onmessage = ({ data }: MessageEvent<WatchTold>) => listeners.get(data.id)?.(data);
  const ask = (asked: WatchAsked): void => port.postMessage(asked);
  // Nothing tells the worker that a window is gone.
  addEventListener("pagehide", () => {
    for (const id of listeners.keys()) ask({ kind: "leave", id });
  });
  return (shared = { ask, listeners });
}

/** Ends when the run is deleted; throws what ended the stream otherwise. */
export async function* watchRun(
  client: Gradus,
  {
    runId,
    token,
    signal,
  }: { readonly runId: string; readonly token: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<RunState, void, undefined> {
  const worker = sharedWorker();
  if (worker === undefined) return yield* client.run(runId).watch({ signal, intervalMs: INTERVAL_MS });
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const told: WatchTold[] = [];
  let wake: (() => void) | undefined;
  worker.listeners.set(id, (news) => {
    told.push(news);
    wake?.();
  });
  signal.addEventListener("abort", () => wake?.());
  worker.ask({ kind: "watch", id, runId, token });
  try {
    while (!signal.aborted) {
      const news = told.shift();
      if (news === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if (news.kind === "state") {
        yield fromBinary(RunStateSchema, news.state);
      } else if (news.error === undefined) {
        return;
      } else {
        throw new GradusError(news.error.code, news.error.message);
      }
    }
  } finally {
    worker.listeners.delete(id);
    worker.ask({ kind: "leave", id });
  }
}
