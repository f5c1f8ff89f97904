/**
 * The program of an answer: what stands in one of its fenced blocks, without prose around it, or the whole text where there
 * is no fence. Indentation and blank lines are kept: they count in Python.
 *
 * Of several blocks the last one counts that can be what is asked: that defines what the tests call, or reads an input where
 * there is one. So a call or an output that is shown after the program does not stand for it. The text alone decides, and one
 * program is run: an answer is one guess, however many blocks it has.
 */
import { labelAt } from "../answers/labels.ts";
import type { Parsed } from "../facts.ts";
import { type CodeTest, LIMITS } from "./instance.ts";
import { tokenize } from "./tokens.ts";

interface Fence {
  readonly indent: number;
  readonly mark: string;
  readonly language: string;
}

interface Block {
  readonly language: string;
  readonly lines: readonly string[];
}

const OPENING = /^([ \t]{0,16})(`{3,32}|~{3,32})[ \t]{0,8}(?:\{?\.?([A-Za-z0-9_+.#-]{0,32}))?[^`]{0,200}$/;
const PYTHON = /^(?:py|python|python[23](?:\.\d{1,2})?|py3|cpython|ipython3?|pycon)$/i;

export function readProgram(text: string, tests: readonly CodeTest[] = []): Parsed<string> {
  if (text.length > 4 * LIMITS.programCharsMax) return tooLong();
  const lines = withoutLabel(text).replace(UNSEEN, "").replace(/\r\n/g, "\n").split("\n");
  const blocks = blocksOf(lines);
  const block = chosen(blocks, tests);
  const program = block === undefined ? unquoted(lines.join("\n")) : block.lines.join("\n");
  if (program.trim() === "") return { kind: "malformed", reason: "the program is empty" };
  return program.length > LIMITS.programCharsMax ? tooLong() : { kind: "answer", answer: program };
}

