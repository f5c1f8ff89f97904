/** Computes the exact value of an expression, and the work of computing it by hand. */
import { add, divide, equalsInteger, fromInteger, multiply, type Rational, subtract } from "../../lib/rational.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { digitsOf, productWork, sumWork } from "../work.ts";
import type { Binary, Expression } from "./expression.ts";

export interface Worked {
  readonly value: Rational;
  /** Estimated work to compute the value by hand, in steps on single digits (envs/math/work.ts). */
  readonly work: number;
}

/**
 * Returns the value of an expression, and the work to compute it by hand. Undefined means that a part of it has no
 * value, has too many digits, or is trivial. Trivial parts are 0, operations on ±1 other than + and −, and a gcd or lcm
 * of numbers of which one divides the other.
 */
export function workOut(expression: Expression, digitsMax: number): Worked | undefined {
  const worked = step(expression, digitsMax);
  if (worked === undefined || equalsInteger(worked.value, 0)) return undefined;
  return Math.max(digitsOf(worked.value.num), digitsOf(worked.value.den)) <= digitsMax ? worked : undefined;
}

function step(expression: Expression, digitsMax: number): Worked | undefined {
  switch (expression.kind) {
    case "integer":
      return { value: fromInteger(expression.value), work: 0 };
    case "fraction":
      return ratio(expression.num, expression.den);
    case "decimal":
      return ratio(expression.units, 10 ** expression.places);
    case "power":
      return raised(workOut(expression.base, digitsMax), expression.exponent, digitsMax);
    case "percentage":
      return combined("product", ratio(expression.percent, 100), workOut(expression.of, digitsMax));
    case "remainder":
      return remainder(expression.of, expression.modulus, digitsMax);
    default:
      return combined(expression.kind, workOut(expression.left, digitsMax), workOut(expression.right, digitsMax));
  }
}

function ratio(num: number, den: number): Worked | undefined {
  const value = divide(fromInteger(num), fromInteger(den));
  return value && { value, work: 0 };
}

function combined(kind: Binary, left: Worked | undefined, right: Worked | undefined): Worked | undefined {
  if (left === undefined || right === undefined) return undefined;
  const [a, b] = [left.value, right.value];
  const before = left.work + right.work;
  switch (kind) {
    case "sum":
      return { value: add(a, b), work: before + sumWork(a, b) };
    case "difference":
      return { value: subtract(a, b), work: before + sumWork(a, b) };
    case "product":
      if (isUnit(a) || isUnit(b)) return undefined;
      return { value: multiply(a, b), work: before + productWork(a, b) };
    case "quotient": {
      const value = divide(a, b);
      if (value === undefined || isUnit(a) || isUnit(b)) return undefined;
      return { value, work: before + productWork(a, { num: b.den, den: b.num }) };
    }
    case "gcd":
    case "lcm":
      return divisor(kind, a, b, before);
    default:
      return assertNever(kind);
  }
}

function isUnit(value: Rational): boolean {
  return equalsInteger(value, 1) || equalsInteger(value, -1);
}

function raised(base: Worked | undefined, exponent: number, digitsMax: number): Worked | undefined {
  if (base === undefined || isUnit(base.value)) return undefined;
  let { value, work } = base;
  for (let factor = 1; factor < exponent; factor++) {
    work += productWork(value, base.value);
    value = multiply(value, base.value);
    if (digitsOf(value.num) > digitsMax || digitsOf(value.den) > digitsMax) return undefined;
  }
  return { value, work };
}

/**
 * Returns the remainder of an expression for a modulus, from 0 to modulus − 1. A power is reduced by repeated squaring,
 * because its full value may be huge.
 */
function remainder(of: Expression, modulus: number, digitsMax: number): Worked | undefined {
  const isPower = of.kind === "power";
  const worked = workOut(isPower ? of.base : of, digitsMax);
  if (worked === undefined || worked.value.den !== 1 || isUnit(worked.value)) return undefined;
  const whole = BigInt(worked.value.num);
  const m = BigInt(modulus);
  if (!isPower && (whole < 0n ? -whole : whole) < m) return undefined;
  const rest = isPower ? powerModulo(whole, of.exponent, m) : ((whole % m) + m) % m;
  const division = digitsOf(worked.value.num) * digitsOf(modulus);
  const squarings = isPower ? 2 * Math.ceil(Math.log2(of.exponent)) * digitsOf(modulus) ** 2 : 0;
  return { value: fromInteger(Number(rest)), work: worked.work + division + squarings };
}

function powerModulo(base: bigint, exponent: number, modulus: bigint): bigint {
  let result = 1n;
  let square = ((base % modulus) + modulus) % modulus;
  for (let rest = exponent; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/**
 * Returns the gcd or lcm of two whole numbers, by Euclid's algorithm. `before` is the work on the operands. Returns
 * undefined if an operand is a fraction, if one operand divides the other (which would be trivial), or if the result is
 * too large.
 */
function divisor(kind: "gcd" | "lcm", a: Rational, b: Rational, before: number): Worked | undefined {
  if (a.den !== 1 || b.den !== 1) return undefined;
  const [first, second] = [magnitude(a.num), magnitude(b.num)];
  if (first % second === 0n || second % first === 0n) return undefined;
  let [larger, smaller] = first > second ? [first, second] : [second, first];
  let work = before;
  while (smaller !== 0n) {
    work += digitsOf(smaller);
    [larger, smaller] = [smaller, larger % smaller];
  }
  const value = kind === "gcd" ? larger : (first / larger) * second;
  work += kind === "gcd" ? 0 : 2 * digitsOf(first) * digitsOf(second);
  const number = Number(value);
  return Number.isSafeInteger(number) ? { value: fromInteger(number), work } : undefined;
}

function magnitude(integer: number | bigint): bigint {
  const whole = BigInt(integer);
  return whole < 0n ? -whole : whole;
}

/** Returns the value of a task's expression. Throws if there is none, because generated tasks always have a value. */
export function valueOf(expression: Expression): Rational {
  const worked = workOut(expression, Infinity);
  if (worked === undefined) throw new Error("bug: the expression of a task has no value");
  return worked.value;
}
