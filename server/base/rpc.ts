/** Interface between services and transports: typed handlers that do not depend on a wire format. */
import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageShape,
} from "@bufbuild/protobuf";
import { clipUtf8 } from "../../envs/lib/text.ts";
import { escaped } from "../../envs/lib/escape.ts";
import type { Logger } from "pino";

/**
 * Minimum bytes of a long message. Its long texts are decoded only when they are read, and it may not contain further
 * requests.
 */
export const LONG_MESSAGE_BYTES = 1024 ** 2;

/** Bytes of a long message, by its list of groups. Missing if anything else uses the same buffer. */
export const bytesOfTexts = new WeakMap<readonly unknown[], ArrayBuffer>();

/** Length of the texts of a group in a long message, so that no text must be decoded to find it. */
export const textSizes = new WeakMap<object, number>();

/**
 * Frees the bytes of the long texts of these groups. The garbage collector would keep them until its next full
 * collection. A handler calls this once it reads none of the texts any more.
 */
export function freeTexts(groups: readonly unknown[]): void {
  bytesOfTexts.get(groups)?.transfer(0);
  bytesOfTexts.delete(groups);
}

/** A call, as its handler sees it. */
export interface CallContext {
  /** Aborts when the caller has left, its deadline has passed, or the grace period of a shutdown is over. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the server begins to shut down. A stream without an end of its own must then end. A bidirectional
   * stream may ignore it, because its requests end when they fall silent.
   */
  readonly draining: AbortSignal;
  /** Id of the request, from the caller's `x-request-id` or generated. */
  readonly requestId: string;
  /** Logger that writes the request id in each line. */
  readonly log: Logger;
  /** Address of the caller, for logs. */
  readonly peer: string;
  /** Name of the caller's token, which the history of a run stores. Empty: the server asks for no token. */
  readonly caller: string;
  /** Role of the caller: "viewer", "trainer" or "operator". "operator" if the server asks for no token. */
  readonly role: string;
  /** Deadline of the caller, in milliseconds since the epoch. Undefined: none. */
  readonly deadlineMs: number | undefined;
}

/** Handles a unary call. It may return without a promise, which is cheaper. */
export type UnaryHandler<I, O> = (request: I, context: CallContext) => O | Promise<O>;
export type ServerStreamHandler<I, O> = (request: I, context: CallContext) => AsyncIterable<O>;
/** Handles a bidirectional stream. Requests are read no faster than the handler asks for them. */
export type BidiHandler<I, O> = (requests: AsyncIterable<I>, context: CallContext) => AsyncIterable<O>;

export type HandlerOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<MessageShape<I>, MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? ServerStreamHandler<MessageShape<I>, MessageShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? BidiHandler<MessageShape<I>, MessageShape<O>>
        : never;

/** Handlers of a service by the methods' local names. A missing method answers UNIMPLEMENTED. */
export type ServiceHandlers<S extends DescService> = {
  readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]>;
};

/** A service with a handler for each method, without their types, as transports take it. */
export interface Registration {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, unknown>>;
}

/** Pairs a service with handlers of its types. */
export function register<S extends DescService>(service: S, handlers: ServiceHandlers<S>): Registration {
  const given = handlers as Registration["handlers"];
  const all = service.methods.map(
    (method) => [method.localName, given[method.localName] ?? unimplemented(method)] as const,
  );
  return { service, handlers: Object.fromEntries(all) };
}

function unimplemented({ parent, name }: DescMethod): () => never {
  return () => {
    throw new RpcError("UNIMPLEMENTED", `${parent.typeName}/${name} is part of the contract, but not served yet`);
  };
}

// Expected failures of handlers: a gRPC status, and what the caller can do.

/** Status codes of gRPC by name (https://grpc.io/docs/guides/status-codes/). */
export const codes = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type CodeName = keyof typeof codes;

/** Reason for which a caller must wait. The service comments of the contract explain each. */
export type WaitReason =
  | "PAUSED"
  | "FEEDBACK_DUE"
  | "ARMS_MASKED"
  | "TASKS_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  | "OVERLOADED"
  | "MOUNTING"
  | "SHUTTING_DOWN";

/** A reason to wait, with details by name, e.g. `paused_by`. */
export interface Wait {
  readonly reason: WaitReason;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface RpcErrorOptions {
  /** Delay before a retry, in milliseconds. Unset: a retry is useless, or may be made at once. */
  readonly retryDelayMs?: number;
  /** Reason to wait. Unset: the failure is not a wait. */
  readonly wait?: Wait;
  /** Path of the invalid field in the request, e.g. "spec.environment" or "groups[3].task_id". */
  readonly field?: string;
  /** Further errors of the request, for callers in this process. They are not sent. */
  readonly others?: readonly RpcError[];
}

/**
 * Maximum bytes of a message and of a field's path. Messages quote the request, so they could be as long as it. They
 * are sent in headers, percent-encoded and again in the details, and many clients accept at most 8 KiB of headers.
 */
const MESSAGE_BYTES_MAX = 1024;
const FIELD_BYTES_MAX = 256;

/**
 * Returns a text that can be sent. Half a surrogate pair has no UTF-8 and makes grpc-js throw an uncaught error.
 * Control characters are escaped for terminals.
 */
function sendable(text: string, bytesMax: number): string {
  return clipUtf8(escaped(text), bytesMax).toWellFormed();
}

/**
 * Makes an error without a stack. Refusals are expected, and frequent under an attack. Their origin is of no use, and
 * recording it takes longer than everything else.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Expected failure that a handler throws. It has no stack (withoutStack). Any other thrown error is a bug, and becomes
 * INTERNAL.
 */
export class RpcError extends Error {
  readonly code: CodeName;
  readonly retryDelayMs: number | undefined;
  readonly wait: Wait | undefined;
  readonly field: string | undefined;
  readonly others: readonly RpcError[];

  /** `message` is sent to the caller: the problem, the limit and the value. A long message is cut. */
  constructor(code: CodeName, message: string, options: RpcErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(sendable(message, MESSAGE_BYTES_MAX));
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.retryDelayMs = options.retryDelayMs;
    this.wait = options.wait;
    this.field = options.field === undefined ? undefined : sendable(options.field, FIELD_BYTES_MAX);
    this.others = options.others ?? [];
  }
}

/** Delay, in milliseconds, after which another server, or this one restarted, may be available. */
const drainDelayMs = 1000;

/** Returns the error for calls and streams that a shutdown ends. */
export function shuttingDown(): RpcError {
  return new RpcError("UNAVAILABLE", "the server is shutting down; call again, and another one may answer", {
    retryDelayMs: drainDelayMs,
    wait: { reason: "SHUTTING_DOWN" },
  });
}
