/**
 * Puts a row's prefix (Python code, such as imports that the author assumes) before a program. Imports from __future__
 * must come first, after the docstring (The Python Language Reference, 7.11.1). The prefix is therefore inserted after
 * them.
 */
import { type Token, tokenize } from "./tokens.ts";

export interface Prefixed {
  readonly source: string;
  /**
   * Number of the program's own lines that stand before the inserted prefix. Used to correct line numbers in errors.
   */
  readonly linesBefore: number;
  /** Number of lines that the prefix added. */
  readonly linesAdded: number;
}

export function withPrefix(prefix: string, program: string): Prefixed {
  if (prefix === "") return { source: program, linesBefore: 0, linesAdded: 0 };
  const lines = program.split(/\r\n?|\n/);
  const linesBefore = lastFutureLine(program);
  const added = prefix.split("\n");
  const source = [...lines.slice(0, linesBefore), ...added, ...lines.slice(linesBefore)].join("\n");
  return { source, linesBefore, linesAdded: added.length };
}

/** Converts a line number of the program with the prefix into one of the program without it. */
export function ownLine({ linesBefore, linesAdded }: Prefixed, line: number): number {
  return line > linesBefore ? Math.max(1, line - linesAdded) : line;
}

/** Returns the number of the last line that imports from __future__, counted from 1, or 0 if there is no such line. */
function lastFutureLine(program: string): number {
  if (!program.includes("__future__")) return 0;
  const tokens = tokenize(program);
  let last = 0;
  for (let start = 0; start < tokens.length;) {
    let end = start;
    while (end < tokens.length && tokens[end]?.kind !== "newline") end++;
    if (end === tokens.length) break;
    const statement = tokens.slice(start, end);
    if (isWord(statement[0], "from") && isWord(statement[1], "__future__")) last = (tokens[end] as Token).line;
    else if (statement.some(({ kind }) => kind !== "string")) break;
    start = end + 1;
  }
  return last;
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === "name" && token.text === text;
}
