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
      readonly space: boolean;
    }
  | { readonly kind: "name" | "function" | "word" | "op"; readonly text: string; readonly space: boolean };

/** What a comma and an "e" between digits mean. */
export interface Style {
  readonly comma: "separator" | "thousands" | "decimal";
  /** Whether "2e-3" is 0.002. */
  readonly exponent: boolean;
}

/** Tokens as they are made. */
export interface Sink {
  readonly tokens: Token[];
  /** Whether white space came before the next one. */
  space: boolean;
  problem: string | undefined;
}

export function put(sink: Sink, kind: "name" | "function" | "word" | "op", text: string): void {
  sink.tokens.push({ kind, text, space: sink.space });
  sink.space = false;
}
