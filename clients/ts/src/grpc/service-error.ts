/** Errors of grpc-js, as ours. */
import type { ServiceError } from "@grpc/grpc-js";
import { asGradusError, codeName, GradusError, readDelayMs, retryDelayKey } from "../errors.ts";

/** What grpc-js threw, with the delay that the server asks for. */
export function fromServiceError(error: unknown): GradusError {
  if (!(error instanceof Error) || !("code" in error) || !("details" in error)) return asGradusError(error);
  const { code, details, metadata } = error as ServiceError;
  const retryDelayMs = readDelayMs(metadata.get(retryDelayKey)[0]?.toString());
  return new GradusError(codeName(code), details, { retryDelayMs, cause: error });
}
