/** What can go wrong, as one class with a code. */
import type { ErrorReason } from "./details.ts";

/** Names of the gRPC status codes, each at its number. */
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

/** The name of a gRPC status code. */
export type GradusCode = (typeof codes)[number];

/** Name of the metadata in which the server says when to try again, in milliseconds. */
export const retryDelayKey = "retry-delay-ms";

/** What is wrong with a client's address or options, so that no call of it can go through. */
export type ConnectionMistake =
  /** A Gradus server's HTTP port where its gRPC port is wanted. */
  | "http_port"
  /** A port that speaks no HTTP/1.1, as gRPC ports do, where the HTTP port is wanted. */
  | "grpc_port"
  /** Something else listens there. */
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

/** A call that failed. */
export class GradusError extends Error {
  override readonly name = "GradusError";
  /** The gRPC status, e.g. "NOT_FOUND". */
  readonly code: GradusCode;
  /** How long the server asks to wait before trying again, milliseconds; undefined: it did not say. */
  readonly retryDelayMs: number | undefined;
  /** Set: the client's address or options are wrong, as the message says, and trying again is of no use. */
  readonly mistake: ConnectionMistake | undefined;
  /** The server's word for why the call has to wait, e.g. "PAUSED" or "FEEDBACK_DUE"; undefined: it gives none. */
  readonly reason: string | undefined;
  /** Facts that come with the reason, e.g. `paused_by` and `paused_since` (RFC 3339) of a paused run. */
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

/** The name of a status code's number; a number that means nothing is UNKNOWN. */
export function codeName(code: number): GradusCode {
  return codes[code] ?? "UNKNOWN";
}

/** Reads a delay as metadata gives it; undefined: absent, or not a positive number. */
export function readDelayMs(text: string | null | undefined): number | undefined {
  const delay = Number(text);
  return Number.isFinite(delay) && delay > 0 ? delay : undefined;
}

/** Anything thrown, as a GradusError. */
export function asGradusError(error: unknown): GradusError {
  if (error instanceof GradusError) return error;
  return new GradusError("UNKNOWN", error instanceof Error ? error.message : String(error), { cause: error });
}

/** What a call that was aborted ends with. */
export function abortedError(signal: AbortSignal): GradusError {
  return new GradusError("CANCELLED", "the call was aborted", { cause: signal.reason });
}
