/** Turns violations into templates, so that violations that differ only in numbers and names are counted together. */
import { clipUtf8 } from "../../envs/lib/text.ts";

/** Placeholder in a template for a number, a quoted text, a name or a formula. */
const GAP = "…";
/** Maximum size of a template in bytes of UTF-8. */
const TEMPLATE_BYTES_MAX = 160;
const QUOTED = /"[^"]*"|`[^`]*`/g;
/**
 * Matches words that depend on the task or the answer: words that contain GAP or a mathematical symbol, single letters
 * other than "a", and capitalized words within a sentence.
 */
const NAME =
  /(?<![^\s(])[^\s(]*[…\\^=+*_{}<>|$][^\s,.;:)]*|(?<![^\s(])[b-zA-Z](?=[\s,.;:)]|$)|(?<=[^\s.:] )[A-Z][a-z]+/g;
const GAPS = /…(?:[,;]? (?:and |or )?…)+/g;

/**
 * Returns a violation without its numbers, quoted texts and names, at most TEMPLATE_BYTES_MAX bytes. `kind` is the
 * violation without numbers and words in single quotes (violationKind).
 */
export function templateOf(kind: string): string {
  const plain = kind.replaceAll(QUOTED, GAP).replaceAll(NAME, GAP).replaceAll(GAPS, GAP);
  return clipUtf8(plain, TEMPLATE_BYTES_MAX);
}

/** Returns the longest part of a template that every violation of the template contains. Empty: there is none. */
export function commonWords(template: string): string {
  const parts = template.split(GAP).map((part) => part.trim());
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}
