/**
 * Watches runs for all windows of the page, one stream a run. HTTP/1.1 gives a browser six connections to a server: a
 * stream for each window would use them up, and the next window could not even load.
 */
import { toBinary } from "@bufbuild/protobuf";
import { clientOver, type GradusClient } from "../../../clients/ts/src/client.ts";
import { connectTransport } from "../../../clients/ts/src/connect/transport.ts";
import { asGradusError } from "../../../clients/ts/src/errors.ts";
import { type RunState, RunStateSchema } from "../../../clients/ts/src/public.ts";
import type { WatchAsked, WatchTold } from "./watch-messages.ts";

/** Runs that are watched by streams; those of further runs are asked for every so often. */
const STREAMS_MAX = 3;
/** Between two states: the whole of a run's, of all of its arms. */
const INTERVAL_MS = 1_000;

type Tell = (told: WatchTold) => void;

interface Watched {
  /** By the id of what a window asked for. */
  readonly windows: Map<string, Tell>;
  readonly leaving: AbortController;
  /** The newest one, for windows that come later. */
  state: Uint8Array | undefined;
}

/** By token and run: a window sees what its own token may see. */
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
      for (const [id, tell] of one.windows) tell({ kind: "state", id, state: told });
    }
  } catch (thrown) {
    const { code, message } = asGradusError(thrown);
    error = { code, message };
  }
  if (isStream) streams--;
  if (watched.get(key) === one) watched.delete(key);
  for (const [id, tell] of one.windows) tell({ kind: "end", id, ...(error !== undefined && { error }) });
}

function watch({ id, runId, token }: WatchAsked & { readonly kind: "watch" }, tell: Tell): () => void {
  const key = JSON.stringify([token, runId]);
  const found = watched.get(key);
  const one = found ?? { windows: new Map<string, Tell>(), leaving: new AbortController(), state: undefined };
  one.windows.set(id, tell);
  if (one.state !== undefined) tell({ kind: "state", id, state: one.state });
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

// The page's compiler knows a window's names and not a worker's.
const worker = globalThis as unknown as { onconnect: (event: { readonly ports: readonly MessagePort[] }) => void };

worker.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  const leave = new Map<string, () => void>();
  port.onmessage = ({ data }: MessageEvent<WatchAsked>) => {
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
