/** What an operator chooses of the sandbox, and what is said where there is none. */
import type { ZygoteOptions } from "./zygote.ts";

export type SandboxSettings =
  | {
      readonly kind: "embedded";
      /** A name on the path, or a path. */
      readonly python: string;
      readonly concurrency: number;
      readonly without?: NonNullable<ZygoteOptions["without"]>;
    }
  | { readonly kind: "remote"; readonly url: string; readonly concurrency: number };

/** Why this server runs no programs, and what to do. */
export function noSandbox(why: string): string {
  const otherwise = "give --sandbox the URL of a SandboxFusion server, or use other environments";
  return `this server runs no programs: ${why}; ${otherwise}`;
}
