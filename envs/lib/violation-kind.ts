/**
 * Shortens violations, i.e. texts that say what is wrong with an answer, so that similar ones can be counted together.
 */
import { clipUtf8 } from "./text.ts";

/** Maximum size of a shortened violation, in bytes of UTF-8. */
const KIND_BYTES_MAX = 320;

/**
 * Returns a violation without the numbers and quoted words of the answer, so that similar ones are counted together.
 */
export function violationKind(violation: string): string {
  return clipUtf8(violation.replaceAll(/'(?!Answer:')[^']*'|\d+(\.\d+)?/g, "…"), KIND_BYTES_MAX);
}
