/**
 * Interface between services and transports: typed handlers that do not depend on how messages are encoded on the wire.
 */
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
 * Minimum size, in bytes, of a long message. The texts of such a message are decoded only when they are read, and it
 * may contain only one request.
 */
export const LONG_MESSAGE_BYTES = 1024 ** 2;

/**
 * Raw bytes of a long message, by its list of groups. A message has no entry if something else uses the same buffer,
 * which must then not be freed.
 */
export const bytesOfTexts = new WeakMap<readonly unknown[], ArrayBuffer>();

/**
 * Length of all texts of a group in a long message, by the group, known without decoding the texts. Long texts count in
 * bytes, and short ones in UTF-16 units.
 */
export const textSizes = new WeakMap<object, number>();

/**
 * Encoded bytes of messages that will be elements of lists in later responses. They are encoded ahead, so that the
 * responses are sent sooner.
 */
export const encodedAhead = new WeakMap<object, Uint8Array>();

/**
 * Frees the raw bytes of the long texts of these groups, which the garbage collector would keep until its next full
 * collection. A handler calls this once it reads none of the texts any more.
 */
export function freeTexts(groups: readonly unknown[]): void {
  bytesOfTexts.get(groups)?.transfer(0);
  bytesOfTexts.delete(groups);
}

/** Information about a call for its handler, in addition to the request. */
export interface CallContext {
  /** Aborts when the caller has left, its deadline has passed, or the grace period of a shutdown is over. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the server begins to shut down. A stream that would otherwise never end must then end. A bidirectional
   * stream may go on, because it ends once its client sends nothing more.
   */
  readonly draining: AbortSignal;
  /** Id of the request, from the caller's `x-request-id` or generated. */
  readonly requestId: string;
  /** Logger that writes the request id in each line. */
  readonly log: Logger;
  /** Address of the caller, for logs. */
  readonly peer: string;
  /** Name of the caller's token. The history of a run stores it. Empty: the server asks for no token. */
  readonly caller: string;
  /** Role of the caller: "viewer", "trainer" or "operator". "operator" if the server asks for no token. */
  readonly role: string;
  /** Deadline of the caller, in milliseconds since the epoch. Undefined: none. */
  readonly deadlineMs: number | undefined;
}

/** Handles a unary call. A handler may return its answer without a promise, which is cheaper. */
export type UnaryHandler<I, O> = (request: I, context: CallContext) => O | Promise<O>;
export type ServerStreamHandler<I, O> = (request: I, context: CallContext) => AsyncIterable<O>;
/** Handles a bidirectional stream. The transport reads a request only when the handler asks for the next one. */
export type BidiHandler<I, O> = (requests: AsyncIterable<I>, context: CallContext) => AsyncIterable<O>;

export type HandlerOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<MessageShape<I>, MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? ServerStreamHandler<MessageShape<I>, MessageShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? BidiHandler<MessageShape<I>, MessageShape<O>>
        : never;

/**
 * Handlers of a service, by the local names of its methods. Calls of a method without a handler fail with
 * UNIMPLEMENTED.
 */
export type ServiceHandlers<S extends DescService> = {
  readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]>;
};

/**
 * A service with one handler for each of its methods. Transports take this form, in which the handlers' types are
 * erased.
 */
export interface Registration {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, unknown>>;
}

/** Pairs a service with its handlers. The type parameters check that the handlers fit the service. */
export function register<S extends DescService>(service: S, handlers: ServiceHandlers<S>): Registration {
  const given = handlers as Registration["handlers"];
  const all = service.methods.map(
    (method) => [method.localName, given[method.localName] ?? unimplemented(method)] as const,
  );
  return { service, handlers: Object.fromEntries(all) };
}

function unimplemented({ parent, name }: DescMethod): () => never {
  return () => {
    throw new RpcError(
      "UNIMPLEMENTED",
      `${parent.typeName}/${name} is part of the contract, but this server does not implement it`,
    );
  };
}

// Errors that handlers throw on purpose. Each has a gRPC status, and says what the caller can do.

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

/** Reason for which a caller must wait. The comments of the services in proto/ explain each reason. */
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
  /** Delay after which the caller should retry, in milliseconds. Unset: a retry is useless, or may be made at once. */
  readonly retryDelayMs?: number;
  /** Reason to wait. Unset: waiting does not help. */
  readonly wait?: Wait;
  /** Path of the invalid field in the request, e.g. "spec.environment" or "groups[3].task_id". */
  readonly field?: string;
  /** Further errors of the same request, for callers in this process. The error sent to a client omits them. */
  readonly others?: readonly RpcError[];
}

/**
 * Maximum bytes of an error message and of a field's path, both of which may quote a long request. Both are sent in two
 * headers, in one of them percent-encoded, and many clients accept at most 8 KiB of headers.
 */
const MESSAGE_BYTES_MAX = 1024;
const FIELD_BYTES_MAX = 256;

/**
 * Returns a text that is clipped to `bytesMax` and safe to send. An unpaired surrogate has no UTF-8 form and makes
 * grpc-js throw an uncaught error. Control characters are escaped, because terminals would interpret them.
 */
function sendable(text: string, bytesMax: number): string {
  return clipUtf8(escaped(text), bytesMax).toWellFormed();
}

/**
 * Makes an error without a stack trace. Refused calls are expected, and frequent under an attack; recording their stack
 * would take most of the time.
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
 * Error that a handler expects and throws on purpose. It has no stack trace. Any other thrown error is a bug, and
 * reaches the client as INTERNAL.
 */
export class RpcError extends Error {
  readonly code: CodeName;
  readonly retryDelayMs: number | undefined;
  readonly wait: Wait | undefined;
  readonly field: string | undefined;
  readonly others: readonly RpcError[];

  /**
   * `message` is sent to the caller and says the problem, the limit and the value. A message over MESSAGE_BYTES_MAX is
   * cut.
   */
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

/**
 * Delay, in milliseconds, after which a caller should retry when this server shuts down: another server, or this one
 * restarted, may then answer.
 */
const drainDelayMs = 1000;

/** Returns the error for calls and streams that a shutdown ends. */
export function shuttingDown(): RpcError {
  return new RpcError("UNAVAILABLE", "the server is shutting down; call again, and another one may answer", {
    retryDelayMs: drainDelayMs,
    wait: { reason: "SHUTTING_DOWN" },
  });
}
