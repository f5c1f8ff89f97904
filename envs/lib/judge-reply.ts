/**
 * Reads the verdict at the end of a judge model's reply: {"reason": "…", "winner": "A"}, or a last line that names only
 * the winner. The reader is strict, because a reward depends on it. Nothing may follow the verdict, thoughts contain no
 * verdict, and a reply that contradicts itself has none.
 */
import { malformed, type Parsed } from "../facts.ts";
import type { Verdict } from "../ports.ts";
import { onOneLine } from "./escape.ts";

/** Maximum length of a stored reason, in UTF-16 units. */
export const REASON_MAX = 300;

/** Number of UTF-16 units read at the end of a reply. Anything earlier is reasoning. */
const READ_MAX = 65_536;
const VERDICT_MAX = 4096;
/**
 * Maximum number of "{" at which parsing of the final JSON object is tried, because the reason in it may contain
 * braces.
 */
const STARTS_MAX = 16;

/**
 * Matches a tag that opens or closes a model's thoughts, in the spellings of models and chat templates. A capture group
 * is set only by a closing tag.
 */
const THOUGHTS =
  /<[\s|]{0,8}(\/)?\s{0,8}(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)(?:[\s|][^<>]{0,128})?>|\[(\/)?THINK\]|◁(\/)?think▷|<\|(?:begin|(end))_of_thought\|>|<\|channel\|>(?:analysis|commentary|(final))/gi;
/** Characters that models put around the line of their verdict. */
const AROUND = " \t\r\n`*";
const CLAIM = /"winner"\s*:\s*("[^"]*"|)/g;
/**
 * Matches a line that names the winner: "A", "B" or "tie" in any case, with optional quotes, bold marks, label and
 * final period.
 */
const WINNER =
  /^[\s*_"'`]{0,8}(?:(?:final )?(?:answer|verdict|winner|decision)[*_]{0,3}\s?[:：][\s*_"'`]{0,8})?(?:text |it is |it's )?(?:(a)|(b)|(?:a )?tie)[\s*_"'`.]{0,8}$/i;

/** Reads the verdict of a reply. Never throws, never evaluates code, and takes time bounded by the reply's length. */
export function readVerdict(reply: string): Parsed<Verdict> {
  const said = withoutThoughts(reply);
  if (said === undefined)
    return malformed("the judge's thoughts are never closed, and a verdict within them does not count");
  const text = said.slice(-READ_MAX);
  let end = text.length;
  while (end > 0 && AROUND.includes(text.charAt(end - 1))) end--;
  const last = lastObject(text.slice(0, end)) ?? lastLine(text.slice(0, end));
  if (last === undefined) return malformed("the reply does not end with a JSON object that names a winner");
  const winner = winnerOf(last.object["winner"]);
  const { reason } = last.object;
  if (winner === undefined) return malformed('the winner must be "A", "B" or "tie"');
  for (const [, claim = ""] of text.matchAll(CLAIM))
    if (winnerOf(claim) !== winner) return malformed("the reply holds two verdicts that differ");
  const why = typeof reason === "string" ? reason : text.slice(0, last.start);
  return { kind: "answer", answer: { winner, reason: inBrief(why) } };
}

/** Returns the reply after the judge's thoughts, or undefined if the thoughts are never closed. */
function withoutThoughts(reply: string): string | undefined {
  const last = [...reply.matchAll(THOUGHTS)].at(-1);
  if (last === undefined) return reply;
  const [tag, ...closing] = last;
  return closing.some((mark) => mark !== undefined) ? reply.slice(last.index + tag.length) : undefined;
}

function winnerOf(named: unknown): Verdict["winner"] | undefined {
  const found = typeof named === "string" ? WINNER.exec(named) : null;
  if (found === null) return undefined;
  return found[1] !== undefined ? "A" : found[2] !== undefined ? "B" : "tie";
}

/**
 * Returns the winner that the reply's last line names. Undefined if the line names none, or if an earlier line names
 * another winner.
 */
function lastLine(text: string): Found | undefined {
  const start = text.lastIndexOf("\n") + 1;
  const winner = winnerOf(text.slice(start));
  if (winner === undefined) return undefined;
  const named = text.slice(0, start).split("\n").map(winnerOf);
  return named.every((other) => other === undefined || other === winner) ? { start, object: { winner } } : undefined;
}

interface Found {
  readonly start: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Returns the JSON object at the end of a judge's reply, if it has a key "winner". */
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

/** Returns the text on one line. Shortens a long text to its end, which holds the judge's conclusion. */
function inBrief(text: string): string {
  const line = onOneLine(text.slice(-VERDICT_MAX));
  return line.length <= REASON_MAX ? line : `…${line.slice(1 - REASON_MAX).toWellFormed()}`;
}
