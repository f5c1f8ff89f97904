/** Evaluates functions by name. Exact results stay exact; other results are approximations with an error bound. */
import { rngFor } from "../../lib/rng.ts";
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
  order,
  power,
  root,
  signOf,
  toBall,
  wholeNum,
} from "./arithmetic.ts";
import { angleOf, type Ball, expBall, isReal, lnBall, piBall, sinCosBall, sqrtBall } from "./ball.ts";
import { spend } from "./budget.ts";
import { arrangements, binom, factorial, factorial2, type Fn, type Setting } from "./counting.ts";
import { isOperator } from "../read/names.ts";
import { absolute, floor, gcd } from "./rational.ts";

/**
 * Returns the value of a function. Returns undefined for an unknown function, or if the function has no value at these
 * arguments.
 */
export function call(name: string, args: readonly Num[], setting: Setting): Maybe<Num> {
  // Names such as f, g, f' and f_1 stand for arbitrary functions.
  const fn = FUNCTIONS[name] ?? (/^[fg](?:['_⁻]|$)/u.test(name) || isOperator(name) ? unknown(name) : undefined);
  return args.length === 0 ? undefined : fn?.(args, setting);
}

/** Turns a function of approximations (balls) into a function of exact numbers and approximations. */
function ofBall(fn: (a: Ball, setting: Setting) => Maybe<Ball>): Fn {
  return ([a], setting) => {
    const value = a && toBall(a, setting);
    return value && ball(fn(value, setting));
  };
}

const ONE = wholeNum(1n);

function quotient(top: "sin" | "cos" | "one", bottom: "sin" | "cos"): Fn {
  return ([a], setting) => {
    const value = a && toBall(a, setting);
    const found = value && sinCosBall(value, setting);
    if (found === undefined) return undefined;
    const parts = { sin: found[0], cos: found[1] };
    const upper: Num = top === "one" ? ONE : { kind: "ball", ball: parts[top] };
    return divide(upper, { kind: "ball", ball: parts[bottom] }, setting);
  };
}

const ln: Fn = ([a], setting) => {
  if (a === undefined || (setting.real && signOf(a) !== 1)) return undefined;
  if (a.kind === "exact" && a.value.num === a.value.den) return wholeNum(0n);
  return ofBall(lnBall)([a], setting);
};

const exp: Fn = ([a], setting) =>
  a?.kind === "exact" && a.value.num === 0n ? ONE : ofBall(expBall)([a as Num], setting);

function logarithm([a, base]: readonly Num[], setting: Setting): Maybe<Num> {
  const [top, bottom] = [a && ln([a], setting), base && ln([base], setting)];
  return top && bottom && divide(top, bottom, setting);
}

/** Returns the angle of the point (x, y), whose coordinates must be real. */
function angle(y: Maybe<Num>, x: Maybe<Num>, setting: Setting): Maybe<Num> {
  const [up, right] = [y && toBall(y, setting), x && toBall(x, setting)];
  if (up === undefined || right === undefined || !isReal(up) || !isReal(right)) return undefined;
  if (up.re === 0n && up.error === 0) return right.re > 0n ? wholeNum(0n) : ball(piBall(setting));
  return ball(angleOf({ re: right.re, im: up.re, error: up.error + right.error }, setting));
}

/** Returns √(1 − a²) for a from −1 to 1. */
function cathetus(a: Num, setting: Setting): Maybe<Num> {
  const square = multiply(a, a, setting);
  const rest = square && add(ONE, negate(square), setting);
  return rest && signOf(rest) !== -1 ? root(rest, 2n, true, setting) : undefined;
}

/** Returns the function (e^a + sign · e^−a) / 2: cosh for sign 1, sinh for sign −1. */
function hyperbolic(sign: 1 | -1): Fn {
  return ([a], setting) => {
    const [up, down] = [a && exp([a], setting), a && exp([negate(a)], setting)];
    const sum = up && down && add(up, sign > 0 ? down : negate(down), setting);
    return sum && divide(sum, wholeNum(2n), setting);
  };
}

function ratioOf(top: Fn, bottom: Fn): Fn {
  return (args, setting) => {
    const [upper, lower] = [top(args, setting), bottom(args, setting)];
    return upper && lower && divide(upper, lower, setting);
  };
}

const abs: Fn = ([a], setting) => {
  if (a === undefined) return undefined;
  if (a.kind === "exact") return exact(absolute(a.value));
  if (isReal(a.ball)) return a.ball.re < 0n ? negate(a) : a;
  const { re, im, error } = a.ball;
  const [x, y]: readonly Num[] = [re, im].map((part): Num => ({ kind: "ball", ball: { re: part, im: 0n, error } }));
  const [xx, yy] = [multiply(x as Num, x as Num, setting), multiply(y as Num, y as Num, setting)];
  const square = xx && yy && add(xx, yy, setting);
  const value = square && toBall(square, setting);
  return value && ball(sqrtBall(value, setting));
};

/** Returns the largest whole number not above a. Undefined if the error leaves several candidates. */
function wholeBelow(a: Maybe<Num>, setting: Setting): Maybe<bigint> {
  if (a === undefined) return undefined;
  if (a.kind === "exact") return floor(a.value);
  const { re, error } = a.ball;
  if (!isReal(a.ball)) return undefined;
  const margin = BigInt(Math.ceil(Math.min(error, 2 ** 900))) + 1n;
  const [low, high] = [(re - margin) >> BigInt(setting.bits), (re + margin) >> BigInt(setting.bits)];
  return low === high ? low : undefined;
}

function wholeOf(value: Maybe<bigint>): Maybe<Num> {
  return value === undefined ? undefined : wholeNum(value);
}

/**
 * Returns a function that combines all its arguments from left to right with `combine`. The arguments must be whole
 * numbers; for others, the function returns undefined.
 */
function folded(combine: (a: bigint, b: bigint) => bigint): Fn {
  return (args, setting) => {
    const numbers = args.map(asWhole);
    if (numbers.some((each) => each === undefined) || !spend(setting.budget, args.length * 10)) return undefined;
    if (numbers.some((each) => BigInt.asIntN(2048, each as bigint) !== each)) return undefined;
    return wholeNum((numbers as bigint[]).reduce(combine));
  };
}

function extreme(wanted: "less" | "greater"): Fn {
  return (args, setting) => {
    let best = args[0] as Num;
    for (const each of args.slice(1)) {
      const found = order(each, best, setting);
      if (found === "apart" || found === "unclear") return undefined;
      if (found === wanted) best = each;
    }
    return best;
  };
}

/**
 * Returns a function that stands in for an unknown one, such as f. Equal arguments give equal values; different
 * arguments give pseudo-random values.
 */
function unknown(name: string): Fn {
  return (args, { bits, budget }) => {
    if (!spend(budget, 10)) return undefined;
    const drop = BigInt(bits - 60);
    const half = 1n << (drop - 1n);
    const precision = { bits, budget };
    const places = args.map((each) => {
      const value = toBall(each, precision);
      return value === undefined ? "?" : `${(value.re + half) >> drop} ${(value.im + half) >> drop}`;
    });
    if (places.includes("?")) return undefined;
    const rng = rngFor("math-function", name, ...places);
    return exact({ num: BigInt(rng.int(1, 2 ** 30)), den: 2n ** 28n });
  };
}

const FUNCTIONS: Readonly<Record<string, Fn>> = {
  sin: ofBall((a, setting) => sinCosBall(a, setting)?.[0]),
  cos: ofBall((a, setting) => sinCosBall(a, setting)?.[1]),
  tan: quotient("sin", "cos"),
  cot: quotient("cos", "sin"),
  sec: quotient("one", "cos"),
  csc: quotient("one", "sin"),
  arcsin: ([a], setting) => a && angle(a, cathetus(a, setting), setting),
  arccos: ([a], setting) => a && angle(cathetus(a, setting), a, setting),
  arctan: ([a], setting) => angle(a, ONE, setting),
  arccot: ([a], setting) => angle(ONE, a, setting),
  sinh: hyperbolic(-1),
  cosh: hyperbolic(1),
  tanh: ratioOf(hyperbolic(-1), hyperbolic(1)),
  exp,
  ln,
  log: (args, setting) =>
    setting.logarithm === "e" ? ln(args, setting) : logarithm([args[0] as Num, wholeNum(10n)], setting),
  log10: (args, setting) => logarithm([args[0] as Num, wholeNum(10n)], setting),
  logbase: logarithm,
  sqrt: ([a], setting) => a && root(a, 2n, setting.real, setting),
  root: ([a, degree], setting) => {
    const n = degree && asWhole(degree);
    if (a === undefined || degree === undefined) return undefined;
    if (n !== undefined) return root(a, n, setting.real, setting);
    const inverse = divide(ONE, degree, setting);
    return inverse && power(a, inverse, setting.real, setting);
  },
  abs,
  floor: ([a], setting) => wholeOf(wholeBelow(a, setting)),
  ceil: ([a], setting) => {
    const below = a && wholeBelow(negate(a), setting);
    return below === undefined ? undefined : wholeNum(-below);
  },
  sgn: ([a]) => {
    const sign = a && signOf(a);
    return sign === undefined ? undefined : wholeNum(BigInt(sign));
  },
  factorial,
  factorial2,
  binom,
  arrangements,
  integral: unknown("integral"),
  gcd: folded(gcd),
  lcm: folded((a, b) => (a === 0n || b === 0n ? 0n : (a / gcd(a, b)) * b)),
  mod: folded((a, b) => (b === 0n ? a : ((a % b) + b) % b)),
  max: extreme("greater"),
  min: extreme("less"),
};
