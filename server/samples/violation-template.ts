/** Turns violations into templates, so that violations that differ only in numbers and names are counted together. */
import { clipUtf8 } from "../../envs/lib/text.ts";
import { violationKind } from "../curriculum/malformed-samples.ts";

/** Stands in a template for numbers, quoted texts, names and formulas. */
const GAP = "…";
/** Maximum size of a template in bytes of UTF-8. */
const TEMPLATE_BYTES_MAX = 160;
/**
 * Maximum number of violations whose templates are remembered. Then all are forgotten, because a violation that is met
 * again soon takes its place again.
 */
const KNOWN_MAX = 2048;

const QUOTED = /"[^"]*"|`[^`]*`/g;
/**
 * Matches words that depend on the task or the answer: with a symbol of a formula or a gap in them, single letters other
 * than "a", and capitalized words within a sentence.
 */
const NAME = /(?<![^\s(])[^\s(]*[…\\^=+*_{}<>|$][^\s,.;:)]*|(?<![^\s(])[b-zA-Z](?=[\s,.;:)]|$)|(?<=[^\s.:] )[A-Z][a-z]+/g;
const GAPS = /…(?:[,;]? (?:and |or )?…)+/g;

const known = new Map<string, string>();

/** Returns a violation without its numbers, quoted texts and names, at most TEMPLATE_BYTES_MAX bytes. */
export function templateOf(violation: string): string {
  const before = known.get(violation);
  if (before !== undefined) return before;
  const plain = violationKind(violation.replaceAll(QUOTED, GAP));
  const template = clipUtf8(plain.replaceAll(NAME, GAP).replaceAll(GAPS, GAP), TEMPLATE_BYTES_MAX);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(violation, template);
  return template;
}

/** Returns the longest part of a template that every violation of the template contains. Empty: there is none. */
export function commonWords(template: string): string {
  const parts = template.split(GAP).map((part) => part.trim());
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}
