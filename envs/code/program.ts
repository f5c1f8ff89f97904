/**
 * The program of an answer: what stands in its last fenced block of Python, without prose around it, or the whole text
 * where there is no fence. Indentation and blank lines are kept: they count in Python.
 */
import type { Parsed } from "../facts.ts";
import { LIMITS } from "./instance.ts";

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

export function readProgram(text: string): Parsed<string> {
  if (text.length > 4 * LIMITS.programCharsMax) return tooLong();
  const lines = text
    .replace(/^\ufeff/, "")
    .replace(/\r\n/g, "\n")
    .split("\n");
  const blocks = blocksOf(lines);
  const isOfPython = ({ language }: Block): boolean => PYTHON.test(language);
  const block = blocks.findLast(isOfPython) ?? blocks.findLast(({ language }) => language === "") ?? blocks.at(-1);
  const program = block === undefined ? unquoted(lines.join("\n")) : block.lines.join("\n");
  if (program.trim() === "") return { kind: "malformed", reason: "the program is empty" };
  return program.length > LIMITS.programCharsMax ? tooLong() : { kind: "answer", answer: program };
}

function tooLong(): Parsed<string> {
  return { kind: "malformed", reason: `the program has more than ${LIMITS.programCharsMax} characters` };
}

/** Fenced blocks (CommonMark 4.5); one that nothing closes goes on to the end. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = openedBy(lines[at] as string);
    if (fence === undefined) continue;
    let end = at + 1;
    while (end < lines.length && !closes(lines[end] as string, fence)) end++;
    const isClosed = end < lines.length;
    const inner = lines.slice(at + 1, end);
    blocks.push({
      language: fence.language,
      lines: (isClosed ? inner : closedInLine(inner, fence)).map(outdented(fence)),
    });
    at = end;
  }
  return blocks;
}

function openedBy(line: string): Fence | undefined {
  const [, space, mark, language = ""] = OPENING.exec(line) ?? [];
  return space === undefined || mark === undefined ? undefined : { indent: space.length, mark, language };
}

function closes(line: string, { mark }: Fence): boolean {
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
