/** Marks that stand at both ends of an answer: fences, tags, dollars, bold, quotes, commands of LaTeX. */

/** A part of a text: text.slice(start, end). */
export interface Range {
  start: number;
  end: number;
}

type Marks = readonly [open: string, close: string];

/** By the first character of what opens them. Those that may be doubled go one by one. Fences and commands are apart. */
const PAIRS: Readonly<Record<string, readonly Marks[]>> = {
  "<": [["<answer>", "</answer>"]],
  $: [["$", "$"]],
  "\\": [
    ["\\(", "\\)"],
    ["\\[", "\\]"],
  ],
  "*": [["*", "*"]],
  _: [["_", "_"]],
  "`": [
    ["`", "`"],
    ["`", "'"],
  ],
  '"': [['"', '"']],
  "'": [["'", "'"]],
  "＂": [["＂", "＂"]],
  "＇": [["＇", "＇"]],
  "“": [["“", "”"]],
  "”": [["”", "”"]],
  "‘": [["‘", "’"]],
  "„": [
    ["„", "“"],
    ["„", "”"],
  ],
  "‚": [["‚", "‘"]],
  "‹": [["‹", "›"]],
  "《": [["《", "》"]],
  "【": [["【", "】"]],
  "«": [["«", "»"]],
  "»": [["»", "«"]],
  "「": [["「", "」"]],
  "『": [["『", "』"]],
};

/** Takes away one pair of marks. */
export function stripMarks(text: string, range: Range): boolean {
  const first = text[range.start] ?? "";
  if ((first === "`" || first === "~") && stripFence(text, range, first)) return true;
  if (first === "\\" && (stripCommand(text, range) || stripBetween(text, range, BEGIN, (name) => `\\end{${name}}`)))
    return true;
  if (first === "<" && stripBetween(text, range, ELEMENT, (name) => `</${name}>`)) return true;
  const pairs = Object.hasOwn(PAIRS, first) ? (PAIRS[first] as readonly Marks[]) : [];
  return pairs.some(([open, close]) => stripPair(text, range, open, close));
}

/** The first of several that have quotes of their own: '"0", "3"'. */
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
 * A language stands alone on the fence's line, and starts with a letter: "```1" opens no language. The fence that closes
 * stands alone on its line then, too: else the first line is one of the text's.
 */
const LANGUAGE = /[A-Za-z][\w+#.-]{0,31}[ \t]{0,8}\r?\n/y;

/** Fences may be longer than three, where the text inside has fences too. */
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

/** LaTeX commands that say how their argument looks, and nothing else. */
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

/** Environments of LaTeX that say where their content stands. */
const BEGIN = /\\begin\{((?:equation|align|gather|displaymath|math|center)\*?|aligned|gathered|split)\}/y;
/** Elements of HTML that say how theirs looks: none that strikes it out, or raises it. */
const ELEMENT = /<(b|strong|i|em|u|mark|code|pre|kbd|p|div|span|center|h[1-6])>/iy;

/** What opens has a name, which closes it too. */
function stripBetween(text: string, range: Range, opens: RegExp, closing: (name: string) => string): boolean {
  opens.lastIndex = range.start;
  const [open = "", name = ""] = opens.exec(text) ?? [];
  return open !== "" && stripPair(text, range, open, closing(name));
}
