/**
 * Watches runs for all windows of the page, with one stream for each run. HTTP/1.1 allows a browser six connections to
 * a server. One stream for each window would use them up, and the next window could not load.
 */
import { toBinary } from "@bufbuild/protobuf";
import { clientOver, type GradusClient } from "../../../clients/ts/src/client.ts";
import { connectTransport } from "../../../clients/ts/src/connect/transport.ts";
import { asGradusError } from "../../../clients/ts/src/errors.ts";
import { type RunState, RunStateSchema } from "../../../clients/ts/src/public.ts";
import type { WatchRequest, WatchReport } from "./watch-messages.ts";

/** Maximum number of runs watched by streams. Further runs are polled. */
const STREAMS_MAX = 3;
/** Minimum time between two states of a run, in milliseconds. Each state is sent whole, with all arms. */
const INTERVAL_MS = 1_000;

type Report = (told: WatchReport) => void;

interface Watched {
  /** Windows that watch the run, by the id of their request. */
  readonly windows: Map<string, Report>;
  readonly leaving: AbortController;
  /** Latest state, which windows that join later get at once. */
  state: Uint8Array | undefined;
}

/** Watched runs by token and run, because a window sees only what its own token may see. */
const watched = new Map<string, Watched>();
let streams = 0;

function clientWith(token: string | undefined): GradusClient {
  return clientOver(connectTransport(location.origin, { token }), { onFeedback: "ignore", retry: false });
}

async function* polled(client: GradusClient, runId: string, signal: AbortSignal): AsyncGenerator<RunState> {
  for (;;) {
    const { state } = await client.run(runId).get({ signal });
    if (state !== undefined) yield state;
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

async function follow(key: string, runId: string, token: string | undefined, one: Watched): Promise<void> {
  const { signal } = one.leaving;
  const client = clientWith(token);
  const isStream = streams < STREAMS_MAX;
  if (isStream) streams++;
  const states = isStream
    ? client.run(runId).watch({ signal, intervalMs: INTERVAL_MS })
    : polled(client, runId, signal);
  let error: { readonly code: ReturnType<typeof asGradusError>["code"]; readonly message: string } | undefined;
  try {
    for await (const state of states) {
      const told = (one.state = toBinary(RunStateSchema, state));
      for (const [id, report] of one.windows) report({ kind: "state", id, state: told });
    }
  } catch (thrown) {
    const { code, message } = asGradusError(thrown);
    error = { code, message };
  }
  if (isStream) streams--;
  if (watched.get(key) === one) watched.delete(key);
  for (const [id, report] of one.windows) report({ kind: "end", id, ...(error !== undefined && { error }) });
}

function watch({ id, runId, token }: WatchRequest & { readonly kind: "watch" }, report: Report): () => void {
  const key = JSON.stringify([token, runId]);
  const found = watched.get(key);
  const one = found ?? { windows: new Map<string, Report>(), leaving: new AbortController(), state: undefined };
  one.windows.set(id, report);
  if (one.state !== undefined) report({ kind: "state", id, state: one.state });
  if (found === undefined) {
    watched.set(key, one);
    void follow(key, runId, token, one);
  }
  return () => {
    one.windows.delete(id);
    if (one.windows.size > 0) return;
    if (watched.get(key) === one) watched.delete(key);
    one.leaving.abort();
  };
}

// The cast is needed because the page's compiler options declare only the global names of a window, not of a worker.
const worker = globalThis as unknown as { onconnect: (event: { readonly ports: readonly MessagePort[] }) => void };

worker.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  const leave = new Map<string, () => void>();
  port.onmessage = ({ data }: MessageEvent<WatchRequest>) => {
    if (data.kind === "watch")
      leave.set(
        data.id,
        watch(data, (told) => port.postMessage(told)),
      );
    else {
      leave.get(data.id)?.();
      leave.delete(data.id);
    }
  };
};
