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
  return combined(expression.operator, left, right);
}

/** The exact value of an operation; undefined where one of its parts has none, or it divides by zero. */
export function combined(
  operator: Operator,
  left: Rational | undefined,
  right: Rational | undefined,
): Rational | undefined {
  if (left === undefined || right === undefined) return undefined;
  switch (operator) {
    case "+":
      return add(left, right);
    case "-":
      return subtract(left, right);
    case "*":
      return multiply(left, right);
    case "/":
      return divide(left, right);
    default:
      return assertNever(operator);
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

// Answer text to tokens, one at a time and without an object for each: this runs for every completion.

type Mark = "(" | ")" | "[" | "]" | "{" | "}" | "=";

export type TokenKind = Operator | Mark | "number" | "frac" | "end" | "unreadable";

/** An answer's text with the token that comes next. */
export interface Lexer {
  readonly text: string;
  kind: TokenKind;
  /** Where it starts, and the offset past it. */
  at: number;
  past: number;
  /** Of a number. */
  value: number;
  /** Of what is unreadable: what is wrong with it. */
  unreadable: string | undefined;
}

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
  // Bullets and crosses.
  ["∙", "*"],
  ["•", "*"],
  ["✕", "*"],
  ["✖", "*"],
  ["⨯", "*"],
  ["⨉", "*"],
  ["╳", "*"],
  ["x", "*"],
  ["X", "*"],
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
  // As Markdown escapes it.
  ["\\*", "*"],
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

/** Goes on to the next token; behind the last one that is always "end". */
export function advance(lexer: Lexer): void {
  const { text, past } = lexer;
  const at = isPlain(text.charCodeAt(past)) ? past : skipGap(text, past);
  lexer.at = at;
  if (at < text.length) {
    if (isDigit(text.charCodeAt(at))) readNumber(lexer, at);
    else readMark(lexer, at);
    return;
  }
  lexer.kind = "end";
  lexer.past = at;
}

/** ASCII that is neither white space nor a backslash: no gap starts with it. */
function isPlain(unit: number): boolean {
  return unit > 32 && unit < 0x80 && unit !== 92;
}

/** What is wrong with the first unreadable token from the next one on; undefined: there is none. */
export function firstUnreadable(lexer: Lexer): string | undefined {
  while (lexer.kind !== "end" && lexer.kind !== "unreadable") advance(lexer);
  return lexer.unreadable;
}

function readNumber(lexer: Lexer, at: number): void {
  const { text } = lexer;
  let past = at;
  let value = 0;
  for (; isDigit(text.charCodeAt(past)); past++) value = value * 10 + narrow(text.charCodeAt(past)) - ZERO;
  const length = past - at;
  if (length > DIGITS_MAX)
    return refuse(lexer, `a number of ${length} digits at character ${at + 1}; at most ${DIGITS_MAX} are read`);
  if (length > 1 && narrow(text.charCodeAt(at)) === ZERO)
    return refuse(lexer, `a number with a leading zero at character ${at + 1}`);
  lexer.kind = "number";
  lexer.value = value;
  lexer.past = past;
}

function readMark(lexer: Lexer, at: number): void {
  const { text } = lexer;
  const char = String.fromCharCode(narrow(text.charCodeAt(at)));
  // "0x10" has no sign for times.
  const meaning = HEXADECIMAL.test(text.slice(Math.max(0, at - 2), at + 1)) ? undefined : MEANINGS.get(char);
  if (meaning !== undefined) {
    lexer.kind = meaning;
    // "✖️" is shown as a pictogram.
    lexer.past = text[at + 1] === "\ufe0f" ? at + 2 : at + 1;
    return;
  }
  const word = char === "\\" ? LATEX.find(([latex]) => text.startsWith(latex, at)) : undefined;
  if (word === undefined)
    return refuse(lexer, `${shown(text, at)} at character ${at + 1} is not part of an arithmetic expression`);
  lexer.kind = word[1];
  lexer.past = at + word[0].length;
}

const HEXADECIMAL = /(?<![0-9])0x$/i;

function refuse(lexer: Lexer, problem: string): void {
  lexer.kind = "unreadable";
  lexer.unreadable = problem;
}

/** The character there, quoted and escaped as in JSON: control characters and lone surrogates come out as text. */
export function shown(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function isDigit(unit: number): boolean {
  const digit = narrow(unit) - ZERO;
  return digit >= 0 && digit <= 9;
}
