/**
 * The part of Python's grammar that tests are written in (The Python Language Reference, chapters 6 to 8), read into
 * trees by recursive descent. Nothing is run. A statement that is beyond it is one of kind "unread", with its whole block,
 * and the next is read.
 */
import type { PyValue } from "../ports.ts";
import { type Token, tokenize } from "./tokens.ts";
import { pyFloat, pyInt } from "./value.ts";

export type Expression =
  | { readonly kind: "value"; readonly value: PyValue }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "attribute"; readonly of: Expression; readonly name: string }
  | Call
  | { readonly kind: "list" | "tuple" | "set" | "and"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "unary"; readonly operator: string; readonly operand: Expression }
  | Binary;

export interface Call {
  readonly kind: "call";
  readonly callee: Expression;
  readonly args: readonly Expression[];
  readonly kwargs: readonly (readonly [name: string, value: Expression])[];
}

export interface Binary {
  readonly kind: "binary" | "compare";
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Reader {
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
  /** The first thing that could not be read of this statement. */
  problem: string | undefined;
}

const DEPTH_MAX = 64;

export function readerOf(source: string): Reader {
  return { tokens: tokenize(source), next: 0, depth: 0, problem: undefined };
}

/** A whole text that is one expression; undefined: it is not, or one beyond this grammar. */
export function readWhole(source: string): Expression | undefined {
  const reader = readerOf(source.trim());
  const expression = readExpression(reader);
  takes(reader, "newline");
  return expression !== undefined && peek(reader).kind === "end" ? expression : undefined;
}

/** The tokens end with one of kind "end", which nothing takes. */
export function peek(reader: Reader, ahead = 0): Token {
  return reader.tokens[Math.min(reader.next + ahead, reader.tokens.length - 1)] as Token;
}

export function takes(reader: Reader, kind: Token["kind"]): boolean {
  if (peek(reader).kind !== kind) return false;
  reader.next++;
  return true;
}

/** Whether the next token is this operator or keyword. */
export function isWord(reader: Reader, word: string, ahead = 0): boolean {
  const token = peek(reader, ahead);
  return (token.kind === "operator" || token.kind === "name") && token.text === word;
}

export function takesWord(reader: Reader, word: string): boolean {
  if (!isWord(reader, word)) return false;
  reader.next++;
  return true;
}

export function takesName(reader: Reader): string | undefined {
  const token = peek(reader);
  if (token.kind !== "name" || KEYWORDS.has(token.text)) return undefined;
  reader.next++;
  return token.text;
}

export function stop(reader: Reader, problem: string): undefined {
  reader.problem ??= problem;
  return undefined;
}

const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

// expression = conjunction; nothing else binds more loosely: no "or", "if", "lambda" or ":="

/** Up to a comma or whatever else ends it. */
export function readExpression(reader: Reader): Expression | undefined {
  if (++reader.depth > DEPTH_MAX) return stop(reader, `brackets nested more than ${DEPTH_MAX} deep`);
  const first = readNegation(reader);
  const items = first === undefined ? [] : [first];
  while (items.length > 0 && takesWord(reader, "and")) {
    const next = readNegation(reader);
    if (next === undefined) return undefined;
    items.push(next);
  }
  reader.depth--;
  return items.length > 1 ? { kind: "and", items } : items[0];
}

function readNegation(reader: Reader): Expression | undefined {
  let negations = 0;
  while (takesWord(reader, "not")) negations++;
  const compared = readComparison(reader);
  // Twice not is whether it is true, which is not the thing itself.
  if (negations === 0 || compared === undefined) return compared;
  if (negations > 1) return stop(reader, "several 'not' in a row");
  return { kind: "unary", operator: "not", operand: compared };
}

const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">", "in"];

function readComparison(reader: Reader): Expression | undefined {
  const left = readSum(reader);
  const operator = left && takesComparison(reader);
  if (left === undefined || operator === undefined) return left;
  const right = readSum(reader);
  if (right === undefined) return undefined;
  if (takesComparison(reader) !== undefined) return stop(reader, "comparisons in a row");
  return { kind: "compare", operator, left, right };
}

function takesComparison(reader: Reader): string | undefined {
  const known = COMPARISONS.find((operator) => takesWord(reader, operator));
  if (known !== undefined) return known;
  if (takesWord(reader, "is")) return takesWord(reader, "not") ? "is not" : "is";
  if (!isWord(reader, "not") || !isWord(reader, "in", 1)) return undefined;
  reader.next += 2;
  return "not in";
}

function readSum(reader: Reader): Expression | undefined {
  return readChain(reader, ["+", "-"], readProduct);
}

function readProduct(reader: Reader): Expression | undefined {
  return readChain(reader, ["*", "//", "/", "%"], readSigned);
}

function readChain(
  reader: Reader,
  operators: readonly string[],
  readOperand: (reader: Reader) => Expression | undefined,
): Expression | undefined {
  let left = readOperand(reader);
  for (let links = 0; ; links++) {
    if (links > DEPTH_MAX) return stop(reader, `more than ${DEPTH_MAX} operators in a row`);
    const operator = left && operators.find((each) => takesWord(reader, each));
    if (left === undefined || operator === undefined) return left;
    const right = readOperand(reader);
    left = right && { kind: "binary", operator, left, right };
  }
}

