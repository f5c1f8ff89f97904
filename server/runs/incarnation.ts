import { randomBytes } from "node:crypto";

/** Returns a new incarnation, the name of a run that each import replaces: 72 random bits. */
export function newIncarnation(): string {
  return randomBytes(9).toString("base64url");
}
