/** Arithmetic expressions as trees: building, evaluating exactly, writing. */
import { assertNever } from "../lib/assert-never.ts";
import { type Rational, add, divide, fromInteger, multiply, subtract } from "./rational.ts";

export type Operator = "+" | "-" | "*" | "/";

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** What a model answers: an expression, and the value that it claims if it wrote an equation ("… = 24"). */
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

/** Its numbers, in the order they are written. */
export function operands(expression: Expression): readonly number[] {
  const found: number[] = [];
  collect(expression, found);
  return found;
}

function collect(expression: Expression, found: number[]): void {
  if (expression.kind === "number") {
    found.push(expression.value);
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
