/** Tokens of an answer, and where a parser stands in them. */
import type { Rational } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";

// Tokens of an answer, and what is between digits.

export type Token =
  | {
      readonly kind: "number";
      readonly value: Rational;
      readonly decimals?: number;
      readonly goesOn?: true;
      /** As it was written, where it is digits alone. */
      readonly digits?: string;
      /** The base that a subscript says, as in 2A_{16}. */
      readonly base?: number;
      readonly space: boolean;
      readonly gap?: true;
    }
  | {
      readonly kind: "name" | "function" | "word" | "op";
      readonly text: string;
      /** Of a letter: the letters that it stands among, which may be a word that is not known. */
      readonly run?: string;
      readonly space: boolean;
      /** Whether so much stands before it that it goes on nothing: a new line, \quad, or another formula's dollars. */
      readonly gap?: true;
    };

/** What a comma and an "e" between digits mean. */
export interface Style {
  readonly comma: "separator" | "thousands" | "decimal";
  /** Whether "2e-3" is 0.002. */
  readonly exponent: boolean;
  /** Whether letters before a base are digits: 2A_{16} is 42. */
  readonly bases: boolean;
}

/** Tokens as they are made. */
export interface Sink {
  readonly tokens: Token[];
  /** Whether white space came before the next one. */
  space: boolean;
  /** What ends a thing: a new line, behind which a sum may go on with its sign, or the end of a formula. */
  gap: "none" | "line" | "formula";
  /** How many groups of commands are open. */
  depth: number;
  /** Environments of equations that are open, the innermost last. */
  readonly environments: string[];
  /** Dollars since the last token: the second one opens another formula. */
  dollars: number;
  problem: string | undefined;
}

type Bare<T> = T extends Token ? Omit<T, "space" | "gap"> : never;

/** Adds a token with what came before it. */
export function push(sink: Sink, token: Bare<Token>): void {
  const goesOn = sink.gap === "line" && token.kind === "op" && "+-±∓".includes(token.text);
  const isApart = sink.gap !== "none" && sink.tokens.length > 0 && !goesOn;
  sink.tokens.push({ ...token, space: sink.space, ...(isApart && { gap: true }) });
  sink.space = false;
  sink.gap = "none";
  sink.dollars = 0;
}

export function put(sink: Sink, kind: "name" | "function" | "word" | "op", text: string): void {
  push(sink, { kind, text });
}

// Where a parser stands in its tokens, and what went wrong first.

export type Read = (cursor: Cursor) => Node;

/** The parts of the grammar that contain each other, so that no file of it imports one that imports it. */
export interface Grammar {
  readonly sum: Read;
  readonly product: Read;
  readonly power: Read;
  readonly primary: Read;
  readonly exponent: Read;
  readonly relation: Read;
  readonly items: (cursor: Cursor) => readonly Node[];
  readonly item: Read;
  /** With unions and differences. */
  readonly sets: Read;
  /** Items with what joins them, or the only one. */
  readonly listed: Read;
  readonly startsFactor: (cursor: Cursor) => boolean;
}

/** Changed in place by the functions of the parser. A problem moves it to the end, so that every loop ends. */
export interface Cursor {
  readonly grammar: Grammar;
  readonly tokens: Token[];
  at: number;
  depth: number;
  /** Values read so far: some are read twice, where the first way to read them is none. */
  reads: number;
  /** Open bars of absolute values. */
  bars: number;
  /** Whether a bracket is open that "[" closes, as in "]1,2[". */
  turned: boolean;
  /** Whether a colon says "such that". */
  inSet: boolean;
  problem: string | undefined;
}

const DEPTH_MAX = 160;
/** More than an answer of this length needs, unless reading twice goes through many levels. */
const READS_MAX = 10_000;

export const NOTHING: Node = { kind: "text", text: "" };

export function peek(cursor: Cursor, ahead = 0): Token | undefined {
  return cursor.tokens[cursor.at + ahead];
}

/** Whether the next token is this operator. */
export function isAt(cursor: Cursor, text: string, ahead = 0): boolean {
  const token = peek(cursor, ahead);
  return token?.kind === "op" && token.text === text;
}

export function accept(cursor: Cursor, text: string): boolean {
  if (!isAt(cursor, text)) return false;
  cursor.at++;
  return true;
}

export function expect(cursor: Cursor, text: string): void {
  if (!accept(cursor, text)) fail(cursor, `expected "${text}"${found(cursor)}`);
}

export function found(cursor: Cursor): string {
  const token = peek(cursor);
  return token === undefined ? " at the end" : `, found "${textOf(token)}"`;
}

export function textOf(token: Token): string {
  return token.kind === "number"
    ? (token.digits ?? `${token.value.num}/${token.value.den}`).slice(0, 40)
    : token.text.slice(0, 40);
}

/** Keeps the first problem, and goes to the end. */
export function fail(cursor: Cursor, problem: string): Node {
  cursor.problem ??= problem;
  cursor.at = cursor.tokens.length;
  return NOTHING;
}

/** Reads something nested, unless it is nested too deep. */
export function nested(cursor: Cursor, read: Read): Node {
  if (++cursor.depth > DEPTH_MAX) return fail(cursor, "it is nested too deep");
  if (++cursor.reads > READS_MAX) return fail(cursor, "it takes too many steps to read");
  const node = read(cursor);
  cursor.depth--;
  return node;
}
