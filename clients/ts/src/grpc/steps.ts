/** Steps over one bidirectional stream; replies are matched by request id, never by order. */
import { create } from "@bufbuild/protobuf";
import type { ClientDuplexStream } from "@grpc/grpc-js";
import { abortedError, codeName, GradusError } from "../errors.ts";
import { StreamStepsRequestSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import type { CompletionGroup, StreamStepsResponse } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import type { Attempt, StepChannel } from "../transport.ts";
import { bytesOf } from "./bytes.ts";
import { fromServiceError } from "./service-error.ts";

type Call = ClientDuplexStream<Buffer, StreamStepsResponse>;
/** "again": the stream ended for another request, and this one is to be sent on the next. */
type Settle = (end: StreamStepsResponse | GradusError | "again") => void;
/** A request that waits for its reply. */
interface Waiting {
  readonly settle: Settle;
  readonly bytes: number;
}

/** One stream, while it lasts. */
interface Stream {
  readonly call: Call;
  readonly waiting: Map<string, Waiting>;
  /** Requests that wait until there is room to write. */
  readonly outgoing: { readonly requestId: string; readonly bytes: Buffer }[];
  ended: boolean;
  /** Ends it, and what waits with this error. */
  readonly end: (error: GradusError) => void;
  /** How it ended, where the server said when to come back; and when that is, by performance.now(). */
  refusal: { readonly error: GradusError; readonly until: number } | undefined;
}

/** Whether a message had too many bytes, in the words of a server that ends its stream or of gRPC itself. */
function isTooLarge({ code, message }: GradusError): boolean {
  return code === "RESOURCE_EXHAUSTED" && /max-message-bytes|message larger than max/.test(message);
}

/** The request that is too large, whether or not it ended the stream; the others can be sent again. */
function largestOf(waiting: Stream["waiting"]): string | undefined {
  return [...waiting].sort(([, one], [, other]) => other.bytes - one.bytes)[0]?.[0];
}

function open(call: Call): Stream {
  const end = (error: GradusError): void => {
    stream.ended = true;
    if (error.retryDelayMs !== undefined) stream.refusal = { error, until: performance.now() + error.retryDelayMs };
    const tooLarge = isTooLarge(error) ? largestOf(stream.waiting) : undefined;
    for (const [id, { settle }] of stream.waiting) settle(tooLarge === undefined || id === tooLarge ? error : "again");
    stream.call.cancel();
  };
  const stream: Stream = { call, waiting: new Map(), outgoing: [], ended: false, end, refusal: undefined };
  stream.call.on("data", (reply: StreamStepsResponse) => stream.waiting.get(reply.requestId)?.settle(reply));
  stream.call.on("drain", () => flush(stream));
  stream.call.on("error", (error) => end(fromServiceError(error)));
  stream.call.on("end", () => end(new GradusError("UNAVAILABLE", "the server ended the stream")));
  return stream;
}

/** Writes what there is room for; what nobody waits for any more is left out. */
function flush({ call, waiting, outgoing }: Stream): void {
  while (!call.writableNeedDrain) {
    const next = outgoing.shift();
    if (next === undefined) return;
    if (waiting.has(next.requestId)) call.write(next.bytes);
  }
}

/** The reply to one request; settled once, by the first of reply, deadline, abort and the stream's end. */
function replyTo(
  stream: Stream,
  requestId: string,
  bytes: Buffer,
  attempt: Attempt,
): Promise<StreamStepsResponse | "again"> {
  const { timeoutMs, signal } = attempt;
  return new Promise((resolve, reject) => {
    const settle: Settle = (end) => {
      stream.waiting.delete(requestId);
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (end instanceof GradusError) reject(end);
      else resolve(end);
    };
    const abort = (): void => settle(abortedError(signal as AbortSignal));
    const late = (): void => settle(new GradusError("DEADLINE_EXCEEDED", `no reply within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    stream.waiting.set(requestId, { settle, bytes: bytes.length });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    else stream.outgoing.push({ requestId, bytes });
    flush(stream);
  });
}

/** What a stream that was refused says to those who come before they may: to wait for the rest of the time. */
function stillRefused(refusal: Stream["refusal"]): GradusError | undefined {
  if (refusal === undefined) return undefined;
  const { error, until } = refusal;
  const retryDelayMs = until - performance.now();
  return retryDelayMs > 0 ? new GradusError(error.code, error.message, { retryDelayMs, cause: error }) : undefined;
}

/** A channel of steps over one stream at a time. */
interface SteppingStream extends StepChannel {
  /** Leaves the stream that is open, as one that broke: what waits on it may be sent again, on the next. */
  readonly leave: () => void;
}

/** A channel that opens its stream with the first request, and another one after a stream has ended. */
export function stepChannel(start: (first: { readonly groups: readonly CompletionGroup[] }) => Call): SteppingStream {
  let stream: Stream | undefined;
  let requests = 0;
  return {
    request: async (groups, attempt) => {
      const requestId = String(requests++);
      const request = create(StreamStepsRequestSchema, { requestId, groups: [...groups] });
      const bytes = bytesOf(StreamStepsRequestSchema, request);
      let reply: StreamStepsResponse | "again" = "again";
      while (reply === "again") {
        const refused = stillRefused(stream?.refusal);
        if (refused !== undefined) throw refused;
        if (stream === undefined || stream.ended) stream = open(start({ groups }));
        reply = await replyTo(stream, requestId, bytes, attempt);
      }
      const { failure, groups: outcomes } = reply;
      if (failure === undefined) return outcomes;
      const retryDelayMs = failure.retryDelayMs > 0 ? failure.retryDelayMs : undefined;
      throw new GradusError(codeName(failure.code), failure.message, { retryDelayMs });
    },
    end: () => {
      if (stream?.ended === false) stream.call.end();
    },
    cancel: () => stream?.call.cancel(),
    leave: () => stream?.end(new GradusError("UNAVAILABLE", "nothing came on the stream for as long as a request has")),
  };
}
