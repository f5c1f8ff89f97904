/** Failures that a handler means to send: a gRPC status and what the caller can do about it. */

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

export interface RpcErrorOptions {
  /** How long to wait before trying again, milliseconds; unset: trying again is of no use, or of use at once. */
  readonly retryDelayMs?: number;
  /** The request's field at fault, as a path, e.g. "spec.environment" or "groups[3].task_id". */
  readonly field?: string;
}

/** Thrown by handlers for failures that are expected. Whatever else they throw is a bug, and becomes INTERNAL. */
export class RpcError extends Error {
  readonly code: CodeName;
  readonly retryDelayMs: number | undefined;
  readonly field: string | undefined;

  /** `message` goes on the wire as it is: what was wrong, the limit, and what came. */
  constructor(code: CodeName, message: string, options: RpcErrorOptions = {}) {
    super(message);
    this.code = code;
    this.retryDelayMs = options.retryDelayMs;
    this.field = options.field;
  }
}
