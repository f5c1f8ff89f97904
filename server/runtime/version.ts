/** Which version of Gradus this is: as the build wrote it down, or as a checkout's package.json has it. */
import { readFileSync } from "node:fs";

/** What scripts/build.ts writes down in a package. */
export interface Build {
  readonly version: string;
  /** Of the repository; empty: it was built outside of one. */
  readonly commit: string;
  /** Of the code of environments; see server/rows/cache.ts. */
  readonly environments: string;
}

declare const GRADUS_BUILD: Build | undefined;

/** Undefined: this is a checkout. */
export const built: Build | undefined = typeof GRADUS_BUILD === "undefined" ? undefined : GRADUS_BUILD;

/** E.g. "0.1.0". */
export const version: string = built?.version ?? versionOfCheckout();

/** Empty: not known. */
export const commit: string = built?.commit ?? "";

function versionOfCheckout(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
