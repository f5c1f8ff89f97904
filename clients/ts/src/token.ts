/** Checks the bearer token before it goes into a header. */
import { GradusError } from "./errors.ts";

/**
 * Returns the token without surrounding white space, which token files often have. Throws INVALID_ARGUMENT for a token
 * that no header can hold. No error message shows the token.
 */
export function tokenOf(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  if (typeof token !== "string") throw new GradusError("INVALID_ARGUMENT", `token: want a string; got ${typeof token}`);
  const stripped = token.trim();
  if (stripped === "") throw new GradusError("INVALID_ARGUMENT", "token: it is empty; leave it out for none");
  const at = stripped.search(/[^\x21-\x7e]/);
  if (at < 0) return stripped;
  const code = stripped.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0");
  const what = `character ${at + 1} of ${stripped.length} is U+${code}`;
  throw new GradusError("INVALID_ARGUMENT", `token: want visible ASCII characters without blanks; ${what}`);
}
