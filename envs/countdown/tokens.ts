/** Answer text to tokens, in one pass. */
import type { Operator } from "./expression.ts";

export type Token =
  | { readonly kind: "number"; readonly value: number; readonly at: number }
  | { readonly kind: "operator"; readonly operator: Operator; readonly at: number }
  | { readonly kind: "(" | ")" | "{" | "}" | "=" | "frac" | "end"; readonly at: number };

export type Tokens =
  | { readonly kind: "tokens"; readonly tokens: readonly Token[] }
  | { readonly kind: "malformed"; readonly reason: string };

/** The longest expression allowed, 64 numbers of 9 digits, takes 764 characters as `format` writes it. */
export const LENGTH_MAX = 2048;
const DIGITS_MAX = 9;
const ZERO = 48;

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["+", "+"],
  ["-", "-"],
  ["−", "-"],
  ["*", "*"],
  ["×", "*"],
  ["·", "*"],
  ["⋅", "*"],
  ["∗", "*"],
  ["/", "/"],
  ["÷", "/"],
  ["∕", "/"],
] as const);

/** LaTeX that models write inside \boxed{}, and the plain token that each stands for. */
const LATEX = [
  ["\\times", "*"],
  ["\\cdot", "*"],
  ["\\div", "/"],
  ["\\left(", "("],
  ["\\right)", ")"],
  ["\\frac", "frac"],
  ["\\dfrac", "frac"],
  ["\\tfrac", "frac"],
] as const;

/** Reads the text, already trimmed; the tokens end with one of kind "end". */
export function tokenize(text: string): Tokens {
  if (text.length > LENGTH_MAX) return malformed(`longer than ${LENGTH_MAX} characters`);
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (isSpace(text[at]!)) {
      at++;
      continue;
    }
    const found = isDigit(text[at]) ? readNumber(text, at) : readMark(text, at);
    if (typeof found === "string") return malformed(found);
    tokens.push(found.token);
    at += found.length;
  }
  tokens.push({ kind: "end", at });
  return { kind: "tokens", tokens };
}

interface Read {
  readonly token: Token;
  readonly length: number;
}

function readNumber(text: string, at: number): Read | string {
  let end = at;
  let value = 0;
  for (; isDigit(text[end]); end++) value = value * 10 + text.charCodeAt(end) - ZERO;
  const length = end - at;
  if (length > DIGITS_MAX) return `a number of ${length} digits at character ${at + 1}; at most ${DIGITS_MAX} are read`;
  if (length > 1 && text[at] === "0") return `a number with a leading zero at character ${at + 1}`;
  return { token: { kind: "number", value, at }, length };
}

function readMark(text: string, at: number): Read | string {
  const char = text[at]!;
  const operator = OPERATORS.get(char);
  if (operator !== undefined) return { token: { kind: "operator", operator, at }, length: 1 };
  if (char === "(" || char === ")" || char === "{" || char === "}" || char === "=") {
    return { token: { kind: char, at }, length: 1 };
  }
  const word = LATEX.find(([latex]) => char === "\\" && text.startsWith(latex, at));
  if (word === undefined) return `${shown(text, at)} at character ${at + 1} is not part of an arithmetic expression`;
  const [latex, meaning] = word;
  const token: Token =
    meaning === "*" || meaning === "/" ? { kind: "operator", operator: meaning, at } : { kind: meaning, at };
  return { token, length: latex.length };
}

/** The character there, quoted and escaped as in JSON: control characters and lone surrogates come out as text. */
export function shown(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function malformed(reason: string): Tokens {
  return { kind: "malformed", reason };
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= "0" && char <= "9";
}

function isSpace(char: string): boolean {
  return char === " " || char === "\t" || char === "\n" || char === "\r";
}