/** Marks of no width at the ends of lines: a fence behind them is one. Each run of them is looked at once. */
const UNSEEN = /^[\ufeff\u200b\u2060]+|(?<![\ufeff\u200b\u2060])[\ufeff\u200b\u2060]+$/gm;
const FENCE = /[\s\u200b\u2060]{0,8}[*_]{0,3}[\s\u200b\u2060]{0,8}(?=```|~~~)/y;

/** A label in the line of a fence goes: "Answer: ```python". Without a fence "answer = 1" is a line of a program. */
function withoutLabel(text: string): string {
  const past = labelAt(text, text.length - text.trimStart().length, text.length)?.past ?? 0;
  FENCE.lastIndex = past;
  return past > 0 && FENCE.test(text) ? text.slice(FENCE.lastIndex) : text;
}

/** Blocks of Python before those that name no language, and those before others. */
function chosen(blocks: readonly Block[], tests: readonly CodeTest[]): Block | undefined {
  const ofPython = blocks.filter(isOfPython);
  const unnamed = blocks.filter(({ language }) => language === "");
  // An answer in Markdown may itself be in a fence.
  const inner = ofPython.length > 0 ? [] : blocks.flatMap(({ lines }) => blocksOf(lines)).filter(isOfPython);
  const among = [ofPython, inner, unnamed, blocks].find(({ length }) => length > 0) ?? [];
  if (among.length < 2) return among[0];
  const signs = signsOf(tests);
  const text = among.map(({ lines }) => lines.join("\n"));
  for (const wanted of [signs.length, 1]) {
    const place = text.findLastIndex((each) => signs.filter((sign) => sign(each)).length >= wanted);
    if (place >= 0) return among[place];
  }
  return among.at(-1);
}

function isOfPython({ language }: Block): boolean {
  return PYTHON.test(language);
}

/** What a block has that is the program: a definition of each thing that is called, or a place where it reads its input. */
function signsOf(tests: readonly CodeTest[]): readonly ((text: string) => boolean)[] {
  if (tests.some((test) => test.kind === "script" && test.stdin.trim() !== "")) return [readsInput];
  const owners = tests.flatMap((test) => (test.kind === "call" ? [test.name.split(".")[0] as string] : []));
  return [...new Set(owners)].map((name) => {
    const exact = RegExp.escape(name);
    const definition = new RegExp(
      `^[ \\t]*(?:(?:async[ \\t]+)?def|class)[ \\t]+${exact}\\b|^${exact}[ \\t]*(?::[^=\\n]*)?=(?!=)`,
      "m",
    );
    return (text) => definition.test(text);
  });
}

const INPUTS = new Set(["input", "stdin", "fileinput"]);

/** By a name that stands for the input, "/dev/stdin", or what is opened or read as 0. */
function readsInput(text: string): boolean {
  const tokens = tokenize(text);
  return tokens.some((token, i) => {
    if (token.kind === "string") return token.value === "/dev/stdin";
    if (token.kind === "name") return INPUTS.has(token.text);
    const [opens, bracket] = [tokens[i - 2], tokens[i - 1]];
    if (token.kind !== "int" || token.value !== 0n || opens?.kind !== "name" || bracket?.kind !== "operator")
      return false;
    return bracket.text === "(" && ["open", "read", "fdopen", "mmap"].includes(opens.text);
  });
}

function tooLong(): Parsed<string> {
  return { kind: "malformed", reason: `the program has more than ${LIMITS.programCharsMax} characters` };
}

/** Of one answer. */
const BLOCKS_MAX = 256;
/** What opens or closes a fence, or a string of several lines; lines without one are passed over. */
const MARKS = /`{3}|~{3}|"{3}|'{3}/g;
/** So many of these are looked at for those that close fences: each may have to be looked for to the end of the text. */
const LOOKED_AT_MAX = 2 ** 18;

/** Fenced blocks (CommonMark 4.5); one that nothing closes goes on to the end. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const marks = lines.map((line) => line.match(MARKS)?.length ?? 0);
  const marked = Array.from(lines.keys()).filter((at) => marks[at] !== 0);
  const all = marks.reduce((sum, count) => sum + count, 1);
  const blocksMax = Math.min(BLOCKS_MAX, Math.ceil(LOOKED_AT_MAX / all));
  const blocks: Block[] = [];
  let past = 0;
  for (const [i, at] of marked.entries()) {
    if (blocks.length >= blocksMax) break;
    const fence = at < past ? undefined : openedBy(lines[at] as string);
    if (fence === undefined) continue;
    const end = closingOf(lines, marked.slice(i + 1), fence);
    const isClosed = end < lines.length;
    const inner = lines.slice(at + 1, end);
    blocks.push({
      language: fence.language,
      lines: (isClosed ? inner : closedInLine(inner, fence)).map(outdented(fence)),
    });
    past = end + 1;
  }
  return blocks;
}

function openedBy(line: string): Fence | undefined {
  const [, space, mark, language = ""] = OPENING.exec(line) ?? [];
  return space === undefined || mark === undefined ? undefined : { indent: space.length, mark, language };
}

/**
 * Where the line is that closes a fence: one that stands no further to the right than CommonMark says, and not within a
 * string of several lines, as a docstring with a fence of its own. Failing that, any that looks like one.
 */
function closingOf(lines: readonly string[], marked: readonly number[], fence: Fence): number {
  let quotes = "";
  const found: number[] = [];
  for (const at of marked) {
    const line = lines[at] as string;
    if (!isMark(line, fence)) {
      for (const [mark] of line.matchAll(/\"{3}|'{3}/g)) quotes = quotes === "" ? mark : mark === quotes ? "" : quotes;
      continue;
    }
    const indent = line.length - line.trimStart().length;
    const rank = indent > fence.indent + 3 ? 2 : quotes === "" ? 0 : 1;
    if (rank === 0) return at;
    found[rank] ??= at;
  }
  return found[1] ?? found[2] ?? lines.length;
}

function isMark(line: string, { mark }: Fence): boolean {
  const rest = line.trim();
  return rest.length >= mark.length && rest.length <= 64 && rest === (mark[0] as string).repeat(rest.length);
}

/** A fence may be closed at the end of the last line of the program. */
function closedInLine(lines: readonly string[], { mark }: Fence): readonly string[] {
  const last = lines.findLastIndex((line) => line.trimEnd().endsWith(mark));
  if (last < 0) return lines;
  return [...lines.slice(0, last), (lines[last] as string).trimEnd().slice(0, -mark.length)];
}

/** A block in a list is indented as far as its fence is. */
function outdented({ indent }: Fence): (line: string) => string {
  return (line) => {
    let at = 0;
    while (at < indent && (line[at] === " " || line[at] === "\t")) at++;
    return line.slice(at);
  };
}

/** A short program between single backticks: no program begins with one. */
function unquoted(text: string): string {
  const found = /^\s*(`{1,3})([^`]+)\1\s*$/.exec(text);
  return found?.[2] ?? text;
}
