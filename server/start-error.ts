/** The error of a start that the operator has to mend. */
import { TokensProblem } from "./runtime/tokens.ts";
import { CannotOpen } from "./stores/thread.ts";
import { CannotListen } from "./transport/cannot-listen.ts";

/** A problem that the operator has to mend before the server can start. */
export class StartError extends Error {
  /** "failure": a port, a store, another server or a mount; undefined: a file that an option names. */
  readonly kind: "failure" | undefined;

  constructor(message: string, kind?: "failure") {
    super(message);
    this.kind = kind;
  }
}

/** Returns a loaded value. Throws StartError if what the operator named is invalid. */
export function orStop<T extends { readonly kind: string }>(
  loaded: T | { readonly kind: "invalid"; readonly message: string },
): Exclude<T, { readonly kind: "invalid" }> {
  if (loaded.kind === "invalid") throw new StartError((loaded as { readonly message: string }).message);
  return loaded as Exclude<T, { readonly kind: "invalid" }>;
}

/** Throws a StartError for problems that the operator can mend: a port, a store or the tokens. Other errors are bugs. */
export function stopFor(error: unknown): never {
  if (error instanceof TokensProblem) throw new StartError(`the tokens of --tokens-file: ${error.message}`);
  if (error instanceof CannotListen || error instanceof CannotOpen) throw new StartError(error.message, "failure");
  throw error;
}
