/** The error that ends a start when the operator has to fix something. */
import { TokensProblem } from "./runtime/tokens.ts";
import { CannotOpen } from "./stores/thread.ts";
import { CannotListen } from "./transport/cannot-listen.ts";

/** Problem that the operator has to fix before the server can start. */
export class StartError extends Error {
  /**
   * "failure": a port, a store, another server or mounted code failed. Undefined: a file named by an option is invalid.
   */
  readonly kind: "failure" | undefined;

  constructor(message: string, kind?: "failure") {
    super(message);
    this.kind = kind;
  }
}

/** Returns a loaded value. Throws StartError if the file or value that the operator named is invalid. */
export function orStop<T extends { readonly kind: string }>(
  loaded: T | { readonly kind: "invalid"; readonly message: string },
): Exclude<T, { readonly kind: "invalid" }> {
  if (loaded.kind === "invalid") throw new StartError((loaded as { readonly message: string }).message);
  return loaded as Exclude<T, { readonly kind: "invalid" }>;
}

/**
 * Throws a StartError for an error that the operator can fix: a port, a store or the tokens. Rethrows other errors,
 * which are bugs.
 */
export function stopFor(error: unknown): never {
  if (error instanceof TokensProblem) throw new StartError(`the tokens of --tokens-file: ${error.message}`);
  if (error instanceof CannotListen || error instanceof CannotOpen) throw new StartError(error.message, "failure");
  throw error;
}
