/** Parses and verifies answers to countdown tasks. Returns facts only, computed exactly. */
import type { Facts, Parsed } from "../facts.ts";
import {
  advance,
  binary,
  type CountdownAnswer,
  evaluate,
  type Expression,
  firstUnreadable,
  LENGTH_MAX,
  type Lexer,
  literal,
  operands,
  shown,
  type TokenKind,
} from "./expression.ts";
import type { CountdownInstance } from "./instance.ts";
import { equalsInteger, showRational } from "../lib/rational.ts";

const TIMES = ["never", "once", "twice", "three times", "four times", "five times", "six times"];

/**
 * Verifies an answer. An answer is feasible exactly if all of these conditions hold; otherwise the facts name the first
 * that fails.
 * - Each number is used exactly once.
 * - Nothing is divided by zero.
 * - The value is the target.
 * - An equation claims no other value.
 *
 * `info.value` is the exact value.
 */
export function verify(instance: CountdownInstance, answer: CountdownAnswer): Facts {
  const value = evaluate(answer.expression);
  const info = value && { value: showRational(value) };
  const violation = wrongNumbers(instance.numbers, operands(answer.expression)) ?? wrongValue();
  if (violation !== undefined)
    return info ? { kind: "infeasible", violation, info } : { kind: "infeasible", violation };
  return info ? { kind: "feasible", info } : { kind: "feasible" };

  function wrongValue(): string | undefined {
    if (value === undefined) return "divides by zero";
    if (!equalsInteger(value, instance.target)) return `evaluates to ${showRational(value)}, not ${instance.target}`;
    const { claimed } = answer;
    if (claimed !== undefined && claimed !== instance.target) {
      return `claims to be ${claimed}, but evaluates to ${instance.target}`;
    }
    return undefined;
  }
}

/**
 * Returns whether both lists contain the same numbers equally often. Checks this fast, because almost all answers pass.
 */
function sameNumbers(given: readonly number[], used: readonly number[]): boolean {
  if (given.length !== used.length) return false;
  for (let i = 0; i < used.length; i++) {
    const number = used[i] as number;
    if (occurrences(used, number) !== occurrences(given, number)) return false;
  }
  return true;
}

/**
 * Returns an error text about the first number in written order that is used too often or not given. Otherwise reports
 * the first number that is used too rarely.
 */
function wrongNumbers(given: readonly number[], used: readonly number[]): string | undefined {
  if (sameNumbers(given, used)) return undefined;
  for (const number of used) {
    const uses = occurrences(used, number);
    const gifts = occurrences(given, number);
    if (gifts === 0) return `uses ${number}, which is not given`;
    if (uses > gifts) return `uses ${number} ${times(uses)} but it is given ${times(gifts)}`;
  }
  for (const number of given) {
    const uses = occurrences(used, number);
    const gifts = occurrences(given, number);
    if (uses === 0) return `does not use ${number}`;
    if (uses < gifts) return `uses ${number} ${times(uses)} but it is given ${times(gifts)}`;
  }
  return undefined;
}

/**
 * Returns how often a list contains a number. Uses a plain loop, because this runs for every answer, and an iterator
 * costs more than the comparison.
 */
function occurrences(numbers: readonly number[], wanted: number): number {
  let count = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] === wanted) count++;
  return count;
}

function times(count: number): string {
  return TIMES[count] ?? "more than six times";
}

// Parser from answer text to an expression tree, by recursive descent. Nothing is evaluated here, and no text reaches
// an interpreter. Parsing takes time linear in the text's length. Nesting and size are limited, so that no text
// exhausts the stack.
//
// answer     = side [ "=" value ] | value "=" side
// value      = [ "-" ] number [ "." zeros ]
// side       = [ "-" ] expression, which starts with a number where the minus stands
// expression = term { ( "+" | "-" ) term }
// term       = factor { ( "*" | "/" ) factor }
// factor     = number | "(" expression ")" | "[" expression "]" | "\frac" "{" expression "}" "{" expression "}"
//
// A minus at the start belongs to the first number. No other sign may stand before a number or a parenthesis. There
// is no implicit product, no power and no decimal point. See README.md.

const OPERANDS_MAX = 64;
const DEPTH_MAX = 64;

/** Lexer of the answer, with the counts and state of the parser. */
interface Reader extends Lexer {
  operands: number;
  depth: number;
  /** True if a minus stands before the next number. */
  negative: boolean;
  /** First error. Once it is set, every reading function below returns undefined. */
  problem: string | undefined;
}

