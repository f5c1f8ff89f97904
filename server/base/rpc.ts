/** What a service is to the transports: typed functions that know of no wire. */
import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageShape,
} from "@bufbuild/protobuf";
import { clipUtf8 } from "../../envs/lib/text.ts";
import { escaped } from "../../envs/lib/words.ts";
import type { Logger } from "pino";

/** From so many bytes on the long texts of a message are read when they are wanted, and it may have no requests within it. */
export const LONG_MESSAGE_BYTES = 1024 ** 2;

/** Of such a message, by its list of groups: the bytes of the message, if nothing else has a part in them. */
export const bytesOfTexts = new WeakMap<readonly unknown[], ArrayBuffer>();

/** Of such a message, by group: how long its texts are together, so that nobody has to read them for that. */
export const textSizes = new WeakMap<object, number>();

/**
 * Frees the bytes of the long texts of these groups, which the collector would keep until its next full collection. A handler
 * calls it once it reads none of the texts any more.
 */
export function freeTexts(groups: readonly unknown[]): void {
  bytesOfTexts.get(groups)?.transfer(0);
  bytesOfTexts.delete(groups);
}

/** One call, as its handler sees it. */
export interface CallContext {
  /** Aborted when the caller is gone, its deadline has passed, or a shutdown has run out of patience. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the server begins to shut down. A stream that has no end of its own must end then; a bidirectional
   * stream need not look, for its requests end by themselves once they fall silent.
   */
  readonly draining: AbortSignal;
  /** From the caller's `x-request-id`, or made here. */
  readonly requestId: string;
  /** Writes the request id in each line. */
  readonly log: Logger;
  /** The caller's address, for logs. */
  readonly peer: string;
  /** The name of the caller's token, which the history of a run keeps; empty: the server asks for none. */
  readonly caller: string;
  /** What the caller may do: "viewer", "trainer" or "operator"; the last where the server asks for no token. */
  readonly role: string;
  /** When the caller gives up, milliseconds since the epoch; undefined: never. */
  readonly deadlineMs: number | undefined;
}

/** May answer at once, which costs less than a promise does. */
export type UnaryHandler<I, O> = (request: I, context: CallContext) => O | Promise<O>;
export type ServerStreamHandler<I, O> = (request: I, context: CallContext) => AsyncIterable<O>;
/** Requests are read no faster than the handler asks for them. */
export type BidiHandler<I, O> = (requests: AsyncIterable<I>, context: CallContext) => AsyncIterable<O>;

export type HandlerOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<MessageShape<I>, MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? ServerStreamHandler<MessageShape<I>, MessageShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? BidiHandler<MessageShape<I>, MessageShape<O>>
        : never;

/** A service's handlers by the methods' local names. A method left out answers UNIMPLEMENTED. */
export type ServiceHandlers<S extends DescService> = {
  readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]>;
};

/** A service with a handler for each method, their types forgotten: what the transports take. */
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

// Failures that a handler means to send: a gRPC status and what the caller can do about it.

/** gRPC status codes by name. https://grpc.io/docs/guides/status-codes/ */
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

/** Why a caller that is told to wait waits. The contract's service comments say what each means. */
export type WaitReason =
  | "PAUSED"
  | "FEEDBACK_DUE"
  | "ARMS_MASKED"
  | "TASKS_UNAVAILABLE"
  | "STORE_UNAVAILABLE"
  | "OVERLOADED"
  | "SHUTTING_DOWN";

/** A reason to wait, and what is known of it by name, e.g. `paused_by`. */
export interface Wait {
  readonly reason: WaitReason;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface RpcErrorOptions {
  /** How long to wait before trying again, milliseconds; unset: trying again is of no use, or of use at once. */
  readonly retryDelayMs?: number;
  /** Why the caller waits; unset: the failure is no wait. */
  readonly wait?: Wait;
  /** The request's field at fault, as a path, e.g. "spec.environment" or "groups[3].task_id". */
  readonly field?: string;
  /** What else is wrong with the request: for callers in this process, as none of it goes on the wire. */
  readonly others?: readonly RpcError[];
}

/**
 * Messages quote what came, so they can be as long as it. They travel in headers, percent-encoded and once more in the
 * details, and many clients take no more than 8 KiB of headers.
 */
const MESSAGE_BYTES_MAX = 1024;
const FIELD_BYTES_MAX = 256;

/** Half of a surrogate pair has no UTF-8, and makes grpc-js throw where nothing catches it; and terminals show it. */
function sendable(text: string, bytesMax: number): string {
  return clipUtf8(escaped(text), bytesMax).toWellFormed();
}

/**
 * Makes an error without a stack. Refusals are expected, and under an attack many: where one came from says nothing, and
 * noting it takes longer than all the rest.
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

/** Thrown by handlers for failures that are expected. Has no stack (withoutStack). Whatever else they throw is a bug, and becomes INTERNAL. */
export class RpcError extends Error {
  readonly code: CodeName;
  readonly retryDelayMs: number | undefined;
  readonly wait: Wait | undefined;
  readonly field: string | undefined;
  readonly others: readonly RpcError[];

  /** `message` goes on the wire: what was wrong, the limit, and what came. A long one is cut. */
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

/** Another server, or this one started again, may be there by then. */
const drainDelayMs = 1000;

/** For calls that come, and streams that are ended, while the server shuts down. */
export function shuttingDown(): RpcError {
  return new RpcError("UNAVAILABLE", "the server is shutting down; call again, and another one may answer", {
    retryDelayMs: drainDelayMs,
    wait: { reason: "SHUTTING_DOWN" },
  });
}
