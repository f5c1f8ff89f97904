/** Settings of the sandbox, and the error text of a server that has none. */
import type { ZygoteOptions } from "./zygote.ts";

export type SandboxSettings =
  | {
      readonly kind: "embedded";
      /** Name or path of the Python interpreter. */
      readonly python: string;
      readonly concurrency: number;
      readonly without?: NonNullable<ZygoteOptions["without"]>;
    }
  | { readonly kind: "remote"; readonly url: string; readonly concurrency: number };

/** Returns the error text that tells why the server cannot run programs, and what to do. `why` is the cause. */
export function noSandbox(why: string): string {
  const otherwise = "give --sandbox the URL of a SandboxFusion server, or use other environments";
  return `this server runs no programs: ${why}; ${otherwise}`;
}
