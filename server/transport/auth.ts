/** The bearer token that callers bring. */
import { hash, timingSafeEqual } from "node:crypto";
import { RpcError } from "../rpc/rpc-error.ts";

/** Whether a call may come in, by its `authorization` header. */
export type TokenCheck = (authorization: string | undefined) => boolean;

/** A check for one token; for none, it lets all in. */
export function tokenCheck(token: string | undefined): TokenCheck {
  if (token === undefined) return () => true;
  const expected = digest(token);
  return (authorization) => {
    const brought = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    // Digests have one length, so that the comparison takes as long for every token.
    return brought !== undefined && timingSafeEqual(digest(brought), expected);
  };
}

export function unauthenticated(): RpcError {
  return new RpcError("UNAUTHENTICATED", "this server wants its token: send 'authorization: Bearer <token>'");
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
