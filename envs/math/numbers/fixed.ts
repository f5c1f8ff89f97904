/**
 * Elementary functions of real numbers in fixed point: a bigint n stands for n / 2^precision. They compute with GUARD
 * extra bits, so each result is within one unit of the last place. A series stops when its terms become 0, so the step
 * count depends only on the precision.
 */

const GUARD = 48;

/** Cache of π by precision. */
const piAt = new Map<number, bigint>();
/** Cache of ln 2 by precision. */
const ln2At = new Map<number, bigint>();

function memo(known: Map<number, bigint>, precision: number, make: () => bigint): bigint {
  let value = known.get(precision);
  if (value === undefined) known.set(precision, (value = make()));
  return value;
}

/** Shifts a number right by `shift` bits and rounds to the nearest whole number. */
function rounded(value: bigint, shift: number): bigint {
  return (value + (1n << BigInt(shift - 1))) >> BigInt(shift);
}

/** Returns π by Machin's formula: 16 atan(1/5) − 4 atan(1/239). */
export function pi(precision: number): bigint {
  return memo(piAt, precision, () => {
    const p = precision + GUARD;
    return rounded(16n * atanInverse(5n, p) - 4n * atanInverse(239n, p), GUARD);
  });
}

function atanInverse(x: bigint, precision: number): bigint {
  let term = (1n << BigInt(precision)) / x;
  let sum = term;
  for (let k = 3n, sign = -1n; term !== 0n; k += 2n, sign = -sign) {
    term /= x * x;
    sum += (sign * term) / k;
  }
  return sum;
}

/** Returns ln 2 = 2 atanh(1/3). */
function ln2(precision: number): bigint {
  return memo(ln2At, precision, () => {
    const p = precision + GUARD;
    let term = (2n << BigInt(p)) / 3n;
    let sum = term;
    for (let k = 3n; term !== 0n; k += 2n) {
      term /= 9n;
      sum += term / k;
    }
    return rounded(sum, GUARD);
  });
}

const HALVINGS = 12;

/** Returns e^x. The caller must ensure that x is not large, because no budget bounds the work. */
export function exp(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  const bits = BigInt(p);
  const scaled = x << BigInt(GUARD);
  const log2 = ln2(p);
  const k = scaled / log2;
  const rest = (scaled - k * log2) >> BigInt(HALVINGS);
  let term = 1n << bits;
  let sum = term;
  for (let i = 1n; term !== 0n && term !== -1n; i++) {
    term = ((term * rest) >> bits) / i;
    sum += term;
  }
  for (let i = 0; i < HALVINGS; i++) sum = (sum * sum) >> bits;
  const shift = Number(k) - GUARD;
  return shift >= 0 ? sum << BigInt(shift) : rounded(sum, -shift);
}

/**
 * Returns ln x for x > 0, by Halley's method. It starts from the logarithm of a double, and each step triples the
 * correct digits.
 */
export function ln(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  // Splits x into mantissa · 2^exponent, with the mantissa near 1.
  const length = x.toString(2).length;
  const exponent = length - 1 - precision;
  const mantissa = length - 1 > p ? x >> BigInt(length - 1 - p) : x << BigInt(p - length + 1);
  let y = toFixed(Math.log(toNumber(mantissa, p)), p);
  for (let digits = 48; digits < p; digits *= 3) {
    const e = exp(y, p);
    y += (((mantissa - e) << BigInt(p)) * 2n) / (mantissa + e);
  }
  return rounded(y + BigInt(exponent) * ln2(p), GUARD);
}

/** Returns sin x and cos x for any x. */
export function sinCos(x: bigint, precision: number): readonly [sin: bigint, cos: bigint] {
  const p = precision + GUARD;
  const bits = BigInt(p);
  // Reducing a large x modulo 2π needs additional digits of π: as many as x has before the point.
  const extra = Math.max(0, x.toString(16).length * 4 - precision) + 8;
  const turn = 2n * pi(p + (extra > 32 ? Math.ceil(extra / 64) * 64 : 32));
  const wide = extra > 32 ? Math.ceil(extra / 64) * 64 : 32;
  const reduced = ((x << BigInt(GUARD + wide)) % turn) >> BigInt(wide);
  const rest = reduced >> BigInt(HALVINGS);
  let [re, im, term] = [1n << bits, 0n, 1n << bits];
  for (let i = 1; term !== 0n && term !== -1n; i++) {
    term = ((term * rest) >> bits) / BigInt(i);
    if (i % 4 === 1) im += term;
    else if (i % 4 === 2) re -= term;
    else if (i % 4 === 3) im -= term;
    else re += term;
  }
  for (let i = 0; i < HALVINGS; i++) [re, im] = [(re * re - im * im) >> bits, (2n * re * im) >> bits];
  return [rounded(im, GUARD), rounded(re, GUARD)];
}

/** Returns atan x: the arctangent in double precision, plus a short series for the remaining angle. */
export function atan(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  const bits = BigInt(p);
  const guess = toFixed(Math.atan(toNumber(x, precision)), p);
  const [sin, cos] = sinCos(guess, p);
  const scaled = x << BigInt(GUARD);
  const t = ((scaled * cos - (sin << bits)) << bits) / ((cos << bits) + scaled * sin);
  const square = (t * t) >> bits;
  let sum = t;
  let term = t;
  for (let k = 3n, sign = -1n; term !== 0n && term !== -1n; k += 2n, sign = -sign) {
    term = (term * square) >> bits;
    sum += (sign * term) / k;
  }
  return rounded(guess + sum, GUARD);
}

/** Returns the angle of (x, y), in (−π, π]. The point must not be (0, 0). */
export function atan2(y: bigint, x: bigint, precision: number): bigint {
  const unit = BigInt(precision);
  const half = pi(precision) / 2n;
  const [ax, ay] = [x < 0n ? -x : x, y < 0n ? -y : y];
  const acute = ax >= ay ? atan((ay << unit) / ax, precision) : half - atan((ax << unit) / ay, precision);
  const upper = x >= 0n ? acute : pi(precision) - acute;
  return y >= 0n ? upper : -upper;
}

/** Returns the whole part of the square root of n ≥ 0. */
export function sqrtWhole(n: bigint): bigint {
  if (n < 1n) return 0n;
  const bits = n.toString(16).length * 4;
  const shift = Math.max(0, bits - 100);
  const even = BigInt(shift + (shift % 2));
  // The first guess is slightly above the root, so that Newton's method only decreases.
  let guess = (BigInt(Math.ceil(Math.sqrt(Number(n >> even)) * (1 + 2 ** -50))) + 1n) << (even / 2n);
  for (;;) {
    const next = (guess + n / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

export function toNumber(value: bigint, precision: number): number {
  const size = value.toString(16).length * 4;
  if (size < 900)
    return Number(value) * 2 ** -Math.min(precision, 1000) * (precision > 1000 ? 2 ** (1000 - precision) : 1);
  const shift = size - 200;
  return Number(value >> BigInt(shift)) * 2 ** (shift - precision);
}

export function toFixed(value: number, precision: number): bigint {
  const exponent = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)));
  const mantissa = BigInt(Math.round(value * 2 ** (52 - exponent)));
  const shift = exponent - 52 + precision;
  return shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
}
