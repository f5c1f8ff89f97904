/** Converts refusals by runs, and failures to make tasks, to gRPC errors. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { Invalid, Refusal, Result } from "../curriculum/types.ts";
import type { MakeResult } from "../tasks/task.ts";
import { RpcError } from "../base/rpc.ts";
import { invalid, several } from "./request-checks.ts";

/**
 * Returns the value of a result, or throws its refusal as an RpcError. `prefix` is put before the field's path in the
 * error, e.g. "config.".
 */
export function okOrThrow<T>(result: Result<T>, prefix = ""): T {
  if (result.kind === "ok") return result.value;
  throw errorOf(result, prefix);
}

export function invalidAt(prefix: string, { field, message }: Invalid): RpcError {
  return invalid(prefix + field, message);
}

/** Reason to wait: the requested tasks cannot be made at the moment. */
const notMade = { wait: { reason: "TASKS_UNAVAILABLE" } } as const;

export function errorOf(refusal: Refusal, prefix: string): RpcError {
  const { message } = refusal;
  switch (refusal.kind) {
    case "invalid":
      return several([invalidAt(prefix, refusal), ...(refusal.others ?? []).map((other) => invalidAt(prefix, other))]);
    case "not_found":
      return new RpcError("NOT_FOUND", message);
    case "already_exists":
      return new RpcError("ALREADY_EXISTS", message, { field: refusal.field });
    case "failed_precondition":
      return new RpcError("FAILED_PRECONDITION", message);
    case "damaged":
      return new RpcError("DATA_LOSS", message);
    case "out_of_range":
      return new RpcError("OUT_OF_RANGE", message);
    case "unavailable":
      return new RpcError("UNAVAILABLE", message, { ...notMade, ...refusal });
    case "aborted":
      return new RpcError("ABORTED", message);
    case "cancelled":
      return new RpcError("CANCELLED", message);
    default:
      return assertNever(refusal);
  }
}

/** Returns the gRPC error for a task that could not be made. */
export function makeError(result: Exclude<MakeResult, { kind: "made" }>): RpcError {
  switch (result.kind) {
    case "exhausted":
      return new RpcError("FAILED_PRECONDITION", result.message);
    case "overloaded": {
      const { retryDelayMs } = result;
      return new RpcError(
        "RESOURCE_EXHAUSTED",
        `too many tasks are waiting to be made: try again in ${retryDelayMs} ms, or request fewer at once`,
        { retryDelayMs, wait: { reason: "OVERLOADED" } },
      );
    }
    case "timeout":
      return new RpcError(
        "DEADLINE_EXCEEDED",
        `${result.message}: ask for smaller parameters or raise --worker-time-limit-ms`,
      );
    case "unavailable":
      return new RpcError("UNAVAILABLE", result.message, { ...notMade, retryDelayMs: result.retryDelayMs });
    case "cancelled":
      return new RpcError("CANCELLED", "the caller left before the answer");
  }
}
