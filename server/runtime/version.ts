/** The version of Gradus: from the build, or in a checkout from package.json. */
import { readFileSync } from "node:fs";

/** Data that scripts/build.ts writes into a package. */
export interface Build {
  readonly version: string;
  /** Commit of the repository; empty: the package was built outside of a repository. */
  readonly commit: string;
  /** Digest of the code of environments; see server/rows/cache.ts. */
  readonly environments: string;
}

declare const GRADUS_BUILD: Build | undefined;

/** Undefined: this is a checkout. */
export const built: Build | undefined = typeof GRADUS_BUILD === "undefined" ? undefined : GRADUS_BUILD;

/** For example "0.1.0". */
export const version: string = built?.version ?? versionOfCheckout();

/** Empty: not known. */
export const commit: string = built?.commit ?? "";

function versionOfCheckout(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
