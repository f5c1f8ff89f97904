/** Scores groups over one bidirectional stream. Replies are matched to requests by id, never by order. */
import { create } from "@bufbuild/protobuf";
import type { ClientDuplexStream } from "@grpc/grpc-js";
import { abortedError, codeName, GradusError } from "../errors.ts";
import { StreamStepsRequestSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import type { CompletionGroup, StreamStepsResponse } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import type { Attempt, StepChannel } from "../transport.ts";
import { bytesOf } from "./bytes.ts";
import { fromServiceError } from "./service-error.ts";

type Call = ClientDuplexStream<Buffer, StreamStepsResponse>;
/**
 * Ends the wait for a reply to a request: with the reply, an error, or "again". "again" means that another request
 * ended the stream, so the request is sent on the next stream.
 */
type Settle = (end: StreamStepsResponse | GradusError | "again") => void;
/** Request without a reply yet. */
interface Waiting {
  readonly settle: Settle;
  readonly bytes: number;
}

/** Open stream of the method StreamSteps, which scores groups. */
interface Stream {
  readonly call: Call;
  readonly waiting: Map<string, Waiting>;
  /** Requests that wait until the stream can take more bytes. */
  readonly outgoing: { readonly requestId: string; readonly bytes: Buffer }[];
  ended: boolean;
  /** Ends the stream. Its waiting requests end with this error. */
  readonly end: (error: GradusError) => void;
  /**
   * Error with which the server ended the stream, and the time (by performance.now()) before which no new stream may be
   * opened. Undefined if the server gave no delay.
   */
  refusal: { readonly error: GradusError; readonly until: number } | undefined;
}

/** Returns whether an error means that a message had too many bytes. The text of the server or of gRPC says so. */
function isTooLarge({ code, message }: GradusError): boolean {
  return code === "RESOURCE_EXHAUSTED" && /max-message-bytes|message larger than max/.test(message);
}

/** Returns the id of the largest request, which must be the one that is too large. The others can be sent again. */
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

/** Writes requests while the stream can take more bytes. Skips requests that nobody waits for any more. */
function flush({ call, waiting, outgoing }: Stream): void {
  while (!call.writableNeedDrain) {
    const next = outgoing.shift();
    if (next === undefined) return;
    if (waiting.has(next.requestId)) call.write(next.bytes);
  }
}

/**
 * Sends one request on the stream and returns its reply. The reply, deadline, abort or end of the stream settles it,
 * whichever comes first.
 */
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

/**
 * Returns the error with which the server refused a stream, with the rest of its retry delay. Undefined if that delay
 * is over, or there was none.
 */
function stillRefused(refusal: Stream["refusal"]): GradusError | undefined {
  if (refusal === undefined) return undefined;
  const { error, until } = refusal;
  const retryDelayMs = until - performance.now();
  return retryDelayMs > 0 ? new GradusError(error.code, error.message, { retryDelayMs, cause: error }) : undefined;
}

/** Channel that scores groups over one stream at a time. */
interface SteppingStream extends StepChannel {
  /** Ends the open stream as if it were broken. Requests without a reply can be sent again on the next stream. */
  readonly leave: () => void;
}

/** Returns a channel that opens a stream with the first request, and another one after a stream has ended. */
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
    leave: () => stream?.end(new GradusError("UNAVAILABLE", "the stream was silent for as long as a request may take")),
  };
}
