/** Converts errors of grpc-js to GradusErrors. */
import type { ServiceError } from "@grpc/grpc-js";
import { reasonOfStatus, reasonOfText, waitReasonKey } from "../details.ts";
import { asGradusError, codeName, GradusError, readDelayMs, retryDelayKey } from "../errors.ts";

/**
 * Converts an error of grpc-js, with the delay that the server asks for. A call that was cancelled without its caller's
 * signal, or whose stream was reset before a status, becomes UNAVAILABLE. Load balancers cut calls off in this way when
 * they lose the server behind them.
 */
export function fromServiceError(error: unknown, signal?: AbortSignal): GradusError {
  if (!(error instanceof Error) || !("code" in error) || !("details" in error)) return asGradusError(error);
  const { code, details, metadata } = error as ServiceError;
  const retryDelayMs = readDelayMs(metadata.get(retryDelayKey)[0]?.toString());
  const isReset = codeName(code) === "INTERNAL" && details.includes("RST_STREAM");
  if (isReset || (codeName(code) === "CANCELLED" && signal?.aborted !== true))
    return new GradusError("UNAVAILABLE", `a proxy or load balancer cut the call off: ${details}`, { cause: error });
  const status = metadata.get("grpc-status-details-bin")[0];
  const found = status instanceof Uint8Array ? reasonOfStatus(status) : undefined;
  const reason = found ?? reasonOfText(metadata.get(waitReasonKey)[0]?.toString());
  // grpc-js has this error for a reply that is larger than the client accepts. The client limits no other message.
  const isReply = details.includes("Received message larger than max");
  const words = isReply ? `the reply is too large: ${details}: ask for less in a call, e.g. a smaller page` : details;
  return new GradusError(codeName(code), words, { retryDelayMs, reason, cause: error });
}
