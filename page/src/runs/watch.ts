/** Yields the states of a run from the stream that all windows of the page share. */
import { fromBinary } from "@bufbuild/protobuf";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { type RunState, RunStateSchema } from "../../../clients/ts/src/public.ts";
import type { Gradus } from "../connection.ts";
import type { WatchRequest, WatchReport } from "./watch-messages.ts";

/** Minimum time between two states of a run in browsers without shared workers, in milliseconds. */
const INTERVAL_MS = 1_000;

interface Shared {
  readonly ask: (asked: WatchRequest) => void;
  /** Listeners of this window, by the id of their request. */
  readonly listeners: Map<string, (report: WatchReport) => void>;
}

let shared: Shared | undefined;

/** Returns the shared worker, or undefined if the browser has none, e.g. Chrome on Android. */
function sharedWorker(): Shared | undefined {
  if (typeof SharedWorker === "undefined") return undefined;
  if (shared !== undefined) return shared;
  const { port } = new SharedWorker(new URL("./watch-worker.ts", import.meta.url), { type: "module" });
  const listeners: Shared["listeners"] = new Map();
  port.onmessage = ({ data }: MessageEvent<WatchReport>) => listeners.get(data.id)?.(data);
  const ask = (asked: WatchRequest): void => port.postMessage(asked);
  // Tell the worker when the window closes, because the browser does not.
  addEventListener("pagehide", () => {
    for (const id of listeners.keys()) ask({ kind: "leave", id });
  });
  return (shared = { ask, listeners });
}

/** Yields states until the run is deleted. Throws the error that ended the stream otherwise. */
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
  const reports: WatchReport[] = [];
  let wake: (() => void) | undefined;
  worker.listeners.set(id, (news) => {
    reports.push(news);
    wake?.();
  });
  signal.addEventListener("abort", () => wake?.());
  worker.ask({ kind: "watch", id, runId, token });
  try {
    while (!signal.aborted) {
      const news = reports.shift();
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
