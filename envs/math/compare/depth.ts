/** How far from 1 the numbers lie of which an expression is made: what is lost beside them at a precision. */
import { evaluate, type Place } from "../evaluate.ts";
import { exact, type Num, toBall } from "../numbers/arithmetic.ts";
import { magnitude } from "../numbers/ball.ts";
import { bitLength } from "../numbers/budget.ts";
import type { Rational } from "../numbers/rational.ts";
import { type Node, some } from "../syntax.ts";
import { BITS } from "./places.ts";
import { variablesOf } from "../variables.ts";

/** Whether both are so near to 0 that nothing is known of them. */
export function isTiny(a: Num, b: Num, place: Place): boolean {
  const limit = 2 ** (place.bits * 0.6);
  return [a, b].every((each) => {
    const value = toBall(each, place);
    return value !== undefined && magnitude(value) < limit;
  });
}

/**
 * How many binary digits its powers and decimals may lie above or below 1 together: 2^-2024 is 0 to whoever looks at 256 of
 * them, and so is 1 − 2^-2024 the same as 1.
 */
export function depthOf(node: Node, place: Place): number {
  let depth = 0;
  const add = (part: Node): boolean => {
    if (part.kind === "number") depth += Math.max(digitsOf(exact(part.value)), finenessOf(part.value));
    else if (part.kind === "power") depth += powerDepth(part, place);
    else if (part.kind === "call") depth += callDepth(part, place);
    else if (part.kind === "multiply" && variablesOf(part).size === 0) depth += valueDepth(part, place);
    return false;
  };
  some(node, add);
  return depth;
}

/** What numbers of everyday size take is no depth. */
const EVERYDAY_BITS = 40;

function digitsOf(value: Num): number {
  const bits = Math.abs(log2Of(value));
  return bits > EVERYDAY_BITS ? bits : 0;
}

/** 6.28… of fifty digits is 2π to whoever looks at as many. */
const FINE_BITS = 100;

function finenessOf({ den }: Rational): number {
  const bits = bitLength(den);
  return bits > FINE_BITS ? bits : 0;
}

/** Of factors that are small together. */
function valueDepth(node: Node, place: Place): number {
  const value = evaluate(node, place);
  return value === undefined ? 0 : digitsOf(value);
}

function powerDepth({ base, exponent }: Extract<Node, { kind: "power" }>, place: Place): number {
  const value = evaluate(base, place);
  return value === undefined ? 0 : exponentOf(exponent, place) * Math.abs(log2Of(value));
}

/** tanh(100) is 1 to 288 digits. */
function callDepth({ name, args }: Extract<Node, { kind: "call" }>, place: Place): number {
  if (name === "exp") return exponentOf(args[0], place) * Math.LOG2E;
  return ["sinh", "cosh", "tanh"].includes(name) ? 2 * exponentOf(args[0], place) * Math.LOG2E : 0;
}

/** Of an exponent that is a constant; else 0. */
function exponentOf(node: Node | undefined, place: Place): number {
  const value = node && evaluate(node, place);
  return value === undefined ? 0 : 2 ** log2Of(value);
}

/** Roughly; of what cannot be told from 0, as if it were 2 to the precision. */
function log2Of(value: Num): number {
  if (value.kind === "exact") {
    const { num, den } = value.value;
    return num === 0n ? 0 : logOf(num) - logOf(den);
  }
  const bits = logOf(value.ball.re === 0n ? value.ball.im : value.ball.re);
  return bits - BITS.constant;
}

function logOf(value: bigint): number {
  const size = value < 0n ? -value : value;
  const more = Math.max(0, bitLength(size) - 60);
  return size === 0n ? 0 : Math.log2(Number(size >> BigInt(more))) + more;
}
