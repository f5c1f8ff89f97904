/**
 * Extracts the program of an answer: the content of a fenced block, or the whole text if there is no fence. Indentation
 * and blank lines are kept, because they count in Python.
 *
 * If there are several blocks, the last suitable one counts. A suitable block defines what the tests call, or reads
 * standard input if the tests have inputs. A call or an output shown after the program is then ignored. No block is run
 * for this choice, and only one program is run afterwards: an answer is one guess, however many blocks it has.
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

/**
 * Matches a run of zero-width characters at the start or end of a line, where they would hide a Markdown code fence.
 */
const UNSEEN = /^[\ufeff\u200b\u2060]+|(?<![\ufeff\u200b\u2060])[\ufeff\u200b\u2060]+$/gm;
const FENCE = /[\s\u200b\u2060]{0,8}[*_]{0,3}[\s\u200b\u2060]{0,8}(?=```|~~~)/y;

/**
 * Strips a label that precedes a fence on the same line: "Answer: ```python". If no fence follows, a line such as
 * "answer = 1" is part of the program and stays.
 */
function withoutLabel(text: string): string {
  const past = labelAt(text, text.length - text.trimStart().length, text.length)?.past ?? 0;
  FENCE.lastIndex = past;
  return past > 0 && FENCE.test(text) ? text.slice(FENCE.lastIndex) : text;
}

/**
 * Returns the block that is taken as the program. Prefers blocks marked as Python, then blocks without a language, then
 * others.
 */
function chosen(blocks: readonly Block[], tests: readonly CodeTest[]): Block | undefined {
  const ofPython = blocks.filter(isOfPython);
  const unnamed = blocks.filter(({ language }) => language === "");
  // Look for Python blocks inside other blocks too, because the whole answer may be Markdown in an outer fence.
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

/**
 * Returns predicates on a block's text. If the tests have inputs for a script, the only predicate is whether the block
 * reads its input. Otherwise there is one for each function or class that the tests call: whether the block defines it.
 */
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

/**
 * Returns whether a program reads its input: it uses input, stdin or fileinput, names "/dev/stdin", or opens or reads
 * file descriptor 0.
 */
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

/** Maximum number of code blocks that are read from an answer. */
const BLOCKS_MAX = 256;
/** Matches the marks of fences and multi-line strings. Lines without a match are skipped. */
const MARKS = /`{3}|~{3}|"{3}|'{3}/g;
/**
 * Maximum number of marks (of fences and multi-line strings) that all searches for closing fences compare. It limits
 * the time, because each search may run to the end of the text.
 */
const LOOKED_AT_MAX = 2 ** 18;

/** Returns the fenced code blocks (CommonMark 4.5). A block that is never closed extends to the end. */
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
 * Returns the index of the line that closes a fence, or the number of lines if none does. The line must not be indented
 * further than CommonMark allows, nor lie in a multi-line string, such as a docstring with its own fence. If every
 * candidate breaks a rule, the first one in a string is taken, or else the first one indented too far.
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

/**
 * Removes a closing fence that stands at the end of a program line instead of on its own line, and the lines after it.
 */
function closedInLine(lines: readonly string[], { mark }: Fence): readonly string[] {
  const last = lines.findLastIndex((line) => line.trimEnd().endsWith(mark));
  if (last < 0) return lines;
  return [...lines.slice(0, last), (lines[last] as string).trimEnd().slice(0, -mark.length)];
}

/** Returns a function that removes a fence's indentation from a line, for blocks within Markdown lists. */
function outdented({ indent }: Fence): (line: string) => string {
  return (line) => {
    let at = 0;
    while (at < indent && (line[at] === " " || line[at] === "\t")) at++;
    return line.slice(at);
  };
}

/**
 * Strips one to three backticks around a whole answer, because no Python program begins with a backtick. Returns other
 * texts unchanged.
 */
function unquoted(text: string): string {
  const found = /^\s*(`{1,3})([^`]+)\1\s*$/.exec(text);
  return found?.[2] ?? text;
}
