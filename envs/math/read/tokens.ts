/** Defines tokens, and the cursor of the parser with its basic operations. */
import type { Rational } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";

// Tokens.

export type Token =
  | {
      readonly kind: "number";
      readonly value: Rational;
      readonly decimals?: number;
      readonly goesOn?: true;
      /** The digits as written, if the number is digits alone. */
      readonly digits?: string;
      /** The base of a number such as 2A_{16}. */
      readonly base?: number;
      readonly space: boolean;
      readonly gap?: true;
    }
  | {
      readonly kind: "name" | "function" | "word" | "op";
      readonly text: string;
      /** For a letter, the run of letters around it, which may be an unknown word. */
      readonly run?: string;
      readonly space: boolean;
      /**
       * Set if a gap stands before the token, so that it begins something new: a new line, \quad, or another formula.
       */
      readonly gap?: true;
    };

/** The meaning of a comma and of an "e" between digits. */
export interface Style {
  readonly comma: "separator" | "thousands" | "decimal";
  /** Whether "2e-3" is 0.002. */
  readonly exponent: boolean;
  /** Whether letters before a base are digits: 2A_{16} is 42. */
  readonly bases: boolean;
}

/** The state of the lexer. */
export interface Sink {
  readonly tokens: Token[];
  /** Whether white space came before the next token. */
  space: boolean;
  /** The gap before the next token. Behind "line" a sum may continue with its sign; behind "formula" it may not. */
  gap: "none" | "line" | "formula";
  /** Number of open groups of commands. */
  depth: number;
  /** Open environments of equations, the innermost last. */
  readonly environments: string[];
  /** Dollar signs since the last token. The second one opens another formula. */
  dollars: number;
  problem: string | undefined;
}

type Bare<T> = T extends Token ? Omit<T, "space" | "gap"> : never;

/** Adds a token with the space and the gap before it. */
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

// The cursor of the parser.

export type Read = (cursor: Cursor) => Node;

/** The mutually recursive rules of the grammar. Passing them in the cursor avoids circular imports. */
export interface Grammar {
  readonly sum: Read;
  readonly product: Read;
  readonly power: Read;
  readonly primary: Read;
  readonly exponent: Read;
  readonly relation: Read;
  readonly items: (cursor: Cursor) => readonly Node[];
  readonly item: Read;
  /** Reads expressions with unions and differences of sets. */
  readonly sets: Read;
  /** Reads a list with its separators, or a single item. */
  readonly listed: Read;
  readonly startsFactor: (cursor: Cursor) => boolean;
}

/** The position of the parser, changed in place. A problem moves it to the end, so that every loop ends. */
export interface Cursor {
  readonly grammar: Grammar;
  readonly tokens: Token[];
  at: number;
  depth: number;
  /** Number of values read so far. Some are read twice, if the first way to read them fails. */
  reads: number;
  /** Number of open bars of absolute values. */
  bars: number;
  /** Whether a bracket is open that "[" closes, as in "]1,2[". */
  turned: boolean;
  /** Whether a colon means "such that". */
  inSet: boolean;
  problem: string | undefined;
}

const DEPTH_MAX = 160;
/**
 * Maximum number of values read. Answers of the allowed length need more only if they are read twice on many levels.
 */
const READS_MAX = 10_000;

export const NOTHING: Node = { kind: "text", text: "" };

export function peek(cursor: Cursor, ahead = 0): Token | undefined {
  return cursor.tokens[cursor.at + ahead];
}

/** Returns whether the next token is this operator. */
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

/** Records a problem, unless there is one already, and moves to the end. */
export function fail(cursor: Cursor, problem: string): Node {
  cursor.problem ??= problem;
  cursor.at = cursor.tokens.length;
  return NOTHING;
}

/** Reads something nested. Fails if it is nested too deep, or takes too many steps. */
export function nested(cursor: Cursor, read: Read): Node {
  if (++cursor.depth > DEPTH_MAX) return fail(cursor, "it is nested too deep");
  if (++cursor.reads > READS_MAX) return fail(cursor, "it takes too many steps to read");
  const node = read(cursor);
  cursor.depth--;
  return node;
}
