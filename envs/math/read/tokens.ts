/** Defines the lexer's tokens, and the parser's cursor with its basic operations. */
import type { Rational } from "../numbers/rational.ts";
import type { Node } from "../syntax.ts";

// Types of the tokens that the lexer makes of an answer, and of the lexer's state.

export type Token =
  | {
      readonly kind: "number";
      readonly value: Rational;
      readonly decimals?: number;
      readonly goesOn?: true;
      /** The digits as written. Unset if the number is not just digits, e.g. if it has a decimal point. */
      readonly digits?: string;
      /** Base of a number with letters as digits, such as 2A_{16}. */
      readonly base?: number;
      readonly space: boolean;
      readonly gap?: true;
    }
  | {
      readonly kind: "name" | "function" | "word" | "op";
      readonly text: string;
      /** For a letter, the unbroken run of letters that it is part of. The run may be an unknown word. */
      readonly run?: string;
      readonly space: boolean;
      /** Set if the token begins something new: after a new line, \quad, or at the start of another formula. */
      readonly gap?: true;
    };

/** Settings for reading ambiguous text: a comma between digits, an "e" between digits, and letters before a base. */
export interface Style {
  readonly comma: "separator" | "thousands" | "decimal";
  /** Whether "2e-3" means 0.002. */
  readonly exponent: boolean;
  /** Whether letters in front of a subscript are digits of a number in that base. Then 2A_{16} is 42. */
  readonly bases: boolean;
}

/** The state of the lexer. */
export interface Sink {
  readonly tokens: Token[];
  /** Whether white space came before the next token. */
  space: boolean;
  /**
   * Break before the next token: a new line, after which "+ 1" may continue a sum, or the dollar signs between two
   * formulas, after which it may not.
   */
  gap: "none" | "line" | "formula";
  /** Nesting depth of the groups in braces that are being read. */
  depth: number;
  /** Names of open environments of equations, the innermost last. */
  readonly environments: string[];
  /** Number of dollar signs since the last token. The second one opens another formula. */
  dollars: number;
  problem: string | undefined;
}

type Bare<T> = T extends Token ? Omit<T, "space" | "gap"> : never;

/** Adds a token, and records the white space and the break before it. */
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

// Functions by which the parser moves over the tokens of an answer.

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

/**
 * Position and state of the parser, changed in place. An error moves the position to the end of the tokens, so that
 * every loop ends.
 */
export interface Cursor {
  readonly grammar: Grammar;
  readonly tokens: Token[];
  at: number;
  depth: number;
  /**
   * Number of calls of grammar rules so far. It is limited, because the parser may read a passage again if its first
   * attempt fails.
   */
  reads: number;
  /** Number of open bars of absolute values, such as | in |x + |y||. */
  bars: number;
  /** Whether a bracket is open that "[" would close, as in the French interval "]1,2[". */
  turned: boolean;
  /** Whether the parser is inside the braces of a set, where a colon means "such that". */
  inSet: boolean;
  problem: string | undefined;
}

const DEPTH_MAX = 160;
/**
 * Maximum number of calls of grammar rules. An answer of the allowed length exceeds it only if passages are read twice
 * on many levels.
 */
const READS_MAX = 10_000;

export const NOTHING: Node = { kind: "text", text: "" };

export function peek(cursor: Cursor, ahead = 0): Token | undefined {
  return cursor.tokens[cursor.at + ahead];
}

/** Returns whether the token that is `ahead` tokens after the cursor is this operator. */
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

/** Records an error text, unless there already is one, and moves the cursor to the end of the tokens. */
export function fail(cursor: Cursor, problem: string): Node {
  cursor.problem ??= problem;
  cursor.at = cursor.tokens.length;
  return NOTHING;
}

/**
 * Calls a grammar rule from within another one. Records an error if the nesting is too deep, or if there were too many
 * calls.
 */
export function nested(cursor: Cursor, read: Read): Node {
  if (++cursor.depth > DEPTH_MAX) return fail(cursor, "it is nested too deep");
  if (++cursor.reads > READS_MAX) return fail(cursor, "it takes too many steps to read");
  const node = read(cursor);
  cursor.depth--;
  return node;
}
