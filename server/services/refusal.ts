/** What a run refuses, as a gRPC status. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import type { Refusal, Result } from "../curriculum/results.ts";
import { RpcError } from "../transport/rpc.ts";

/** `prefix` leads from the request to the part that was handed in, e.g. "config.". */
export function okOrThrow<T>(result: Result<T>, prefix = ""): T {
  if (result.kind === "ok") return result.value;
  throw errorOf(result, prefix);
}

function errorOf(refusal: Refusal, prefix: string): RpcError {
  const { message } = refusal;
  switch (refusal.kind) {
    case "invalid": {
      const field = prefix + refusal.field;
      return new RpcError("INVALID_ARGUMENT", `${field}: ${message}`, { field });
    }
    case "not_found":
      return new RpcError("NOT_FOUND", message);
    case "already_exists":
      return new RpcError("ALREADY_EXISTS", message, { field: refusal.field });
    case "failed_precondition":
      return new RpcError("FAILED_PRECONDITION", message);
    case "out_of_range":
      return new RpcError("OUT_OF_RANGE", message);
    case "unavailable":
      return new RpcError("UNAVAILABLE", message, { retryDelayMs: refusal.retryDelayMs });
    case "aborted":
      return new RpcError("ABORTED", message);
    case "cancelled":
      return new RpcError("CANCELLED", message);
    default:
      return assertNever(refusal);
  }
}
