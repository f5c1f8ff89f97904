/** Failures as Connect sends them. */
import { ConnectError } from "@connectrpc/connect";
import type { Code } from "@connectrpc/connect";
import { codes } from "../../rpc/rpc-error.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import { detailsOf } from "../details.ts";

/** With google.rpc details and the retry delay in plain text too. */
export function toConnectError(error: RpcError): ConnectError {
  const metadata = error.retryDelayMs === undefined ? {} : { "retry-delay-ms": String(error.retryDelayMs) };
  const code = codes[error.code] as Code;
  const converted = new ConnectError(error.message, code, metadata);
  converted.details.push(...detailsOf(error));
  return converted;
}