export function parse(answerText: string): Parsed<CountdownAnswer> {
  const text = withoutZeros(answerText.trim());
  if (text === "") return { kind: "malformed", reason: "the answer is empty" };
  if (text.length > LENGTH_MAX) return { kind: "malformed", reason: `longer than ${LENGTH_MAX} characters` };
  const reader: Reader = {
    text,
    kind: "end",
    at: 0,
    past: 0,
    value: 0,
    unreadable: undefined,
    operands: 0,
    depth: 0,
    negative: false,
    problem: undefined,
  };
  advance(reader);
  const answer = readAnswer(reader);
  if (answer !== undefined) return { kind: "answer", answer };
  // Report an unreadable character before a misplaced token.
  return { kind: "malformed", reason: firstUnreadable(reader) ?? reader.problem ?? "not an expression" };
}

/** Strips a decimal part of zeros from the value that an equation claims: "… = 24.0". */
function withoutZeros(text: string): string {
  return text.includes(".0") ? text.replace(CLAIMED_FIRST, "$1").replace(CLAIMED_LAST, "$1") : text;
}

const CLAIMED_FIRST = /^([-−]?\d{1,9})\.0{1,9}(?=\s{0,8}=)/;
const CLAIMED_LAST = /(=\s{0,8}[-−]?\d{1,9})\.0{1,9}$/;

function readAnswer(reader: Reader): CountdownAnswer | undefined {
  const left = readSide(reader);
  if (left === undefined) return undefined;
  if (!takes(reader, "=")) return expects(reader, "end", "an operator") ? { expression: left } : undefined;
  const right = readSide(reader);
  if (right === undefined || !expects(reader, "end", "nothing after the equation")) return undefined;
  if (right.kind === "number") return { expression: left, claimed: right.value };
  if (left.kind === "number") return { expression: right, claimed: left.value };
  return stop(reader, "expected a whole number on one side of '='");
}

/** Reads a side of an equation, or the whole answer. Only here may a minus come first. */
function readSide(reader: Reader): Expression | undefined {
  if (takes(reader, "-")) {
    if (reader.kind !== "number") return fail(reader, "a number after the first minus");
    reader.negative = reader.value !== 0;
  }
  return readExpression(reader);
}

function readExpression(reader: Reader): Expression | undefined {
  return readChain(reader, "+", "-", readTerm);
}

function readTerm(reader: Reader): Expression | undefined {
  return readChain(reader, "*", "/", readFactor);
}

/** Reads operands joined by either of two operators, from left to right. */
function readChain(
  reader: Reader,
  one: "+" | "*",
  other: "-" | "/",
  readOperand: (reader: Reader) => Expression | undefined,
): Expression | undefined {
  let left = readOperand(reader);
  while (left !== undefined) {
    const operator = reader.kind;
    if (operator !== one && operator !== other) return left;
    advance(reader);
    const right = readOperand(reader);
    left = right && binary(operator, left, right);
  }
  return undefined;
}

function readFactor(reader: Reader): Expression | undefined {
  const { kind } = reader;
  if (kind === "number") {
    if (++reader.operands > OPERANDS_MAX) return stop(reader, `more than ${OPERANDS_MAX} numbers`);
    const value = reader.negative ? -reader.value : reader.value;
    reader.negative = false;
    advance(reader);
    return literal(value);
  }
  if (kind !== "(" && kind !== "[" && kind !== "frac") return fail(reader, "a number or '('");
  if (++reader.depth > DEPTH_MAX) return stop(reader, `parentheses nested more than ${DEPTH_MAX} deep`);
  const inner = kind === "frac" ? readFraction(reader) : readEnclosed(reader, kind, CLOSING[kind]);
  reader.depth--;
  return inner;
}

const CLOSING = { "(": ")", "[": "]", "{": "}" } as const;

function readEnclosed(reader: Reader, open: "(" | "[" | "{", close: ")" | "]" | "}"): Expression | undefined {
  if (!expects(reader, open, `'${open}'`)) return undefined;
  const inner = readExpression(reader);
  return inner !== undefined && expects(reader, close, `an operator or '${close}'`) ? inner : undefined;
}

function readFraction(reader: Reader): Expression | undefined {
  advance(reader);
  const above = readEnclosed(reader, "{", "}");
  const below = above && readEnclosed(reader, "{", "}");
  return above && below && binary("/", above, below);
}

function takes(reader: Reader, kind: TokenKind): boolean {
  if (reader.kind !== kind) return false;
  advance(reader);
  return true;
}

function expects(reader: Reader, kind: TokenKind, wanted: string): boolean {
  if (takes(reader, kind)) return true;
  fail(reader, wanted);
  return false;
}

function fail(reader: Reader, wanted: string): undefined {
  const { text, at, kind } = reader;
  const found = kind === "end" ? "the end" : `${shown(text, at)} at character ${at + 1}`;
  return stop(reader, `expected ${wanted}, found ${found}`);
}

function stop(reader: Reader, problem: string): undefined {
  reader.problem ??= problem;
  return undefined;
}
