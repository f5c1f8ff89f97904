/** The requests of a grpc-js stream, read no faster than they are asked for. */
import type { Readable } from "node:stream";
import type { Call } from "../call.ts";
import type { Request } from "./methods.ts";

export interface Requests<I> extends AsyncIterable<I> {
  /** Whether the requests were ended by a shutdown rather than by the caller. */
  cut(): boolean;
  /** Forgets the stream. */
  close(): void;
}

/** What either throws reaches the handler. */
export interface Reading<I> {
  /** Turns what grpc-js read into a message. */
  readonly take: (request: Request) => I;
  /** Is called when the caller has sent its last. */
  readonly checkEnd: () => void;
}

/**
 * While shutting down, a stream that has been silent for so long has nothing on its way to us: its requests end, its
 * handler answers what it has, and nothing is lost.
 */
const silenceMs = 500;

/**
 * Node's own iterator destroys the stream when a loop over it ends, and with it the answers still to be written.
 */
export function requestsOf<I>(stream: Readable, call: Call, { take, checkEnd }: Reading<I>): Requests<I> {
  let ended = false;
  let cut = false;
  let wake: (() => void) | undefined;
  const changed = () => wake?.();
  const { signal, draining } = call;
  stream.on("readable", changed);
  stream.once("end", () => {
    ended = true;
    changed();
  });
  signal.addEventListener("abort", changed);
  draining.addEventListener("abort", changed);

  const silence = () => {
    cut = true;
    changed();
  };
  const change = async () => {
    const timer = draining.aborted ? setTimeout(silence, silenceMs) : undefined;
    await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(timer);
  };
  const next = async (): Promise<IteratorResult<I, undefined>> => {
    for (;;) {
      if (call.abortReason !== undefined) throw call.abortReason;
      const request = stream.read() as Request | null;
      if (request !== null) return { done: false, value: take(request) };
      if (ended) checkEnd();
      if (ended || cut) return { done: true, value: undefined };
      await change();
    }
  };
  return {
    cut: () => cut,
    close: () => draining.removeEventListener("abort", changed),
    [Symbol.asyncIterator]: () => ({ next }),
  };
}
