/** Where a parser stands in its tokens, and what went wrong first. */
import type { Node } from "../syntax.ts";
import type { Token } from "./tokens.ts";

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
