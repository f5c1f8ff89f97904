/** Arithmetic expressions as trees: building, evaluating exactly, writing. */
import { assertNever } from "../lib/assert-never.ts";
import { narrow, skipGap } from "../lib/text.ts";
import { add, divide, fromInteger, multiply, type Rational, subtract } from "../lib/rational.ts";

export type Operator = "+" | "-" | "*" | "/";

export type Expression =
  /** Below 0 only for the first number written, where a minus stands before it: "-19 + 59". */
  | { readonly kind: "number"; readonly value: number }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** What a model answers: an expression, and the value that it claims if it wrote an equation ("… = 24", "24 = …"). */
export interface CountdownAnswer {
  readonly expression: Expression;
  readonly claimed?: number;
}

export function literal(value: number): Expression {
  return { kind: "number", value };
}

export function binary(operator: Operator, left: Expression, right: Expression): Expression {
  return { kind: "binary", operator, left, right };
}

/** Its numbers, in the order they are written, without a sign. */
export function operands(expression: Expression): readonly number[] {
  const found: number[] = [];
  collect(expression, found);
  return found;
}

function collect(expression: Expression, found: number[]): void {
  if (expression.kind === "number") {
    found.push(Math.abs(expression.value));
    return;
  }
  collect(expression.left, found);
  collect(expression.right, found);
}

/** The exact value; undefined where something is divided by zero. */
export function evaluate(expression: Expression): Rational | undefined {
  if (expression.kind === "number") return fromInteger(expression.value);
  const left = evaluate(expression.left);
  const right = evaluate(expression.right);
  if (left === undefined || right === undefined) return undefined;
  switch (expression.operator) {
    case "+":
      return add(left, right);
    case "-":
      return subtract(left, right);
    case "*":
      return multiply(left, right);
    case "/":
      return divide(left, right);
    default:
      return assertNever(expression.operator);
  }
}

/** The expression with as few parentheses as bring back the same tree when parsed. */
export function formatExpression(expression: Expression): string {
  if (expression.kind === "number") return `${expression.value}`;
  const { operator, left, right } = expression;
  const outer = precedence(expression);
  return `${wrapped(left, precedence(left) < outer)} ${operator} ${wrapped(right, precedence(right) <= outer)}`;
}

export function formatAnswer(answer: CountdownAnswer): string {
  const text = formatExpression(answer.expression);
  return answer.claimed === undefined ? text : `${text} = ${answer.claimed}`;
}

function wrapped(expression: Expression, parentheses: boolean): string {
  const text = formatExpression(expression);
  return parentheses ? `(${text})` : text;
}

function precedence(expression: Expression): number {
  if (expression.kind === "number") return 3;
  return expression.operator === "+" || expression.operator === "-" ? 1 : 2;
}

// Answer text to tokens, in one pass.

type Mark = "(" | ")" | "[" | "]" | "{" | "}" | "=";

export type Token =
  | { readonly kind: "number"; readonly value: number; readonly at: number }
  | { readonly kind: "operator"; readonly operator: Operator; readonly at: number }
  | { readonly kind: Mark | "frac" | "end"; readonly at: number };

export type Tokens =
  | { readonly kind: "tokens"; readonly tokens: readonly Token[] }
  | { readonly kind: "malformed"; readonly reason: string };

/** The longest expression allowed, 64 numbers of 9 digits, takes 764 characters as `format` writes it. */
export const LENGTH_MAX = 2048;
const DIGITS_MAX = 9;
const ZERO = 48;

/** Full-width forms are read as the ASCII characters that they stand for. */
const MEANINGS: ReadonlyMap<string, Operator | Mark> = new Map([
  ["+", "+"],
  ["-", "-"],
  // Hyphens, figure and en dash, minus sign.
  ["\u2010", "-"],
  ["\u2011", "-"],
  ["\u2012", "-"],
  ["–", "-"],
  ["−", "-"],
  ["*", "*"],
  ["×", "*"],
  ["·", "*"],
  ["⋅", "*"],
  ["∗", "*"],
  ["/", "/"],
  ["÷", "/"],
  ["∕", "/"],
  ["⁄", "/"],
  ["(", "("],
  [")", ")"],
  ["[", "["],
  ["]", "]"],
  ["{", "{"],
  ["}", "}"],
  ["=", "="],
] as const);

/** LaTeX that models write inside \boxed{}, and the plain token that each stands for. */
const LATEX = [
  ["\\times", "*"],
  ["\\cdot", "*"],
  ["\\ast", "*"],
  ["\\div", "/"],
  ["\\left(", "("],
  ["\\right)", ")"],
  ["\\left[", "["],
  ["\\right]", "]"],
  ["\\frac", "frac"],
  ["\\dfrac", "frac"],
  ["\\tfrac", "frac"],
] as const;

/** Reads the text, already trimmed; the tokens end with one of kind "end". */
export function tokenize(text: string): Tokens {
  if (text.length > LENGTH_MAX) return malformed(`longer than ${LENGTH_MAX} characters`);
  const tokens: Token[] = [];
  for (let at = skipGap(text, 0); at < text.length;) {
    const past = isDigit(text, at) ? readNumber(text, at, tokens) : readMark(text, at, tokens);
    if (typeof past === "string") return malformed(past);
    at = skipGap(text, past);
  }
  tokens.push({ kind: "end", at: text.length });
  return { kind: "tokens", tokens };
}

/** Adds the number that starts at an offset, and gives the offset past it, or what is wrong with it. */
function readNumber(text: string, at: number, tokens: Token[]): number | string {
  let end = at;
  let value = 0;
  for (; isDigit(text, end); end++) value = value * 10 + narrow(text.charCodeAt(end)) - ZERO;
  const length = end - at;
  if (length > DIGITS_MAX) return `a number of ${length} digits at character ${at + 1}; at most ${DIGITS_MAX} are read`;
  if (length > 1 && narrow(text.charCodeAt(at)) === ZERO) return `a number with a leading zero at character ${at + 1}`;
  tokens.push({ kind: "number", value, at });
  return end;
}

/** The same for anything else. */
function readMark(text: string, at: number, tokens: Token[]): number | string {
  const char = String.fromCharCode(narrow(text.charCodeAt(at)));
  const meaning = MEANINGS.get(char);
  if (meaning !== undefined) {
    tokens.push(tokenOf(meaning, at));
    return at + 1;
  }
  const word = char === "\\" ? LATEX.find(([latex]) => text.startsWith(latex, at)) : undefined;
  if (word === undefined) return `${shown(text, at)} at character ${at + 1} is not part of an arithmetic expression`;
  tokens.push(tokenOf(word[1], at));
  return at + word[0].length;
}

function tokenOf(meaning: Operator | Mark | "frac", at: number): Token {
  switch (meaning) {
    case "+":
    case "-":
    case "*":
    case "/":
      return { kind: "operator", operator: meaning, at };
    default:
      return { kind: meaning, at };
  }
}

/** The character there, quoted and escaped as in JSON: control characters and lone surrogates come out as text. */
export function shown(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function malformed(reason: string): Tokens {
  return { kind: "malformed", reason };
}

function isDigit(text: string, at: number): boolean {
  const digit = narrow(text.charCodeAt(at)) - ZERO;
  return digit >= 0 && digit <= 9;
}
