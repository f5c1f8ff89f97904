import { randomBytes } from "node:crypto";

/** Returns a new name for an incarnation of a run: 72 random bits. */
export function newIncarnation(): string {
  return randomBytes(9).toString("base64url");
}