function readSigned(reader: Reader): Expression | undefined {
  const sign = ["-", "+"].find((each) => takesWord(reader, each));
  if (sign === undefined) return readPower(reader);
  if (++reader.depth > DEPTH_MAX) return stop(reader, `more than ${DEPTH_MAX} signs`);
  const operand = readSigned(reader);
  reader.depth--;
  return operand && { kind: "unary", operator: sign, operand };
}

function readPower(reader: Reader): Expression | undefined {
  const left = readPrimary(reader);
  if (left === undefined || !takesWord(reader, "**")) return left;
  if (++reader.depth > DEPTH_MAX) return stop(reader, `more than ${DEPTH_MAX} powers`);
  const right = readSigned(reader);
  reader.depth--;
  return right && { kind: "binary", operator: "**", left, right };
}

function readPrimary(reader: Reader): Expression | undefined {
  let expression = readAtom(reader);
  for (let links = 0; expression !== undefined; links++) {
    if (links > DEPTH_MAX) return stop(reader, `more than ${DEPTH_MAX} calls or names in a row`);
    if (takesWord(reader, ".")) {
      const name = takesName(reader);
      if (name === undefined) return stop(reader, "a name is missing after a point");
      expression = { kind: "attribute", of: expression, name };
    } else if (takesWord(reader, "(")) expression = readCall(reader, expression);
    else if (isWord(reader, "[")) return stop(reader, "a part of a value, taken by its index");
    else return expression;
  }
  return undefined;
}

function readCall(reader: Reader, callee: Expression): Expression | undefined {
  const args: Expression[] = [];
  const kwargs: (readonly [string, Expression])[] = [];
  while (!takesWord(reader, ")")) {
    const name = isWord(reader, "=", 1) ? takesName(reader) : undefined;
    if (name !== undefined) reader.next++;
    const value = readExpression(reader);
    if (value === undefined) return undefined;
    if (name !== undefined) kwargs.push([name, value]);
    else if (kwargs.length > 0) return stop(reader, "an argument without a name after one with a name");
    else args.push(value);
    if (!takesWord(reader, ",") && !isWord(reader, ")")) return stop(reader, misplaced(reader));
  }
  return { kind: "call", callee, args, kwargs };
}

function readAtom(reader: Reader): Expression | undefined {
  const token = peek(reader);
  switch (token.kind) {
    case "int":
      reader.next++;
      return { kind: "value", value: pyInt(token.value) };
    case "float":
      reader.next++;
      return { kind: "value", value: pyFloat(token.value) };
    case "string":
    case "bytes":
      return readStrings(reader, token.kind);
    case "name":
      return readName(reader, token.text);
    case "operator":
      return readBracket(reader);
    case "unread":
      return stop(reader, token.reason);
    default:
      return stop(reader, misplaced(reader));
  }
}

function readName(reader: Reader, text: string): Expression | undefined {
  if (text === "True" || text === "False" || text === "None") {
    reader.next++;
    return { kind: "value", value: text === "None" ? null : text === "True" };
  }
  const name = takesName(reader);
  return name === undefined ? stop(reader, `'${text}'`) : { kind: "name", name };
}

/** Literals side by side are one. */
function readStrings(reader: Reader, kind: "string" | "bytes"): Expression {
  let text = "";
  for (let token = peek(reader); token.kind === kind; token = peek(reader)) {
    text += token.value;
    reader.next++;
  }
  return { kind: "value", value: kind === "bytes" ? { bytes: text } : text };
}

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

function readBracket(reader: Reader): Expression | undefined {
  const open = ["(", "[", "{"].find((bracket) => takesWord(reader, bracket));
  if (open === undefined) return stop(reader, misplaced(reader));
  const close = CLOSING[open] as string;
  const items: Expression[] = [];
  const entries: (readonly [Expression, Expression])[] = [];
  let commas = 0;
  while (!takesWord(reader, close)) {
    const item = readExpression(reader);
    if (item === undefined) return undefined;
    if (open === "{" && takesWord(reader, ":")) {
      const value = readExpression(reader);
      if (value === undefined) return undefined;
      entries.push([item, value]);
    } else items.push(item);
    if (takesWord(reader, ",")) commas++;
    else if (!isWord(reader, close)) return stop(reader, misplaced(reader));
  }
  if (open === "[") return { kind: "list", items };
  if (open === "(") return items.length === 1 && commas === 0 ? items[0] : { kind: "tuple", items };
  if (entries.length > 0 && items.length > 0) return stop(reader, "a dict and a set in one");
  return items.length > 0 ? { kind: "set", items } : { kind: "dict", entries };
}

function misplaced(reader: Reader): string {
  const token = peek(reader);
  if (token.kind === "name" || token.kind === "operator") return `'${token.text}' where it is not read`;
  return token.kind === "unread" ? token.reason : `it ends or goes on where it is not read (${token.kind})`;
}
