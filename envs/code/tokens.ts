/**
 * Splits Python into tokens (The Python Language Reference, chapter 2), with the rules that test files need. Time and
 * size are bounded by the text's length. Anything unsupported, such as an f-string, becomes an "unread" token, so that
 * the lines around it can still be read.
 */

export type Token =
  | { readonly kind: "name"; readonly text: string; readonly line: number }
  | { readonly kind: "operator"; readonly text: string; readonly line: number }
  | { readonly kind: "int"; readonly value: bigint; readonly line: number }
  | { readonly kind: "float"; readonly value: number; readonly line: number }
  | { readonly kind: "string"; readonly value: string; readonly line: number }
  | { readonly kind: "bytes"; readonly value: string; readonly line: number }
  | { readonly kind: "unread"; readonly reason: string; readonly line: number }
  /**
   * Token without text. `newline` ends a logical line, `indent` and `dedent` mark a change of indentation at the start
   * of a line, and `end` ends the text.
   */
  | { readonly kind: "newline" | "indent" | "dedent" | "end"; readonly line: number };

interface Lexer {
  readonly text: string;
  at: number;
  line: number;
  /** Number of open brackets. Within brackets, a line break does not end a logical line. */
  depth: number;
  readonly indents: number[];
  readonly tokens: Token[];
}

/** Maximum number of digits of an int literal, because conversion takes quadratic time. */
const DIGITS_MAX = 10_000;

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER =
  /0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?/y;
