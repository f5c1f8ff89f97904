/** The bearer token that callers bring. */
import { createHash, timingSafeEqual } from "node:crypto";
import { RpcError } from "./rpc-error.ts";

/** Whether an `authorization` header brings the token; true if none is wanted. */
export function hasToken(token: string | undefined, authorization: string | undefined): boolean {
  if (token === undefined) return true;
  const brought = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  // Hashes have one length, so that the comparison takes as long for every token.
  return brought !== undefined && timingSafeEqual(digest(brought), digest(token));
}

export function unauthenticated(): RpcError {
  return new RpcError("UNAUTHENTICATED", "this server wants its token: send 'authorization: Bearer <token>'");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
