/** Tokens of an answer, and what is between digits. */
import type { Rational } from "../numbers/rational.ts";

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
