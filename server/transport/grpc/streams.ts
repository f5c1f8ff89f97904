/** Calls whose answers, or both requests and answers, are streams. */
import type { Message } from "@bufbuild/protobuf";
import type { handleBidiStreamingCall, handleServerStreamingCall } from "@grpc/grpc-js";
import type { Readable, Writable } from "node:stream";
import { shuttingDown } from "../admission.ts";
import type { Call } from "../call.ts";
import { toStatus } from "../errors.ts";
import type { BidiHandler, ServerStreamHandler } from "../rpc.ts";
import { authorizationOf, type GrpcCall, type GrpcMethod, type Request } from "./calls.ts";
import { inboxOf } from "./inbox.ts";

// Writes a handler's answers to a grpc-js stream, no faster than the caller reads them.

/** Written and not yet taken by HTTP/2: beyond this the handler waits. */
const unsentBytesMax = 1024 ** 2;

/** Resolves when all answers are written, or the caller is gone. `write` turns an answer into bytes. */
async function writeAnswers<O>(
  stream: Writable,
  answers: AsyncIterable<O>,
  call: Call,
  write: (answer: O) => Buffer,
): Promise<void> {
  let wake: (() => void) | undefined;
  const drained = () => wake?.();
  call.signal.addEventListener("abort", drained);
  for await (const answer of answers) {
    if (call.abortReason !== undefined || call.late) return;
    const bytes = write(answer);
    call.unsentBytes += bytes.length;
    const written = () => {
      call.unsentBytes -= bytes.length;
      if (call.unsentBytes === 0) drained();
    };
    const room = stream.write(bytes, written) && call.unsentBytes <= unsentBytesMax;
    if (!room && call.unsentBytes > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
}

// The requests of a grpc-js stream, read no faster than they are asked for.

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
function requestsOf<I>(stream: Readable, call: Call, { take, checkEnd }: Reading<I>): Requests<I> {
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

export function serverStreamCalls(
  method: GrpcMethod,
  handler: ServerStreamHandler<Message, Message>,
): handleServerStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(method, incoming, async (call) => {
      const answers = handler(method.take(incoming.request, call), call);
      await writeAnswers(incoming, answers, call, (answer) => method.write(answer, call));
    });
}

export function bidiCalls(
  method: GrpcMethod,
  handler: BidiHandler<Message, Message>,
): handleBidiStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(method, incoming, async (call) => {
      const inbox = inboxOf(incoming);
      const taken = inbox.limitReadAhead(incoming);
      const take = (request: Request): Message => {
        taken();
        return method.take(request, call);
      };
      const requests = requestsOf(incoming, call, { take, checkEnd: () => inbox.checkEnd() });
      try {
        await writeAnswers(incoming, handler(requests, call), call, (answer) => method.write(answer, call));
      } finally {
        requests.close();
      }
      if (requests.cut()) throw shuttingDown();
    });
}

async function stream(
  method: GrpcMethod,
  incoming: GrpcCall & Writable,
  run: (call: Call) => Promise<void>,
): Promise<void> {
  const call = method.begin(incoming);
  const refused = call.enter(authorizationOf(incoming));
  // grpc-js reads a stream's status from the error that the stream emits.
  if (refused !== undefined) return void incoming.emit("error", toStatus(refused));
  try {
    await run(call);
    incoming.end();
    call.settle("OK");
  } catch (thrown) {
    const failure = call.failure(thrown);
    incoming.emit("error", toStatus(failure));
    call.settle(failure.code);
  }
}
