/** Steps over one bidirectional stream; replies are matched by request id, never by order. */
import { create } from "@bufbuild/protobuf";
import type { ClientDuplexStream } from "@grpc/grpc-js";
import { abortedError, codeName, GradusError } from "../errors.ts";
import { StreamStepsRequestSchema } from "../gen/gradus/v1/environment_pb.js";
import type { StreamStepsRequest, StreamStepsResponse } from "../gen/gradus/v1/environment_pb.js";
import type { Attempt, StepChannel } from "../transport.ts";
import { fromServiceError } from "./service-error.ts";

type Call = ClientDuplexStream<StreamStepsRequest, StreamStepsResponse>;
type Settle = (end: StreamStepsResponse | GradusError) => void;

/** One stream, while it lasts. */
interface Stream {
  readonly call: Call;
  readonly waiting: Map<string, Settle>;
  ended: boolean;
}

function open(start: () => Call): Stream {
  const stream: Stream = { call: start(), waiting: new Map(), ended: false };
  const end = (error: GradusError): void => {
    stream.ended = true;
    for (const settle of stream.waiting.values()) settle(error);
    stream.call.cancel();
  };
  stream.call.on("data", (reply: StreamStepsResponse) => stream.waiting.get(reply.requestId)?.(reply));
  stream.call.on("error", (error) => end(fromServiceError(error)));
  stream.call.on("end", () => end(new GradusError("UNAVAILABLE", "the server ended the stream")));
  return stream;
}

/** Writes when there is room for it. */
async function write(stream: Stream, request: StreamStepsRequest): Promise<void> {
  if (stream.call.writableNeedDrain) {
    await new Promise<void>((resolve) => stream.call.once("drain", resolve).once("close", resolve));
  }
  if (stream.waiting.has(request.requestId)) stream.call.write(request);
}

/** The reply to one request, or its error; settled once, by the first of reply, deadline, abort and the stream's end. */
function replyTo(
  stream: Stream,
  request: StreamStepsRequest,
  { timeoutMs, signal }: Attempt,
): Promise<StreamStepsResponse> {
  return new Promise((resolve, reject) => {
    const settle: Settle = (end) => {
      stream.waiting.delete(request.requestId);
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (end instanceof GradusError) reject(end);
      else resolve(end);
    };
    const abort = (): void => settle(abortedError(signal as AbortSignal));
    const late = (): void => settle(new GradusError("DEADLINE_EXCEEDED", `no reply within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    stream.waiting.set(request.requestId, settle);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    else void write(stream, request);
  });
}

/** A channel that opens its stream at the first request, and another one after a stream has ended. */
export function stepChannel(start: () => Call): StepChannel {
  let stream: Stream | undefined;
  let requests = 0;
  return {
    request: async (groups, attempt) => {
      if (stream === undefined || stream.ended) stream = open(start);
      const request = create(StreamStepsRequestSchema, { requestId: String(requests++), groups: [...groups] });
      const { failure, groups: outcomes } = await replyTo(stream, request, attempt);
      if (failure === undefined) return outcomes;
      const retryDelayMs = failure.retryDelayMs > 0 ? failure.retryDelayMs : undefined;
      throw new GradusError(codeName(failure.code), failure.message, { retryDelayMs });
    },
    end: () => {
      if (stream?.ended === false) stream.call.end();
    },
    cancel: () => stream?.call.cancel(),
  };
}
