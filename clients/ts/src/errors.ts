/** Error of a failed call: one class with a code. */
import type { ErrorReason } from "./details.ts";

/** Names of the gRPC status codes. The index of a name is its number. */
const codes = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** Name of a gRPC status code. */
export type GradusCode = (typeof codes)[number];

/** Metadata key of the delay, in milliseconds, after which the server asks the client to retry. */
export const retryDelayKey = "retry-delay-ms";

/** Mistake in a client's address or options, because of which all its calls fail. */
export type ConnectionMistake =
  /** The address is a Gradus server's HTTP port, but the client needs the gRPC port. */
  | "http_port"
  /** The port speaks no HTTP/1.1, like a gRPC port, but the client needs the HTTP port. */
  | "grpc_port"
  /** The program at the address is no Gradus server. */
  | "not_gradus"
  /** The server speaks TLS and the client does not. */
  | "needs_tls"
  /** The client speaks TLS and the server does not. */
  | "no_tls"
  /** One side does not accept the other's certificate. */
  | "certificate";

interface ErrorDetails {
  readonly retryDelayMs?: number | undefined;
  readonly mistake?: ConnectionMistake | undefined;
  readonly reason?: ErrorReason | undefined;
  readonly cause?: unknown;
}

/** Error of a failed call. */
export class GradusError extends Error {
  override readonly name = "GradusError";
  /** Status of the gRPC call, e.g. "NOT_FOUND". */
  readonly code: GradusCode;
  /** Delay in milliseconds after which the server asks the client to retry. Undefined if the server gives none. */
  readonly retryDelayMs: number | undefined;
  /** Mistake in the client's address or options. If it is set, a retry does not help. */
  readonly mistake: ConnectionMistake | undefined;
  /** Reason why the call has to wait, e.g. "PAUSED" or "FEEDBACK_DUE". Undefined if the server gives none. */
  readonly reason: string | undefined;
  /** Facts about the reason, e.g. `paused_by` and `paused_since` (RFC 3339) for a paused run. */
  readonly facts: Readonly<Record<string, string>>;

  constructor(code: GradusCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryDelayMs = details.retryDelayMs;
    this.mistake = details.mistake;
    this.reason = details.reason?.reason;
    this.facts = details.reason?.facts ?? {};
  }
}

/** Returns the name of a status code. An unknown number gives UNKNOWN. */
export function codeName(code: number): GradusCode {
  return codes[code] ?? "UNKNOWN";
}

/** Reads a delay in milliseconds from metadata. Undefined if it is absent, or not a positive number. */
export function readDelayMs(text: string | null | undefined): number | undefined {
  const delay = Number(text);
  return Number.isFinite(delay) && delay > 0 ? delay : undefined;
}

/** Converts any thrown value to a GradusError. */
export function asGradusError(error: unknown): GradusError {
  if (error instanceof GradusError) return error;
  return new GradusError("UNKNOWN", error instanceof Error ? error.message : String(error), { cause: error });
}

/** Returns the error of a call whose signal was aborted. */
export function abortedError(signal: AbortSignal): GradusError {
  return new GradusError("CANCELLED", "the call was aborted", { cause: signal.reason });
}
