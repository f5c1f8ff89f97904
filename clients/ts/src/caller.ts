/** Calls with deadlines and retries over a transport. */
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

/** How a call goes. */
export interface CallOptions {
  /**
   * Milliseconds until the call, retries included, fails with DEADLINE_EXCEEDED or its last error. For a stream: until
   * each of its requests does, or until a server that went away is given up.
   */
  readonly deadlineMs?: number | undefined;
  /** Ends the call with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** What holds for all calls of a client. */
export interface ClientDefaults {
  /** Deadline of calls that give none; left out: 60 s. */
  readonly deadlineMs?: number | undefined;
  /** Whether calls that failed in passing are sent again until their deadline; left out: true. */
  readonly retry?: boolean | undefined;
  /**
   * What becomes of a score that its run did not record: "warn" (left out), once for each run and status; "error", the
   * call or the group fails with a FeedbackError; "ignore". It is counted in any case.
   */
  readonly onFeedback?: OnFeedback | undefined;
}

/** Deadlines, retries and errors of one client. */
export interface Caller {
  readonly transport: Transport;
  readonly feedback: FeedbackLog;
  /** The deadline of a call. */
  readonly deadlineMsOf: (options?: CallOptions) => number;
  /** Calls a method; `retryable` says which failures are worth another attempt (left out: passing ones). */
  readonly unary: <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    options?: CallOptions,
    retryable?: Retryable,
  ) => Promise<MessageShape<O>>;
  /** Follows a stream that starts with the current state, and starts it again after a passing failure. */
  readonly follow: <I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    options?: CallOptions,
  ) => AsyncGenerator<MessageShape<O>, void, undefined>;
  /** Attempts `attempt` under the client's rules. */
  readonly attempting: <T>(
    attempt: (attempt: Attempt) => Promise<T>,
    options: (CallOptions & { readonly throughPause?: PauseNotice | undefined }) | undefined,
    retryable?: Retryable,
  ) => Promise<T>;
}

/** Puts deadlines and retries over a transport. */
export function callerOver(transport: Transport, defaults: ClientDefaults): Caller {
  const allowed = (retryable: Retryable): Retryable => (defaults.retry === false ? never : retryable);
  const deadlineMsOf = (options?: CallOptions): number => options?.deadlineMs ?? defaults.deadlineMs ?? DEADLINE_MS;
  // Until a server has answered there may be none.
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

/** Opens a stream again and again until it ends well, fails for good, or was silent with failures for `silenceMsMax`. */
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
      // The first failure after a long quiet stretch is no proof of a long absence.
      if (failures === 1) aliveAt = performance.now();
      if (!retryable(error) || performance.now() + delayMs >= aliveAt + silenceMsMax) throw error;
      await sleep(delayMs, signal);
    }
  }
}
