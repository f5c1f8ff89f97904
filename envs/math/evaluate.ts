/** Evaluates an expression after its variables are replaced by numbers. Used to compare two answers. */
import { piBall, type Precision } from "./numbers/ball.ts";
import { spend } from "./numbers/budget.ts";
import {
  add,
  asWhole,
  ball,
  divide,
  exact,
  type Maybe,
  multiply,
  negate,
  type Num,
  power,
  wholeNum,
} from "./numbers/arithmetic.ts";
import { call } from "./numbers/functions.ts";
import type { Node } from "./syntax.ts";

/** Values of the variables, and conventions for evaluating an expression. */
export interface Scope extends Precision {
  readonly variables: ReadonlyMap<string, Num>;
  /** Whether only real numbers count as values. If false, a value may be complex. */
  readonly real: boolean;
  /** The base of "log" when none is written. */
  readonly logarithm: "e" | "10";
  /** The sign that each ± stands for. Each ∓ stands for the opposite sign. */
  readonly sign: 1 | -1;
}

const SERIES_MAX = 20_000n;

/**
 * Returns the value of an expression. Returns undefined if the expression has no value, or if computing it exceeds the
 * step budget or the limits on digits and magnitude.
 */
export function evaluate(node: Node, scope: Scope): Maybe<Num> {
  if (!spend(scope.budget, 1)) return undefined;
  switch (node.kind) {
    case "number":
      return exact(node.value);
    case "symbol":
      return constant(node.name, scope);
    case "add":
      return fold(node.terms, wholeNum(0n), (sum, { sign, node: term }) => {
        const value = evaluate(term, scope);
        const isNegative = sign === "-" || (sign === "±" ? scope.sign < 0 : sign === "∓" && scope.sign > 0);
        return value && add(sum, isNegative ? negate(value) : value, scope);
      });
    case "multiply":
      return fold(node.factors, wholeNum(1n), (product, factor) => {
        const value = evaluate(factor.node, scope);
        return value && (factor.inverse ? divide : multiply)(product, value, scope);
      });
    case "power":
      return raised(node, scope);
    case "call": {
      const args: Num[] = [];
      for (const argument of node.args) {
        const value = evaluate(argument, scope);
        if (value === undefined) return undefined;
        args.push(value);
      }
      return call(node.name, args, scope);
    }
    case "series":
      return series(node, scope);
    case "unit":
      return measured(node, scope);
    case "ratio": {
      if (node.parts.length !== 2) return undefined;
      const [left, right] = node.parts.map((part) => evaluate(part, scope));
      return left && right && divide(left, right, scope);
    }
    case "bracket":
      return node.items.length === 1 ? evaluate(node.items[0] as Node, scope) : undefined;
    default:
      return undefined;
  }
}

function fold<T>(items: readonly T[], start: Num, step: (value: Num, item: T) => Maybe<Num>): Maybe<Num> {
  let value: Maybe<Num> = start;
  for (const item of items) {
    value = step(value, item);
    if (value === undefined) return undefined;
  }
  return value;
}

function constant(name: string, scope: Scope): Maybe<Num> {
  // The index of a sum may be called "i", so the given variables take precedence over constants.
  const value = scope.variables.get(name);
  if (value !== undefined) return value;
  if (name === "π") return ball(piBall(scope));
  if (name === "e") return call("exp", [wholeNum(1n)], scope);
  if (name === "i") return scope.real ? undefined : ball({ re: 0n, im: 1n << BigInt(scope.bits), error: 0 });
  return undefined;
}

function raised({ base, exponent }: Extract<Node, { kind: "power" }>, scope: Scope): Maybe<Num> {
  const to = evaluate(exponent, scope);
  if (to === undefined) return undefined;
  if (base.kind === "symbol" && base.name === "e") return call("exp", [to], scope);
  const from = evaluate(base, scope);
  return from && power(from, to, scope.real, scope);
}

/**
 * Returns the value of a number with a unit. Percent and degrees are converted to plain numbers; a number with any
 * other unit, e.g. cm, has no value.
 */
function measured({ node, unit }: Extract<Node, { kind: "unit" }>, scope: Scope): Maybe<Num> {
  const value = evaluate(node, scope);
  if (value === undefined) return undefined;
  if (unit === "%") return divide(value, wholeNum(100n), scope);
  if (unit !== "°") return undefined;
  const turned = divide(value, wholeNum(180n), scope);
  const half = ball(piBall(scope));
  return turned && half && multiply(turned, half, scope);
}

function series(node: Extract<Node, { kind: "series" }>, scope: Scope): Maybe<Num> {
  const [from, to] = [evaluate(node.from, scope), evaluate(node.to, scope)];
  const first = from && asWhole(from);
  const last = to && asWhole(to);
  if (first === undefined || last === undefined || last - first > SERIES_MAX) return undefined;
  // An empty sum is 0 and an empty product is 1. A series has no value if its last index is lower than its first index
  // minus 1.
  if (last < first - 1n) return undefined;
  const combine = node.name === "sum" ? add : multiply;
  let value: Maybe<Num> = wholeNum(node.name === "sum" ? 0n : 1n);
  const variables = new Map(scope.variables);
  for (let k = first; k <= last && value !== undefined; k++) {
    variables.set(node.index, wholeNum(k));
    const term = evaluate(node.body, { ...scope, variables });
    value = term && combine(value, term, scope);
  }
  return value;
}
