/**
 * Represents arithmetic expressions as trees: builds, evaluates exactly and formats them. Also splits an answer's text
 * into tokens for verify.ts.
 */
import { assertNever } from "../lib/assert-never.ts";
import { narrow, skipGap } from "../lib/text.ts";
import { add, divide, fromInteger, multiply, type Rational, subtract } from "../lib/rational.ts";

export type Operator = "+" | "-" | "*" | "/";

export type Expression =
  /** A number. It is negative only if it is the first one written, with a minus before it: "-19 + 59". */
  | { readonly kind: "number"; readonly value: number }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

/**
 * Answer of a model: an expression. If the model wrote an equation ("… = 24", "24 = …"), also the value that it claims.
 */
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

/** Returns the numbers of the expression in written order, without signs. */
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

/** Returns the exact value, or undefined for a division by zero. */
export function evaluate(expression: Expression): Rational | undefined {
  if (expression.kind === "number") return fromInteger(expression.value);
  const left = evaluate(expression.left);
  const right = evaluate(expression.right);
  return combined(expression.operator, left, right);
}

/** Returns the exact value of an operation. Returns undefined if an operand has no value, or for a division by zero. */
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

/** Formats the expression with the fewest parentheses that parse back to the same tree. */
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

// The lexer runs for every completion. To save time, it reads one token at a time and creates no object for it.

type Mark = "(" | ")" | "[" | "]" | "{" | "}" | "=";

export type TokenKind = Operator | Mark | "number" | "frac" | "end" | "unreadable";

/** Text of an answer, and the next token in it. */
export interface Lexer {
  readonly text: string;
  kind: TokenKind;
  /** Offset of the token's start in the text, in UTF-16 units. */
  at: number;
  /** Offset of the token's end in the text, in UTF-16 units. */
  past: number;
  value: number;
  /** Reason why the token cannot be read, if its kind is "unreadable". */
  unreadable: string | undefined;
}

/**
 * Maximum length of an answer, in UTF-16 units. The longest expression allowed, 64 numbers of 9 digits, takes 764 as
 * `format` writes it.
 */
export const LENGTH_MAX = 2048;
const DIGITS_MAX = 9;
const ZERO = 48;

/**
 * Operator, bracket or equals sign that each character stands for. Full-width forms are mapped to ASCII before the
 * look-up.
 */
const MEANINGS = new Map<string, Operator | Mark>([
  ...signsOf("+", "+"),
  // Hyphens, figure dash, en dash, minus sign.
  ...signsOf("-", "-\u2010\u2011\u2012–−"),
  // Dots, bullets and crosses.
  ...signsOf("*", "*×·⋅∗∙•✕✖⨯⨉╳xX"),
  ...signsOf("/", "/÷∕⁄"),
  ...(["(", ")", "[", "]", "{", "}", "="] as const).map((sign) => [sign, sign] as const),
]);

function signsOf(meaning: Operator, signs: string): readonly (readonly [string, Operator])[] {
  return Array.from(signs, (sign) => [sign, meaning] as const);
}

/** LaTeX commands that models write inside \boxed{}, and the plain token of each. */
const LATEX = [
  // Markdown escape of an asterisk.
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

/** Moves to the next token. After the last token, the kind is always "end". */
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

/**
 * Returns whether a UTF-16 unit is ASCII, but not white space or a backslash. No space between tokens, such as LaTeX's
 * "\,", starts with such a unit.
 */
function isPlain(unit: number): boolean {
  return unit > 32 && unit < 0x80 && unit !== 92;
}

/** Returns the problem of the first unreadable token, from the current one on, or undefined if there is none. */
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
  // The x of "0x10" is not a multiplication sign.
  const meaning = HEXADECIMAL.test(text.slice(Math.max(0, at - 2), at + 1)) ? undefined : MEANINGS.get(char);
  if (meaning !== undefined) {
    lexer.kind = meaning;
    // Skip the variation selector of "✖️".
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

/**
 * Returns the character at an index, quoted and escaped as in JSON, so that control characters and lone surrogates are
 * visible.
 */
export function shown(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function isDigit(unit: number): boolean {
  const digit = narrow(unit) - ZERO;
  return digit >= 0 && digit <= 9;
}
