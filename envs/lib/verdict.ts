/**
 * Reads the verdict that a judge model ends its reply with: {"reason": "…", "winner": "A"}, or a last line that names the
 * winner and nothing else. Strict, for a reward hangs on it: nothing may follow the verdict, thoughts hold none, and a reply
 * that contradicts itself has none.
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

/** A tag that opens or closes thoughts, as models and chat templates write them; the group tells that it closes them. */
const THOUGHTS =
  /<[\s|]{0,8}(\/)?\s{0,8}(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)(?:[\s|][^<>]{0,128})?>|\[(\/)?THINK\]|◁(\/)?think▷|<\|(?:begin|(end))_of_thought\|>|<\|channel\|>(?:analysis|commentary|(final))/gi;
/** What models put around what they were asked to end with. */
const AROUND = " \t\r\n`*";
const CLAIM = /"winner"\s*:\s*("[^"]*"|)/g;
/** A winner's name in any case, in quotes, bold or not, with a label before it and a period behind it or not. */
const WINNER =
  /^[\s*_"'`]{0,8}(?:(?:final )?(?:answer|verdict|winner|decision)[*_]{0,3}\s?[:：][\s*_"'`]{0,8})?(?:text |it is |it's )?(?:(a)|(b)|(?:a )?tie)[\s*_"'`.]{0,8}$/i;

/** Never throws, never evaluates, and is bounded in time by the reply's length. */
export function readVerdict(reply: string): Parsed<Verdict> {
  const said = withoutThoughts(reply);
  if (said === undefined) return malformed("the judge's thoughts are never closed, and a verdict within them is none");
  const text = said.slice(-READ_MAX);
  let end = text.length;
  while (end > 0 && AROUND.includes(text.charAt(end - 1))) end--;
  const last = lastObject(text.slice(0, end)) ?? lastLine(text.slice(0, end));
  if (last === undefined) return malformed("the reply does not end with a JSON object that names a winner");
  const winner = winnerOf(last.object["winner"]);
  const { reason } = last.object;
  if (winner === undefined) return malformed('the winner is none of "A", "B" and "tie"');
  for (const [, claim = ""] of text.matchAll(CLAIM))
    if (winnerOf(claim) !== winner) return malformed("the reply holds two verdicts that differ");
  const why = typeof reason === "string" ? reason : text.slice(0, last.start);
  return { kind: "answer", answer: { winner, reason: inBrief(why) } };
}

/** What a judge says that thinks aloud in its reply; undefined: its thoughts go on to the end. */
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

/** The last line, if it names a winner and no line before it names another. */
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
