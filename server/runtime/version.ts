/** The version of Gradus. It comes from the build, or from package.json in a checkout of the repository. */
import { readFileSync } from "node:fs";

/** Data that scripts/artefacts/bundle.ts writes into a built package. */
export interface Build {
  readonly version: string;
  /** Commit of the repository. Empty: the package was not built in a repository. */
  readonly commit: string;
  /**
   * Digest of Gradus's code that reads rows of pools. It is part of the names of cached pool files
   * (server/rows/cache.ts).
   */
  readonly environments: string;
}

declare const GRADUS_BUILD: Build | undefined;

/** Data of the build. Undefined: this is a checkout of the repository, not a package. */
export const built: Build | undefined = typeof GRADUS_BUILD === "undefined" ? undefined : GRADUS_BUILD;

/** Version of Gradus, for example "0.1.0". */
export const version: string = built?.version ?? versionOfCheckout();

/** Commit from which this package was built. Empty: it is not known. */
export const commit: string = built?.commit ?? "";

function versionOfCheckout(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
