/**
 * Strips marks that surround an answer on both sides: code fences, tags, dollar signs, bold, quotes, LaTeX commands.
 */
import { splitEntries } from "../lib/words.ts";

/** The part text.slice(start, end) of a text. */
export interface Range {
  start: number;
  end: number;
}

type Marks = readonly [open: string, close: string];

/**
 * Pairs of marks, each with its opening and its closing mark. Repeated marks such as "**" are removed one by one. Code
 * fences and LaTeX commands are handled by functions below.
 */
const PAIRS = splitEntries(`
  <answer> </answer> | $ $ | \\( \\) | \\[ \\] | * * | _ _ | \` \` | \` ' | " " | ' ' | ＂ ＂ | ＇ ＇ | “ ” | ” ” | ‘ ’ | „ “
  „ ” | ‚ ‘ | ‹ › | 《 》 | 【 】 | « » | » « | 「 」 | 『 』
`).map((pair) => pair.split(" ") as unknown as Marks);
const PAIRS_BY_FIRST = Map.groupBy(PAIRS, ([open]) => open.charAt(0));

/** Removes one pair of marks from the ends of the range. Returns whether there was one. */
export function stripMarks(text: string, range: Range): boolean {
  const first = text[range.start] ?? "";
  if ((first === "`" || first === "~") && stripFence(text, range, first)) return true;
  if (first === "\\" && (stripCommand(text, range) || stripBetween(text, range, BEGIN, (name) => `\\end{${name}}`)))
    return true;
  if (first === "<" && stripBetween(text, range, ELEMENT, (name) => `</${name}>`)) return true;
  return (PAIRS_BY_FIRST.get(first) ?? []).some(([open, close]) => stripPair(text, range, open, close));
}

/**
 * Matches the start of a list whose items each have quotes: '"0", "3"'. The outer quotes are then not a pair around the
 * whole answer.
 */
const QUOTED_ITEM = /(["'“‘])[^"'“”‘’,，]{1,64}["'”’]\s{0,8}[,，、]\s{0,8}\1/y;

function stripPair(text: string, range: Range, open: string, close: string): boolean {
  const { start, end } = range;
  QUOTED_ITEM.lastIndex = start;
  if (QUOTED_ITEM.test(text)) return false;
  if (end - start < open.length + close.length) return false;
  if (!text.startsWith(open, start) || !text.endsWith(close, end)) return false;
  range.start = start + open.length;
  range.end = end - close.length;
  return true;
}

/**
 * Matches a language name on the line of an opening code fence, alone and starting with a letter: "```1" names no
 * language. The closing fence must then be on its own line too; otherwise the first line is part of the text.
 */
const LANGUAGE = /[A-Za-z][\w+#.-]{0,31}[ \t]{0,8}\r?\n/y;

/**
 * Maximum number of signs (` or ~) in the mark that opens or closes a code fence. It has more than three if the code
 * itself contains fences.
 */
const FENCE_MAX = 32;

function stripFence(text: string, range: Range, mark: string): boolean {
  const fence = mark.repeat(3);
  if (!stripPair(text, range, fence, fence)) return false;
  for (let more = fence.length; more < FENCE_MAX && stripPair(text, range, mark, mark); more++);
  LANGUAGE.lastIndex = range.start;
  if (text[range.end - 1] === "\n" && LANGUAGE.test(text) && LANGUAGE.lastIndex <= range.end)
    range.start = LANGUAGE.lastIndex;
  return true;
}

/** Matches LaTeX commands that only change the look of their argument. */
const COMMAND =
  /\\(?:boxed|fbox|framebox|mbox|text|textbf|textit|textrm|textsf|texttt|emph|underline|mathrm|mathbf|mathit|mathsf|mathtt|bm|displaystyle|ensuremath)[ \t\u00a0]{0,4}\{/y;

function stripCommand(text: string, range: Range): boolean {
  if (text[range.end - 1] !== "}") return false;
  COMMAND.lastIndex = range.start;
  if (!COMMAND.test(text) || COMMAND.lastIndex >= range.end) return false;
  range.start = COMMAND.lastIndex;
  range.end--;
  return true;
}

/** Matches LaTeX environments that only position their content. */
const BEGIN = /\\begin\{((?:equation|align|gather|displaymath|math|center)\*?|aligned|gathered|split)\}/y;
/**
 * Matches HTML elements that only change the look of their content. Elements that strike out or raise the content are
 * missing, because they change its meaning.
 */
const ELEMENT = /<(b|strong|i|em|u|mark|code|pre|kbd|p|div|span|center|h[1-6])>/iy;

/** Removes a pair of marks whose closing mark repeats the name of the opening one, such as <b>…</b>. */
function stripBetween(text: string, range: Range, opens: RegExp, closing: (name: string) => string): boolean {
  opens.lastIndex = range.start;
  const [open = "", name = ""] = opens.exec(text) ?? [];
  return open !== "" && stripPair(text, range, open, closing(name));
}
