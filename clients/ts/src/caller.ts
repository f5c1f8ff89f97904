/** Makes calls with deadlines and retries over a transport (gRPC or Connect). */
import { create } from "@bufbuild/protobuf";
import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { DEADLINE_MS, RETRIES_UNREACHED } from "./defaults.ts";
import { abortedError, asGradusError } from "./errors.ts";
import { feedbackLog } from "./feedback.ts";
import type { FeedbackLog, OnFeedback } from "./feedback.ts";
import type { PauseNotice } from "./pauses.ts";
import { delayMsAfter, never, passing, retrying, sleep } from "./retry.ts";
import type { Retryable } from "./retry.ts";
import type { Attempt, Transport } from "./transport.ts";

export interface CallOptions {
  /**
   * Milliseconds until the call, retries included, fails with DEADLINE_EXCEEDED or its last error. In `streamSteps`
   * each group has its own deadline. A stream such as `watch` is reopened when it breaks, and fails if no reply arrives
   * within this time after the break.
   */
  readonly deadlineMs?: number | undefined;
  /** Signal that aborts the call, which then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

export interface ClientDefaults {
  /** Deadline of calls without one of their own, in milliseconds. Defaults to 60 s. */
  readonly deadlineMs?: number | undefined;
  /** Whether calls with a transient failure are retried until their deadline. Defaults to true. */
  readonly retry?: boolean | undefined;
  /**
   * Action if the server scores a completion, but the run does not record the score. "warn" (the default) logs a
   * message once for each run and feedback status, e.g. "stale_epoch". "error" fails the call or the group with a
   * FeedbackError. "ignore" logs nothing. `feedbackCounts` counts the score in any case.
   */
  readonly onFeedback?: OnFeedback | undefined;
}

/** Makes the calls of one client, with its deadlines, retries and errors. */
export interface Caller {
  readonly transport: Transport;
  readonly feedback: FeedbackLog;
  /** Returns the deadline of a call, in milliseconds. */
  readonly deadlineMsOf: (options?: CallOptions) => number;
  /** Calls a method. `retryable` selects the failures that are retried. Defaults to transient failures. */
  readonly unary: <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    options?: CallOptions,
    retryable?: Retryable,
  ) => Promise<MessageShape<O>>;
  /**
   * Yields the replies of a server stream whose first reply is the current state. After a transient failure, e.g. a
   * restart of the server, opens the stream again.
   */
  readonly follow: <I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    options?: CallOptions,
  ) => AsyncGenerator<MessageShape<O>, void, undefined>;
  /**
   * Calls `attempt`, which sends a request once, within the client's deadline. Repeats it after transient failures.
   */
  readonly attempting: <T>(
    attempt: (attempt: Attempt) => Promise<T>,
    options: (CallOptions & { readonly throughPause?: PauseNotice | undefined }) | undefined,
    retryable?: Retryable,
  ) => Promise<T>;
}

/** Returns a caller that adds deadlines and retries to a transport. */
export function callerOver(transport: Transport, defaults: ClientDefaults): Caller {
  const allowed = (retryable: Retryable): Retryable => (defaults.retry === false ? never : retryable);
  const deadlineMsOf = (options?: CallOptions): number => options?.deadlineMs ?? defaults.deadlineMs ?? DEADLINE_MS;
  // True after the first successful call. Before it, there may be no server at the address, so fewer retries are made.
  let reached = false;
  const attempting: Caller["attempting"] = async (attempt, options, retryable = passing) => {
    const result = await retrying(attempt, {
      deadlineMs: deadlineMsOf(options),
      signal: options?.signal,
      retryable: allowed(retryable),
      throughPause: options?.throughPause,
      retriesMax: () => (reached ? Number.POSITIVE_INFINITY : RETRIES_UNREACHED),
    });
    reached = true;
    return result;
  };
  return {
    transport,
    feedback: feedbackLog(defaults.onFeedback),
    deadlineMsOf,
    attempting,
    unary: (method, input, options, retryable) => {
      const message = create(method.input, input);
      return attempting((attempt) => transport.unary(method, message, attempt), options, retryable);
    },
    follow: (method, input, options) => {
      const message = create(method.input, input);
      const open = (): ReturnType<typeof transport.serverStream<typeof method.input, typeof method.output>> =>
        transport.serverStream(method, message, { signal: options?.signal });
      return following(open, deadlineMsOf(options), allowed(passing), options?.signal);
    },
  };
}

/**
 * Yields the replies of a stream, and reopens the stream after transient failures. Ends when the server ends the
 * stream, at a failure that is not transient, or if no reply arrives within `silenceMsMax` after a failure.
 */
async function* following<T>(
  open: () => AsyncIterable<T>,
  silenceMsMax: number,
  retryable: Retryable,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  let [aliveAt, failures] = [performance.now(), 0];
  for (;;) {
    if (signal?.aborted) throw abortedError(signal);
    try {
      for await (const reply of open()) {
        yield reply;
        [aliveAt, failures] = [performance.now(), 0];
      }
      return;
    } catch (caught) {
      const error = asGradusError(caught);
      const delayMs = delayMsAfter(error, ++failures);
      // Count the silence from the first failure, because before it the stream may have had nothing to send.
      if (failures === 1) aliveAt = performance.now();
      if (!retryable(error) || performance.now() + delayMs >= aliveAt + silenceMsMax) throw error;
      await sleep(delayMs, signal);
    }
  }
}
