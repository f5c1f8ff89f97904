/** The bearer token, as a header takes it. */
import { GradusError } from "./errors.ts";

/** The token without white space around it, as files have; refuses what no header can hold. No error shows it. */
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