const OPERATOR = /\*\*=|\/\/=|>>=|<<=|\.\.\.|->|:=|[-+*/%@&|^=<>!]=|\*\*|\/\/|<<|>>|[-+*/%@&|^~<>()[\]{},:.;=]/y;
const BLANK = /[ \t\f]*(?:#[^\n]*)?(?:\n|$)/y;
const INDENT = /[ \t\f]*/y;
const SPACE = /(?:[ \t\f]|\\\n|#[^\n]*)+/y;

/** Splits a program into tokens. Line breaks may be of any kind. Never throws. */
export function tokenize(source: string): readonly Token[] {
  const text = source.replace(/\r\n?/g, "\n");
  const lexer: Lexer = { text, at: 0, line: 1, depth: 0, indents: [0], tokens: [] };
  let starts = true;
  while (lexer.at < text.length) {
    if (starts && !startLine(lexer)) continue;
    starts = false;
    skip(lexer, SPACE);
    if (lexer.at >= text.length) break;
    if (text[lexer.at] !== "\n") readToken(lexer);
    else {
      if (lexer.depth === 0) starts = push(lexer, { kind: "newline", line: lexer.line });
      lexer.at++;
      lexer.line++;
    }
  }
  if (!starts && lexer.tokens.length > 0) push(lexer, { kind: "newline", line: lexer.line });
  while (lexer.indents.length > 1) {
    lexer.indents.pop();
    push(lexer, { kind: "dedent", line: lexer.line });
  }
  push(lexer, { kind: "end", line: lexer.line });
  return lexer.tokens;
}

function push(lexer: Lexer, token: Token): true {
  lexer.tokens.push(token);
  return true;
}

/**
 * Reads the indentation of a logical line, and adds an `indent` or `dedent` token if it changed. Skips a blank line,
 * and then returns false.
 */
function startLine(lexer: Lexer): boolean {
  BLANK.lastIndex = lexer.at;
  if (BLANK.test(lexer.text) && BLANK.lastIndex > lexer.at) {
    lexer.at = BLANK.lastIndex;
    lexer.line++;
    return false;
  }
  const start = lexer.at;
  skip(lexer, INDENT);
  let width = 0;
  for (const character of lexer.text.slice(start, lexer.at)) width = character === "\t" ? (width | 7) + 1 : width + 1;
  const { indents, line } = lexer;
  if (width > (indents.at(-1) as number)) {
    indents.push(width);
    push(lexer, { kind: "indent", line });
  }
  while (width < (indents.at(-1) as number)) {
    indents.pop();
    push(lexer, { kind: "dedent", line });
  }
  return true;
}

function skip(lexer: Lexer, run: RegExp): void {
  run.lastIndex = lexer.at;
  if (!run.test(lexer.text)) return;
  for (let at = lexer.at; at < run.lastIndex; at++) if (lexer.text[at] === "\n") lexer.line++;
  lexer.at = run.lastIndex;
}

function match(lexer: Lexer, expression: RegExp): string | undefined {
  expression.lastIndex = lexer.at;
  return expression.exec(lexer.text)?.[0];
}

function readToken(lexer: Lexer): void {
  const { line } = lexer;
  if (readString(lexer)) return;
  const name = match(lexer, NAME);
  if (name !== undefined) return take(lexer, name, { kind: "name", text: name, line });
  const number = match(lexer, NUMBER);
  if (number !== undefined) return take(lexer, number, numberToken(number, line));
  const operator = match(lexer, OPERATOR);
  if (operator === undefined) {
    const strange = lexer.text[lexer.at] as string;
    return take(lexer, strange, { kind: "unread", reason: `${JSON.stringify(strange)} is no Python`, line });
  }
  if ("([{".includes(operator)) lexer.depth++;
  if (")]}".includes(operator)) lexer.depth = Math.max(0, lexer.depth - 1);
  take(lexer, operator, { kind: "operator", text: operator, line });
}

function take(lexer: Lexer, text: string, token: Token): void {
  lexer.at += text.length;
  lexer.tokens.push(token);
}

function numberToken(text: string, line: number): Token {
  const digits = text.replaceAll("_", "");
  if (/j$/i.test(digits)) return { kind: "unread", reason: "a complex number", line };
  if (/^0[xob]/i.test(digits) || /^\d+$/.test(digits)) {
    if (digits.length > DIGITS_MAX) return { kind: "unread", reason: `an int of more than ${DIGITS_MAX} digits`, line };
    if (/^0+[1-9]/.test(digits)) return { kind: "unread", reason: "an int that starts with 0", line };
    return { kind: "int", value: BigInt(digits), line };
  }
  return { kind: "float", value: Number(digits), line };
}

const STRING_START = /([rRbBuUfFtT]{0,2})("""|'''|"|')/y;

/** Reads a string literal with its prefix. Returns false if there is none. */
function readString(lexer: Lexer): boolean {
  STRING_START.lastIndex = lexer.at;
  const found = STRING_START.exec(lexer.text);
  if (found === null) return false;
  const { line } = lexer;
  const [whole, prefix = "", quote = ""] = found as readonly string[] as readonly [string, string, string];
  const start = lexer.at + whole.length;
  const end = closing(lexer.text, start, quote);
  const body = lexer.text.slice(start, end ?? lexer.text.length);
  lexer.at = end === undefined ? lexer.text.length : end + quote.length;
  for (const character of body) if (character === "\n") lexer.line++;
  lexer.tokens.push(end === undefined ? unread("a string that is not closed", line) : stringToken(prefix, body, line));
  return true;
}

/** Returns the index of the quote that closes a string. Undefined if the string is never closed. */
function closing(text: string, start: number, quote: string): number | undefined {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quote, at)) return at;
    else if (text[at] === "\n" && quote.length === 1) return undefined;
  }
  return undefined;
}

function unread(reason: string, line: number): Token {
  return { kind: "unread", reason, line };
}

function stringToken(prefix: string, body: string, line: number): Token {
  const marks = prefix.toLowerCase();
  if (marks.includes("f") || marks.includes("t")) return unread("an f-string", line);
  const isBytes = marks.includes("b");
  const value = marks.includes("r") ? body : unescaped(body, isBytes);
  if (value === undefined) return unread("an escape that is not supported", line);
  return { kind: isBytes ? "bytes" : "string", value, line };
}

const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(N\{)|([^]))/gu;

/**
 * Returns a string's value, with escapes resolved. Returns undefined for an invalid escape, a named character (\N{…}),
 * or a code point that does not exist.
 */
function unescaped(body: string, isBytes: boolean): string | undefined {
  let fails = false;
  const value = body.replace(ESCAPE, (all: string, ...groups: readonly (string | undefined)[]) => {
    const [octal, hex, short, long, named, other] = groups;
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (other !== undefined) {
      if (!Object.hasOwn(SIMPLE, other) && "xuU".includes(other)) fails ||= !isBytes || other === "x";
      return Object.hasOwn(SIMPLE, other) ? (SIMPLE[other] as string) : all;
    }
    if (isBytes) return all;
    const code = parseInt(short ?? long ?? "", 16);
    fails ||= named !== undefined || code > 0x10ffff;
    return fails ? "" : String.fromCodePoint(code);
  });
  return fails ? undefined : value;
}
