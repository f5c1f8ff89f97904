/** What operations on runs answer. Expected outcomes are values; a rejected promise is a bug or a broken store. */
import type { Invalid } from "./types.ts";

export type Refusal =
  | Invalid
  | { readonly kind: "not_found"; readonly message: string }
  | { readonly kind: "already_exists"; readonly field: string; readonly message: string }
  | { readonly kind: "failed_precondition"; readonly message: string }
  | { readonly kind: "out_of_range"; readonly message: string }
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  /** Other processes kept changing the run; try again. */
  | { readonly kind: "aborted"; readonly message: string }
  /** The caller went away. */
  | { readonly kind: "cancelled"; readonly message: string };

/** `value` of an operation that did what was asked. */
export interface Ok<T> {
  readonly kind: "ok";
  readonly value: T;
}

export type Result<T> = Ok<T> | Refusal;

export function ok<T>(value: T): Ok<T> {
  return { kind: "ok", value };
}

export function notFound(runId: string): Refusal {
  return { kind: "not_found", message: `there is no run "${runId}"` };
}
