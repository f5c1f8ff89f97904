/** Failures that a handler means to send: a gRPC status and what the caller can do about it. */
import { clipUtf8 } from "../../envs/lib/code-points.ts";

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

/**
 * Messages quote what came, so they can be as long as it. They travel in headers, percent-encoded and once more in the
 * details, and many clients take no more than 8 KiB of headers.
 */
const MESSAGE_BYTES_MAX = 1024;
const FIELD_BYTES_MAX = 256;

/** Half of a surrogate pair has no UTF-8, and makes grpc-js throw where nothing catches it. */
function sendable(text: string, bytesMax: number): string {
  return clipUtf8(text, bytesMax).toWellFormed();
}

/** Thrown by handlers for failures that are expected. Whatever else they throw is a bug, and becomes INTERNAL. */
export class RpcError extends Error {
  readonly code: CodeName;
  readonly retryDelayMs: number | undefined;
  readonly field: string | undefined;

  /** `message` goes on the wire: what was wrong, the limit, and what came. A long one is cut. */
  constructor(code: CodeName, message: string, options: RpcErrorOptions = {}) {
    super(sendable(message, MESSAGE_BYTES_MAX));
    this.code = code;
    this.retryDelayMs = options.retryDelayMs;
    this.field = options.field === undefined ? undefined : sendable(options.field, FIELD_BYTES_MAX);
  }
}
