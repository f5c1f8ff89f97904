/**
 * Reads the verdict that a judge model ends its reply with: {"reason": "…", "winner": "A"}. Strict, for a reward hangs on
 * it: only a winner as it was asked for counts, nothing may follow it, and what contradicts itself is no verdict.
 */
import { malformed, type Parsed } from "../facts.ts";
import type { Verdict } from "../ports.ts";
import { onOneLine } from "./words.ts";

/** UTF-16 units of a verdict's reason that are kept. */
export const REASON_MAX = 300;

/** UTF-16 units of a reply's end that are read: what is before them is reasoning. */
const READ_MAX = 65_536;
const VERDICT_MAX = 4096;
/** Places where the last object may begin: its reason may hold braces. */
const STARTS_MAX = 16;

const END_OF_THOUGHTS = "</think>";
/** What models put around what they were asked to end with. */
const AROUND = " \t\r\n`*";
const CLAIM = /"winner"\s*:\s*("[^"]*"|)/g;

const WINNERS: readonly unknown[] = ["A", "B", "tie"] satisfies readonly Verdict["winner"][];

/** Never throws, never evaluates, and is bounded in time by the reply's length. */
export function readVerdict(reply: string): Parsed<Verdict> {
  const text = withoutThoughts(reply).slice(-READ_MAX);
  let end = text.length;
  while (end > 0 && AROUND.includes(text.charAt(end - 1))) end--;
  const last = lastObject(text.slice(0, end));
  if (last === undefined) return malformed("the reply does not end with a JSON object that names a winner");
  const { winner, reason } = last.object;
  if (!WINNERS.includes(winner)) return malformed('the winner is none of "A", "B" and "tie"');
  for (const [, claim] of text.matchAll(CLAIM))
    if (claim !== JSON.stringify(winner)) return malformed("the reply holds two verdicts that differ");
  const said = typeof reason === "string" ? reason : text.slice(0, last.start);
  return { kind: "answer", answer: { winner: winner as Verdict["winner"], reason: inBrief(said) } };
}

/** Of a judge that thinks aloud in its reply. */
function withoutThoughts(reply: string): string {
  const at = reply.lastIndexOf(END_OF_THOUGHTS);
  return at < 0 ? reply : reply.slice(at + END_OF_THOUGHTS.length);
}

interface Found {
  readonly start: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** The object that the text ends with, if it has a winner, whichever. */
function lastObject(text: string): Found | undefined {
  if (!text.endsWith("}")) return undefined;
  for (let start = text.length, tries = 0; start > 0 && tries < STARTS_MAX; tries++) {
    start = text.lastIndexOf("{", start - 1);
    if (start < 0 || text.length - start > VERDICT_MAX) return undefined;
    const object = objectOf(text.slice(start));
    if (object !== undefined) return Object.hasOwn(object, "winner") ? { start, object } : undefined;
  }
  return undefined;
}

function objectOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** On one line; of a long text the end, where it comes to the point. */
function inBrief(text: string): string {
  const line = onOneLine(text.slice(-VERDICT_MAX));
  return line.length <= REASON_MAX ? line : `…${line.slice(1 - REASON_MAX).toWellFormed()}`;
}
